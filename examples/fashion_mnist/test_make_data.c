/* SPDX-License-Identifier: MIT */
/*
 * Writes a small data set that is easily learned, whole or with one fault, for the tests:
 * make_data FOLDER [FAULT], the folder being there and the fault one of those in main().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TRAIN = 300, TEST = 100, SIDE = 28, PATH_BYTES = 4096, FILE_BYTES = 1 << 20 };

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "make_data: %s failed\n", what);
        exit(2);
    }
}

static void put_u32(gzFile f, uint32_t v)
{
    const uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
    require(gzwrite(f, b, sizeof b) == sizeof b, "gzwrite");
}

static gzFile create(const char *folder, const char *name, uint32_t magic, uint32_t n)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile f = gzopen(path, "wb");
    require(f != NULL, "gzopen");
    put_u32(f, magic);
    put_u32(f, n);
    return f;
}

/* Image i shows its label, i % 10, as a bright stripe of two rows. */
static void write_images(const char *folder, const char *name, uint32_t magic, uint32_t announced,
                         uint32_t n, uint32_t side)
{
    gzFile f = create(folder, name, magic, announced);
    put_u32(f, side);
    put_u32(f, SIDE);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < side; row++) {
            uint8_t pixels[SIDE];
            memset(pixels, row / 2 == i % 10 ? 200 + (int)(i % 50) : (int)(i * row % 40), SIDE);
            require(gzwrite(f, pixels, SIDE) == SIDE, "gzwrite");
        }
    require(gzclose(f) == Z_OK, "gzclose");
}

static void write_labels(const char *folder, const char *name, uint32_t magic, uint32_t n,
                         uint32_t classes)
{
    gzFile f = create(folder, name, magic, n);
    for (uint32_t i = 0; i < n; i++)
        require(gzputc(f, (int)(i % classes)) >= 0, "gzputc");
    require(gzclose(f) == Z_OK, "gzclose");
}

/* Rewrites a file's compressed bytes: `keep` in a thousand of them, the byte at `flip` in a
   thousand changed. */
static void damage(const char *folder, const char *name, size_t keep, size_t flip)
{
    static uint8_t bytes[FILE_BYTES];
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    require(f != NULL, "fopen");
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    bytes[n * flip / 1000] ^= flip ? 0x55 : 0;
    f = fopen(path, "wb");
    require(f != NULL && fwrite(bytes, 1, n * keep / 1000, f) == n * keep / 1000, "fwrite");
    require(fclose(f) == 0, "fclose");
}

int main(int argc, char **argv)
{
    static const char train_images[] = "train-images-idx3-ubyte.gz";
    static const char test_labels[] = "t10k-labels-idx1-ubyte.gz";
    if (argc < 2)
        return 2;
    const char *const folder = argv[1], *const fault = argc > 2 ? argv[2] : "none";
#define FAULT(name) (strcmp(fault, name) == 0)

    uint32_t announced = TRAIN;
    if (FAULT("empty"))
        announced = 0;
    if (FAULT("vast"))
        announced = UINT32_MAX;
    write_images(folder, train_images, FAULT("magic") ? 0x801 : 0x803, announced,
                 TRAIN + (FAULT("long") ? 1u : 0u) - (FAULT("short") ? 1u : 0u),
                 FAULT("dims") ? SIDE + 4 : SIDE);
    write_labels(folder, "train-labels-idx1-ubyte.gz", 0x801, TRAIN + (FAULT("count") ? 1u : 0u),
                 10);
    write_images(folder, "t10k-images-idx3-ubyte.gz", 0x803, TEST, TEST, SIDE);
    write_labels(folder, test_labels, 0x801, TEST, FAULT("label") ? 11 : 10);

    if (FAULT("truncated"))
        damage(folder, train_images, 500, 0);
    if (FAULT("header"))
        damage(folder, test_labels, 0, 0);
    if (FAULT("corrupt"))
        damage(folder, train_images, 1000, 500);
    if (FAULT("checksum")) /* in the last eight bytes */
        damage(folder, test_labels, 1000, 950);
    return 0;
}

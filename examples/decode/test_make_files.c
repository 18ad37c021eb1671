/* SPDX-License-Identifier: MIT */
/*
 * Writes model.bin and tokenizer.bin into a folder:
 *
 *     decode_make_files FOLDER [FAULT VALUE]
 *
 * with one of the faults below, if it is asked for.
 */
#include "test_make.h"

#include "model_file.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct config config_of(const char *fault, int64_t value)
{
    struct config c = {
        .dim = 16,
        .hidden = 24,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .vocab = make_vocab(),
        .context = 160,
        .own_output = true,
    };
    if (strcmp(fault, "vocab") == 0)
        c.vocab = value;
    if (strcmp(fault, "context") == 0)
        c.context = value;
    return c;
}

/* Puts a little-endian number over four bytes at `at`. */
static pol_status overwrite(const char *path, long at, int64_t value)
{
    FILE *const file = fopen(path, "r+b");
    if (!file)
        return pol_fail(POL_EUSER, "cannot open: %s", path);
    bool written = fseek(file, at, SEEK_SET) == 0;
    for (int i = 0; i < 4; i++)
        written = fputc((int)((uint64_t)value >> 8 * i & 0xff), file) != EOF && written;
    return fclose(file) == 0 && written ? POL_OK : pol_fail(POL_EUSER, "cannot write: %s", path);
}

/* Leaves the first `nbytes` bytes, or all and `-nbytes` more. */
static pol_status resize(const char *path, int64_t nbytes)
{
    struct mapped_file f;
    pol_status status = POL_OK;
    POL_TRY(mapped_file_open(&f, path));
    POL_SCRATCHSPACE(frame, pol_heap()) {
        const size_t size = nbytes < 0 ? f.nbytes + (size_t)-nbytes : (size_t)nbytes;
        char *const bytes = pol_new(frame, char, size + 1);
        memset(bytes, 0, size + 1);
        memcpy(bytes, f.data, size < f.nbytes ? size : f.nbytes);
        mapped_file_close(&f);
        status = make_file(path, bytes, size);
    }
    return status;
}

static const struct {
    const char *name;
    bool of_model;
    long at; /* -1: of the size */
} FAULTS[] = {
    {"dim", true, 0},         {"hidden", true, 4},           {"layers", true, 8},
    {"heads", true, 12},      {"kv_heads", true, 16},        {"model_vocab", true, 20},
    {"model_size", true, -1}, {"tokenizer_size", false, -1}, {"longest", false, 0},
    {"score", false, 4},      {"length", false, 8},          {"weight", true, 28 + 16 * 4},
};

static pol_status spoil(const char *model, const char *tokenizer, const char *fault, int64_t value)
{
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        const char *const path = FAULTS[i].of_model ? model : tokenizer;
        if (strcmp(fault, FAULTS[i].name) == 0)
            return FAULTS[i].at < 0 ? resize(path, value) : overwrite(path, FAULTS[i].at, value);
    }
    return POL_OK;
}

static pol_status run(const char *folder, const char *fault, int64_t value)
{
    char model[1024], tokenizer[1024];
    const struct config c = config_of(fault, value);
    (void)snprintf(model, sizeof model, "%s/model.bin", folder);
    (void)snprintf(tokenizer, sizeof tokenizer, "%s/tokenizer.bin", folder);
    POL_TRY(make_model(model, &c, 7));
    POL_TRY(make_tokenizer(tokenizer, strcmp(fault, "tokens") == 0 ? value : make_vocab()));
    return spoil(model, tokenizer, fault, value);
}

int main(int argc, char **argv)
{
    if (argc == 2 || argc == 4)
        if (run(argv[1], argc == 4 ? argv[2] : "", argc == 4 ? atoll(argv[3]) : 0) == POL_OK)
            return 0;
    fprintf(stderr, "decode_make_files: %s\n", pol_last_error());
    return 1;
}

/* SPDX-License-Identifier: MIT */
#include "idx.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* zlib is rarely built for MemorySanitizer, which then cannot see that it writes. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WRITTEN_BY_ZLIB(bytes, n) __msan_unpoison((bytes), (n))
#endif
#endif
#ifndef WRITTEN_BY_ZLIB
#define WRITTEN_BY_ZLIB(bytes, n) ((void)0)
#endif

enum { MAX_PATH_BYTES = 4096, TYPE_U8 = 0x08, MAX_READ = 1 << 30 };

/* The folder comes last: it may be long, and a message that is cut must not lose its reason. */
static pol_status bad_file(const struct idx *f, const char *reason)
{
    return pol_fail(POL_EUSER, "%s %s, in %s", f->name, reason, f->folder);
}

static pol_status read_failed(const struct idx *f, int got)
{
    int code = Z_OK;
    (void)gzerror(f->file, &code);
    if (got < 0 && code == Z_ERRNO)
        return bad_file(f, strerror(errno));
    if (got < 0 && code != Z_BUF_ERROR)
        return bad_file(f, "is damaged: it does not decompress");
    return bad_file(f, "is truncated");
}

static pol_status read_bytes(struct idx *f, uint8_t *to, size_t n)
{
    while (n > 0) {
        const unsigned want = n < MAX_READ ? (unsigned)n : MAX_READ;
        const int got = gzread(f->file, to, want);
        if (got <= 0)
            return read_failed(f, got);
        WRITTEN_BY_ZLIB(to, (size_t)got);
        to += got;
        n -= (size_t)got;
    }
    return POL_OK;
}

static pol_status read_u32(struct idx *f, uint32_t *value)
{
    uint8_t b[4];
    POL_TRY(read_bytes(f, b, sizeof b));
    *value = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
    return POL_OK;
}

static pol_status read_header(struct idx *f, unsigned ndim)
{
    const uint32_t wanted = (uint32_t)TYPE_U8 << 8 | ndim;
    uint32_t magic;
    POL_TRY(read_u32(f, &magic));
    if (magic != wanted)
        return pol_fail(POL_EUSER, "%s has the magic number 0x%08x where 0x%08x was wanted, in %s",
                        f->name, (unsigned)magic, (unsigned)wanted, f->folder);
    f->shape = pol_undef_scalar(POL_U8);
    for (unsigned d = 0; d < ndim; d++) {
        uint32_t dim;
        POL_TRY(read_u32(f, &dim));
        f->shape.dims[d] = dim;
    }
    f->shape.ndim = (uint16_t)ndim;
    return POL_OK;
}

pol_status idx_open(struct idx *f, const char *folder, const char *name, unsigned ndim)
{
    char path[MAX_PATH_BYTES];
    *f = (struct idx){.folder = folder, .name = name};
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= MAX_PATH_BYTES)
        return bad_file(f, "has too long a path");
    errno = 0;
    f->file = gzopen(path, "rb");
    if (!f->file)
        return pol_fail(POL_EUSER,
                        "cannot open %s (%s): install Debian's package dataset-fashion-mnist, or "
                        "say where it is with --data; looked in %s",
                        name, strerror(errno ? errno : ENOMEM), folder);
    return read_header(f, ndim);
}

pol_status idx_read(struct idx *f, const pol_array *into)
{
    size_t nbytes;
    POL_TRY(pol_nbytes(into, &nbytes));
    POL_TRY(read_bytes(f, pol_data(into, uint8_t), nbytes));

    /* One byte more: there must be none, and only at the end does zlib compare the checksum. */
    uint8_t beyond;
    const int got = gzread(f->file, &beyond, 1);
    if (got > 0)
        return bad_file(f, "is longer than its header says");
    int code = Z_OK;
    (void)gzerror(f->file, &code);
    return got < 0 || code != Z_OK ? read_failed(f, got) : POL_OK;
}

void idx_close(struct idx *f)
{
    if (f->file)
        (void)gzclose(f->file);
    f->file = NULL;
}

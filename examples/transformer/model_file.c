/* SPDX-License-Identifier: MIT */
/*
 * A file is read by mapping it: the weights are used where they lie. The same descriptions that
 * size a trainer's parameters say where each array is: materialized over the file, one after the
 * other, by an arena of 4-byte alignment.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* open, mmap */
#endif
#include "model_file.h"

#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_INTS = 7, HEADER_NBYTES = 4 * HEADER_INTS, FILE_ALIGNMENT = 4 };

/* Floats are used as they lie in the file, so the machine must write them as the file does. */
static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Names come last in a message: a long one must not cut off the reason. */
static pol_status cannot(const char *what, const char *path)
{
    return pol_fail(POL_EUSER, "cannot %s (%s): %s", what, strerror(errno ? errno : EIO), path);
}

/* Mapped files */

static pol_status map(struct mapped_file *f, int file, const char *path)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return cannot("read", path);
    if (!S_ISREG(status.st_mode))
        return pol_fail(POL_EUSER, "not a regular file: %s", path);
    if ((uintmax_t)status.st_size > PTRDIFF_MAX)
        return pol_fail(POL_EUSER, "too large to be mapped: %s", path);
    if (status.st_size == 0)
        return POL_OK;
    void *const data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        return cannot("map", path);
    f->data = data;
    f->nbytes = (size_t)status.st_size;
    return POL_OK;
}

pol_status mapped_file_open(struct mapped_file *f, const char *path)
{
    *f = (struct mapped_file){0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return cannot("open", path);
    const pol_status status = map(f, file, path);
    (void)close(file); /* the mapping stays */
    return status;
}

void mapped_file_close(struct mapped_file *f)
{
    if (f->data)
        (void)munmap((void *)(uintptr_t)f->data, f->nbytes); /* takes no pointer to const */
    *f = (struct mapped_file){0};
}

/* Reading */

static int64_t read_i32(const uint8_t *bytes)
{
    const uint32_t u = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                       (uint32_t)bytes[3] << 24;
    return u <= INT32_MAX ? (int64_t)u : (int64_t)u - ((int64_t)UINT32_MAX + 1);
}

static struct config config_read(const uint8_t header[HEADER_NBYTES])
{
    const int64_t vocab = read_i32(header + 20);
    return (struct config){
        .dim = read_i32(header),
        .hidden = read_i32(header + 4),
        .layers = read_i32(header + 8),
        .heads = read_i32(header + 12),
        .kv_heads = read_i32(header + 16),
        .vocab = vocab < 0 ? -vocab : vocab,
        .context = read_i32(header + 24),
        .own_output = vocab < 0,
    };
}

/* What the file of such a model takes; no memory is asked for. */
static pol_status file_nbytes(const struct config *c, size_t *nbytes)
{
    struct weights w;
    pol_arena measure;
    POL_TRY(pol_arena_measure(&measure, FILE_ALIGNMENT));
    POL_TRY(pol_alloc(&measure, &w, weights_undef(c, true)));
    *nbytes = HEADER_NBYTES + pol_watermark(&measure);
    return POL_OK;
}

static pol_status check_nbytes(const struct mapped_file *f, size_t needed, const char *path)
{
    if (f->nbytes < needed)
        return pol_fail(POL_EUSER, "a model of %zu bytes is truncated to %zu: %s", needed,
                        f->nbytes, path);
    if (f->nbytes > needed)
        return pol_fail(POL_EUSER, "a model of %zu bytes is followed by %zu bytes too many: %s",
                        needed, f->nbytes - needed, path);
    return POL_OK;
}

/* The status stays; the text, which speaks of the model, gets the file's name. */
static pol_status blame(pol_status status, const char *path)
{
    return pol_fail(status == POL_EINVAL || status == POL_EOVERFLOW ? POL_EUSER : status,
                    "not a model: %.160s: %s", pol_last_error(), path);
}

static pol_status read_model(struct model_file *m, const char *path)
{
    const uint8_t *const bytes = (const uint8_t *)m->file.data;
    size_t needed = HEADER_NBYTES;
    if (m->file.nbytes < needed)
        return check_nbytes(&m->file, needed, path);
    m->config = config_read(bytes);
    pol_status status = config_check(&m->config);
    if (status == POL_OK)
        status = file_nbytes(&m->config, &needed);
    if (status != POL_OK)
        return blame(status, path);
    POL_TRY(check_nbytes(&m->file, needed, path));

    pol_arena over;
    void *const base = (void *)(uintptr_t)(bytes + HEADER_NBYTES); /* an arena never writes to it */
    POL_TRY(pol_arena_init(&over, base, needed - HEADER_NBYTES, FILE_ALIGNMENT));
    POL_TRY(pol_alloc(&over, &m->weights, weights_undef(&m->config, true)));
    return pol_arena_close(&over);
}

pol_status model_file_open(struct model_file *m, const char *path)
{
    *m = (struct model_file){.file = {.data = NULL}};
    if (!is_little_endian())
        return pol_fail(POL_ENOTSUP, "models are read on little-endian machines alone: %s", path);
    POL_TRY(mapped_file_open(&m->file, path));
    const pol_status status = read_model(m, path);
    if (status != POL_OK)
        model_file_close(m);
    return status;
}

void model_file_close(struct model_file *m)
{
    mapped_file_close(&m->file);
    *m = (struct model_file){.file = {.data = NULL}};
}

/* Writing */

static void config_write(uint8_t header[HEADER_NBYTES], const struct config *c)
{
    const int64_t ints[HEADER_INTS] = {
        c->dim,     c->hidden,   c->layers,
        c->heads,   c->kv_heads, c->own_output ? -c->vocab : c->vocab,
        c->context,
    };
    for (size_t i = 0; i < HEADER_NBYTES; i++)
        header[i] = (uint8_t)((uint64_t)ints[i / 4] >> 8 * (i % 4));
}

static bool write_all(int file, const void *data, size_t nbytes)
{
    const char *bytes = (const char *)data;
    while (nbytes > 0) {
        const ssize_t written = write(file, bytes, nbytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        nbytes -= (size_t)written;
    }
    return true;
}

static bool write_zeros(int file, size_t nbytes)
{
    static const char zeros[4096] = {0};
    for (; nbytes > sizeof zeros; nbytes -= sizeof zeros)
        if (!write_all(file, zeros, sizeof zeros))
            return false;
    return write_all(file, zeros, nbytes);
}

static bool write_array(int file, const pol_array *a, const pol_array *wanted)
{
    size_t nbytes = 0;
    if (pol_nbytes(wanted, &nbytes) != POL_OK)
        return false;
    return pol_is_array(a) ? write_all(file, a->data, nbytes) : write_zeros(file, nbytes);
}

static bool write_model(int file, const struct config *c, const struct weights *w)
{
    const struct weights wanted = weights_undef(c, true);
    uint8_t header[HEADER_NBYTES];
    config_write(header, c);
    bool written = write_all(file, header, sizeof header);
    for (size_t i = 0; written && i < pol_count_arrays(w); i++)
        written = write_array(file, &pol_arrays(w)[i], &pol_arrays(&wanted)[i]);
    return written;
}

/* All that a trainer has must be there; the unused tables alone may be absent. */
static pol_status check_weights(const struct config *c, const struct weights *w)
{
    const struct weights wanted = weights_undef(c, false);
    for (size_t i = 0; i < pol_count_arrays(w); i++) {
        const pol_array *const b = &pol_arrays(&wanted)[i];
        if (!pol_is_absent(b) && pol_expect("weights", &pol_arrays(w)[i], *b) != POL_OK)
            return pol_fail(POL_EINVAL, "model_file_write: array %zu of the %s", i,
                            pol_last_error());
    }
    const struct weights in_file = weights_undef(c, true);
    for (int i = 0; i < 2; i++)
        if (pol_is_array(&w->unused[i]))
            POL_TRY(pol_expect("model_file_write: unused table", &w->unused[i], in_file.unused[i]));
    return POL_OK;
}

pol_status model_file_write(const char *path, const struct config *c, const struct weights *w)
{
    struct new_file f;
    if (!is_little_endian())
        return pol_fail(POL_ENOTSUP, "models are written on little-endian machines alone: %s",
                        path);
    POL_TRY(config_check(c));
    POL_TRY(check_weights(c, w));
    POL_TRY(new_file_open(&f, path));
    return new_file_close(&f, write_model(f.file, c, w));
}

/* SPDX-License-Identifier: MIT */
#ifndef BENCH_BUMP_H
#define BENCH_BUMP_H

/*
 * The checked bump: what a C author writes by hand, and what every ratio is to.
 *
 * It rounds the start up, checks size and start against the capacity, and advances. No frames, no
 * watermark, no errors but NULL, and a capacity far enough from SIZE_MAX that rounding cannot wrap.
 */

#include <stddef.h>

typedef struct bump {
    char *origin;
    size_t offset, capacity, alignment;
} bump;

static inline void *bump_new(bump *b, size_t nbytes)
{
    const size_t start = (b->offset + (b->alignment - 1)) & ~(b->alignment - 1);
    if (__builtin_expect(start > b->capacity || nbytes > b->capacity - start, 0))
        return NULL;
    b->offset = start + nbytes;
    return b->origin + start;
}

#endif

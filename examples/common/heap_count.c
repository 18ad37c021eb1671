/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#endif
#include "heap_count.h"

#include <errno.h>
#include <stdlib.h>

/* Of one thread: this program has no other. */
static bool counting;
static size_t allocations;

void heap_count_begin(void)
{
    allocations = 0;
    counting = true;
}

size_t heap_count_end(void)
{
    counting = false;
    return allocations;
}

bool heap_count_works(void)
{
    heap_count_begin();
    void *volatile probe = malloc(1); /* volatile: else the compiler drops the pair */
    free(probe);
    return heap_count_end() == 1;
}

#ifdef COUNT_HEAP /* set by the build where it may be done */

/* glibc's own functions, under the names that stay when ours take the public ones; free() is left
   as it is, since the memory is glibc's. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count(void)
{
    if (counting)
        allocations++;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): stdlib.h's are reserved. */

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    count();
    void *const memory = __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *result = memory;
    return 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#endif

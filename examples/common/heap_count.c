/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#endif
#include "heap_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Of all threads. */
static atomic_bool counting;
static atomic_size_t allocations;

void heap_count_begin(void)
{
    atomic_store(&allocations, 0);
    atomic_store(&counting, true);
}

size_t heap_count_end(void)
{
    atomic_store(&counting, false);
    return atomic_load(&allocations);
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
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&allocations, 1);
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

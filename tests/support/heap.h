/* SPDX-License-Identifier: MIT */
#ifndef TEST_HEAP_H
#define TEST_HEAP_H

/*
 * malloc, interposed: calls are counted, and one can be made to fail. Only where that is possible
 * (glibc, without a sanitizer); elsewhere tests that need it skip themselves. It counts the calls
 * of the asking thread. Link heap.c into the program to have it.
 */

#include <stdbool.h>
#include <stddef.h>

/* Whether malloc is interposed. */
bool test_heap_is_ours(void);
/* Calls of malloc, calloc, realloc, aligned_alloc and posix_memalign by this thread so far. */
size_t test_heap_calls(void);
/* Blocks that this thread has from them and has not freed. */
size_t test_heap_live(void);
/* Refuses this thread's k-th such call from now, once or from then on. 0: none. */
void test_heap_fail(size_t k, bool for_ever);

#endif /* TEST_HEAP_H */

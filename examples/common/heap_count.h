/* SPDX-License-Identifier: MIT */
#ifndef HEAP_COUNT_H
#define HEAP_COUNT_H

/*
 * Counts this program's heap allocations, whoever makes them: its own code, libpol, the C library.
 *
 * The counting functions take the place of malloc and its kin, which glibc allows. Where they
 * cannot, or a tool takes that place itself (a sanitizer, Valgrind), nothing is counted, and
 * heap_count_works() says so rather than let a 0 pass for a result.
 */

#include <stdbool.h>
#include <stddef.h>

/* Returns whether allocations are counted: it makes one and looks. */
bool heap_count_works(void);

/* Counts from 0 from now on. */
void heap_count_begin(void);

/* Stops counting and returns the number of allocations since the begin. */
size_t heap_count_end(void);

#endif

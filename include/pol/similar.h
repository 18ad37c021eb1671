/* SPDX-License-Identifier: MIT */
#ifndef POL_SIMILAR_H
#define POL_SIMILAR_H

/**
 * @defgroup similar Owning spaces
 * @brief Memory that is owned, and how to get more of the same kind.
 *
 * Two spaces own what they hand out: the heap, and the system's pages, which cost only what is
 * touched and so make the slabs of large arenas. Their arrays live until pol_release(), or until
 * the end of the frame that they were asked through. pol_similar() finds the space that owns memory
 * of the kind an array lies in, so that a kernel can ask for more of it without being told.
 * @{
 */

#include <pol/space.h>

POL_EXTERN_C_BEGIN_

/** Returns the space of owned host memory, at addresses divisible by 256. Nothing is zeroed.
    **Lifetime**: static; its arrays until pol_release(). **Errors** of its allocations:
    #POL_ENOMEM. **Threads**: any, at the same time. */
POL_API pol_space *pol_heap(void);

/** Returns the space of owned, page-aligned pages of zeros that the system commits when they are
    first touched: a slab of a terabyte costs what is used of it. From 2 MiB on an array starts at a
    multiple of that, and where memory could hold all of it the system may commit as much at once. **Lifetime**: static; its arrays
    until pol_release(). **Errors** of its allocations: #POL_ENOMEM; #POL_ENOTSUP where the system
    has no such memory. **Threads**: any, at the same time. */
POL_API pol_space *pol_pages(void);

/** Returns the space that owns memory of the kind `x` lies in: for an arena's array the space that
    the slab came from, for borrowed memory, a description or NULL the heap. Never NULL.
    **Lifetime**: the space's. **Threads**: any. */
POL_API pol_space *pol_similar(const pol_array *x);

POL_EXTERN_C_END_

/** @} */
#endif /* POL_SIMILAR_H */

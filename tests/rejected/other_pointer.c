/* SPDX-License-Identifier: MIT */
/* S2: an array is no space. */
#include <pol/pol.h>

pol_status kernel(pol_array *slab, pol_arena *arena, pol_array *x);

pol_status kernel(pol_array *slab, pol_arena *arena, pol_array *x)
{
#ifdef REJECTED
    (void)arena;
    return pol_alloc(slab, x, pol_undef(POL_F32, 8));
#else
    (void)slab;
    return pol_alloc(arena, x, pol_undef(POL_F32, 8));
#endif
}

/* SPDX-License-Identifier: MIT */
/* E1: the macros' statuses are no less looked at than the functions'. */
#include <pol/pol.h>

void kernel(pol_arena *arena, pol_array *x);

void kernel(pol_arena *arena, pol_array *x)
{
#ifdef REJECTED
    pol_alloc(arena, x, pol_undef(POL_F32, 8));
#else
    if (pol_alloc(arena, x, pol_undef(POL_F32, 8)) != POL_OK)
        x->data = NULL;
#endif
}

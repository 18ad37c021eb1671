/* SPDX-License-Identifier: MIT */
/* S2: a pointer to none of the three kinds of space. */
#include <pol/pol.h>

pol_status kernel(void *memory, pol_space *space, pol_array *x);

pol_status kernel(void *memory, pol_space *space, pol_array *x)
{
#ifdef REJECTED
    (void)space;
    return pol_alloc(memory, x, pol_undef(POL_F32, 8));
#else
    (void)memory;
    return pol_alloc(space, x, pol_undef(POL_F32, 8));
#endif
}

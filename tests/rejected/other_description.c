/* SPDX-License-Identifier: MIT */
/* S2: a destination and a description of different types. */
#include <pol/pol.h>

struct pair {
    pol_array a, b;
};

pol_status kernel(pol_space *space, struct pair *pair);

pol_status kernel(pol_space *space, struct pair *pair)
{
#ifdef REJECTED
    return pol_alloc(space, pair, pol_undef(POL_F32, 8));
#else
    return pol_alloc(space, &pair->a, pol_undef(POL_F32, 8));
#endif
}

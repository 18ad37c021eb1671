/* SPDX-License-Identifier: MIT */
/* S2: a struct with members that are no arrays. */
#include <pol/pol.h>

struct mixed {
    pol_array a;
#ifdef REJECTED
    int rows;
#endif
};

pol_status kernel(pol_space *space, struct mixed *mixed, const struct mixed *description);

pol_status kernel(pol_space *space, struct mixed *mixed, const struct mixed *description)
{
    return pol_alloc(space, mixed, *description);
}

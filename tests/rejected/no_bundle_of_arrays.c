/* SPDX-License-Identifier: MIT */
/* S2: the arrays of a struct with members that are no arrays. */
#include <pol/pol.h>

struct mixed {
    pol_array a;
#ifdef REJECTED
    int rows;
#endif
};

pol_array *first(struct mixed *mixed);

pol_array *first(struct mixed *mixed)
{
    return pol_arrays(mixed);
}

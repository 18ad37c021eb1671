/* SPDX-License-Identifier: MIT */
/* S2: the number of arrays of a struct with members that are no arrays. */
#include <pol/pol.h>

struct mixed {
    pol_array a;
#ifdef REJECTED
    int rows;
#endif
};

size_t count(const struct mixed *mixed);

size_t count(const struct mixed *mixed)
{
    return pol_count_arrays(mixed);
}

/* SPDX-License-Identifier: MIT */
/* Trap 32: the arrays of a const bundle, to write to. */
#include <pol/pol.h>

struct pair {
    pol_array a, b;
};

#ifdef REJECTED
typedef const struct pair *source;
#else
typedef struct pair *source;
#endif

pol_array *first(source pair);

pol_array *first(source pair)
{
    return pol_arrays(pair);
}

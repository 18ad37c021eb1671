/* SPDX-License-Identifier: MIT */
/* E1: a verb's status that nobody looks at. */
#include <pol/pol.h>

struct twice_args {
    pol_array x;
};
struct twice_outputs {
    pol_array y;
};

struct twice_outputs twice_outputs(const struct twice_args *a);
pol_status twice(const struct twice_outputs *out, const struct twice_args *a);
POL_ALLOCATING(twice, outputs);

pol_status kernel(pol_space *space, struct twice_args *args, struct twice_outputs *out);

pol_status kernel(pol_space *space, struct twice_args *args, struct twice_outputs *out)
{
#ifdef REJECTED
    pol_call(twice, space, args, out);
    return POL_OK;
#else
    return pol_call(twice, space, args, out);
#endif
}

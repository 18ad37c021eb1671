/* SPDX-License-Identifier: MIT */
/* V2, V3: the arguments of another verb. */
#include <pol/pol.h>

struct twice_args {
    pol_array x;
};
struct thrice_args {
    pol_array x;
};
struct twice_outputs {
    pol_array y;
};

struct twice_outputs twice_outputs(const struct twice_args *a);
pol_status twice(const struct twice_outputs *out, const struct twice_args *a);
POL_ALLOCATING(twice, outputs);

pol_status kernel(pol_space *space, struct twice_args *mine, struct thrice_args *others,
                  struct twice_outputs *out);

pol_status kernel(pol_space *space, struct twice_args *mine, struct thrice_args *others,
                  struct twice_outputs *out)
{
#ifdef REJECTED
    (void)mine;
    return pol_call(twice, space, others, out);
#else
    (void)others;
    return pol_call(twice, space, mine, out);
#endif
}

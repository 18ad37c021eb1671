/* SPDX-License-Identifier: MIT */
/* V2: scratch from a space that no frame closes. */
#include <pol/pol.h>

struct norm_args {
    pol_array x;
};

struct norm_scratch {
    pol_array sum;
};

struct norm_scratch norm_scratch(const struct norm_args *args);
pol_status kernel(pol_arena *arena, pol_frame *frame, const struct norm_args *args,
                  struct norm_scratch *scratch);

pol_status kernel(pol_arena *arena, pol_frame *frame, const struct norm_args *args,
                  struct norm_scratch *scratch)
{
#ifdef REJECTED
    (void)frame;
    return pol_scratch(arena, norm, args, scratch);
#else
    (void)arena;
    return pol_scratch(frame, norm, args, scratch);
#endif
}

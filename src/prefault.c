/* SPDX-License-Identifier: MIT */

/*
 * Memory before it is needed.
 *
 * The stride is the smallest page there is, so nobody has to be asked for the page's size: where
 * pages are larger, most of the touches find theirs present, which costs next to nothing.
 */

#include "internal.h"

#define STRIDE 4096
#define HOST 1 /* kDLCPU */

static void touch(volatile char *byte)
{
    *byte = *byte;
}

pol_status pol_arena_prefault(pol_arena *a)
{
    if (!a || a->capacity_ == 0)
        return pol_fail(POL_EINVAL,
                        "pol_arena_prefault: the arena is NULL or not open; open it first");
    if (a->home_ == pol_measured_())
        return POL_OK;
    const pol_device device = pol_space_device(a->home_);
    if (device.type != HOST)
        return pol_fail(POL_ENOTSUP,
                        "pol_arena_prefault: the slab of %zu bytes lies on device {%d, %d}, which "
                        "the host cannot touch; leave it out",
                        a->capacity_, (int)device.type, (int)device.id);
    for (size_t i = 0; i < a->capacity_; i += STRIDE)
        touch(a->origin_ + i);
    touch(a->origin_ + (a->capacity_ - 1));
    return POL_OK;
}

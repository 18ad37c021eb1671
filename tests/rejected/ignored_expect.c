/* SPDX-License-Identifier: MIT */
/* Trap 32: a check of an argument whose answer nobody looks at. */
#include <pol/pol.h>

pol_status kernel(const pol_array *x);

pol_status kernel(const pol_array *x)
{
#ifdef REJECTED
    pol_expect("kernel: x", x, pol_undef(POL_F32, 3));
    return POL_OK;
#else
    return pol_expect("kernel: x", x, pol_undef(POL_F32, 3));
#endif
}

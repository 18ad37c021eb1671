/* SPDX-License-Identifier: MIT */
/* U2: more dims than an array has. */
#include <pol/pol.h>

pol_array describe(void);

pol_array describe(void)
{
#ifdef REJECTED
    return pol_undef(POL_F32, 1, 2, 3, 4, 5, 6, 7, 8, 9);
#else
    return pol_undef(POL_F32, 1, 2, 3, 4, 5, 6, 7, 8);
#endif
}

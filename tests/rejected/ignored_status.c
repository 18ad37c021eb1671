/* SPDX-License-Identifier: MIT */
/* E1: a status that nobody looks at. */
#include <pol/pol.h>

void kernel(pol_arena *arena);

void kernel(pol_arena *arena)
{
#ifdef REJECTED
    pol_reset(arena);
#else
    (void)arena;
#endif
}

/* SPDX-License-Identifier: MIT */

/* Trap 26: a frame and a binding left open at exit(), and an arena used from an atexit handler. The
   exit status is 0. */

#include <stdlib.h>
#include <string.h>

#include <pol/pol.h>

static pol_arena arena;
static pol_frame frame, recording;
static pol_scope scope;

static void at_exit(void)
{
    pol_array a;
    /* beneath the open frame: refused, and its text can be had */
    if (pol_alloc(&arena, &a, pol_undef(POL_U8, 10)) != POL_EORDER || !*pol_last_error())
        _Exit(2);
    if (pol_alloc(&frame, &a, pol_undef(POL_U8, 10)) != POL_OK)
        _Exit(3);
    memset(a.data, 1, 10);
    POL_SCRATCHSPACE(inner, &frame) {
        if (pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 10)) != POL_OK)
            _Exit(4);
        memset(a.data, 1, 10);
    }
    pol_arena fresh;
    if (pol_arena_open(&fresh, pol_heap(), 100, 0) != POL_OK || pol_arena_close(&fresh) != POL_OK)
        _Exit(5);
}

int main(void)
{
    static unsigned char slab[4096];
    pol_array a;
    if (atexit(at_exit) || pol_arena_init(&arena, slab, sizeof slab, 0) != POL_OK)
        return 1;
    pol_frame_begin(&recording, pol_heap()); /* still reachable: no leak */
    if (pol_alloc(&recording, &a, pol_undef(POL_U8, 10)) != POL_OK)
        return 1;
    pol_withspace_begin(&scope, &arena);
    pol_frame_begin(&frame, &arena);
    if (pol_alloc(&frame, &a, pol_undef(POL_U8, 10)) != POL_OK)
        return 1;
    exit(0);
}

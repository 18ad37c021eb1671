/* SPDX-License-Identifier: MIT */

/*
 * The thread's own block, and which of its frames are open.
 *
 * A frame's serial carries its depth in the low byte, so that the question "is this frame still
 * open?" is one look at the slot of that depth, which is 0 when no frame is there. Frames nested
 * deeper than the slots have a record instead.
 *
 * No thread-local variable crosses the library's edge; a frame only keeps the address of its slot.
 */

#include "internal.h"

#include <stdatomic.h>

#define DEPTH_MAX 0xFFu
#define NEXT 0x100u

static _Thread_local pol_thread self;

pol_thread *pol_thread_self_(void)
{
    return &self;
}

bool pol_thread_has_open_(const pol_thread *t, uint64_t serial)
{
    const uint32_t depth = (uint32_t)(serial & DEPTH_MAX);
    return depth < POL_DEPTH_TRACKED_ ? t->open[depth] == serial : pol_records_have_(t, serial);
}

/* Where a thread's serials start: elsewhere than those of one that ended, whose block it may have
   been given, frames and all. */
static uint64_t first_serial(void)
{
    static atomic_uint threads;
    return (uint64_t)atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) << 40;
}

uint64_t pol_thread_enter_(pol_thread *t)
{
    const uint32_t depth = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
    t->serials = (t->serials ? t->serials : first_serial()) + NEXT;
    const uint64_t serial = t->serials | depth;
    if (depth < POL_DEPTH_TRACKED_)
        t->open[depth] = serial;
    t->depth++;
    return serial;
}

void pol_thread_leave_(pol_thread *t, uint32_t depth)
{
    for (uint32_t i = depth; i < t->depth && i < POL_DEPTH_TRACKED_; i++)
        t->open[i] = 0;
    t->depth = depth;
}

/* SPDX-License-Identifier: MIT */

/*
 * The thread's own block, and which of its frames are open.
 *
 * A frame's serial carries its depth in the low byte, so that the question "is this frame still
 * open?" is one look at the slot of that depth. Frames nested deeper than the slots have a record
 * instead, which the next bit says. If the system refused memory for the record, the frame is taken
 * to be open as long as the thread is that deep: its own end works all the same.
 *
 * The block is never handed out: no thread-local variable crosses the library's edge.
 */

#include "internal.h"

#include <stdatomic.h>

#define DEPTH_MAX 0xFFu
#define RECORDED 0x100u
#define NEXT 0x200u

static _Thread_local pol_thread self;

pol_thread *pol_thread_self_(void)
{
    return &self;
}

bool pol_thread_has_open_(const pol_thread *t, uint64_t serial)
{
    const uint32_t depth = (uint32_t)(serial & DEPTH_MAX);
    if (depth >= t->depth)
        return false;
    if (depth < POL_DEPTH_TRACKED_)
        return t->open[depth] == serial;
    return !(serial & RECORDED) || pol_records_have_(t, serial);
}

/* Where a thread's serials start: elsewhere than those of one that ended, whose block it may have
   been given, frames and all. */
static uint64_t first_serial(void)
{
    static atomic_uint threads;
    return (uint64_t)atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) << 40;
}

uint64_t pol_thread_enter_(pol_thread *t, bool recorded)
{
    const uint32_t depth = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
    t->serials = (t->serials ? t->serials : first_serial()) + NEXT;
    const uint64_t serial = t->serials | (recorded ? RECORDED : 0) | depth;
    if (depth < POL_DEPTH_TRACKED_)
        t->open[depth] = serial;
    t->depth++;
    return serial;
}

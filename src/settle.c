/* SPDX-License-Identifier: MIT */

/*
 * The frames that are open on an arena.
 *
 * The arena knows the serial of the innermost one, which is all that a carve looks at. It
 * keeps the starts of the outermost ones in a table, so that frames which their thread no longer
 * has open (longjmp skipped them and an outer frame, perhaps on another space, has ended) can be
 * dropped when the arena is next used, without reading them. Frames that the table has no room for
 * are recorded, and leave the arena when their record is undone.
 */

#include "internal.h"

/* What the arena is once the frames that are no longer open are dropped. */
typedef struct state {
    size_t offset;
    size_t floor;
    uint64_t top;
    uint32_t nframes;
} state;

static state settled(const pol_arena *a)
{
    const pol_thread *const t = pol_thread_self_();
    state s = {a->offset_, a->floor_, a->top_, a->nframes_};
    if (a->thread_ != t)
        return s;
    while (s.top != 0 && !pol_thread_has_open_(t, s.top)) {
        if (s.nframes > POL_FRAMES_TRACKED_) { /* go on from the innermost one that is known */
            const uint64_t known = a->frames_[POL_FRAMES_TRACKED_ - 1].serial;
            if (pol_thread_has_open_(t, known))
                break;
            s.nframes = POL_FRAMES_TRACKED_;
        }
        s.nframes--;
        s.offset = a->frames_[s.nframes].start;
        s.floor = s.nframes ? a->frames_[s.nframes - 1].start : 0;
        s.top = s.nframes ? a->frames_[s.nframes - 1].serial : 0;
    }
    return s;
}

void pol_arena_fall_(pol_arena *a, size_t offset)
{
    a->peak_ = pol_watermark(a);
    a->offset_ = offset;
}

void pol_arena_leave_(pol_arena *a, size_t start, size_t floor, uint64_t below, uint32_t level)
{
    pol_arena_fall_(a, start);
    a->floor_ = floor;
    a->top_ = below;
    a->nframes_ = level;
}

void pol_arena_settle_(pol_arena *a)
{
    if (a->top_ == 0)
        return;
    const state s = settled(a);
    if (s.top != a->top_)
        pol_arena_leave_(a, s.offset, s.floor, s.top, s.nframes);
}

size_t pol_arena_offset(const pol_arena *a)
{
    return a && a->alignment_ != 0 ? settled(a).offset : 0;
}

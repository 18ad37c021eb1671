/* SPDX-License-Identifier: MIT */

/*
 * Frames: one word on an arena, records elsewhere.
 *
 * On an arena a frame is the offset at which it began. On a space with marks of its own it is a
 * mark, on any other a list of what it handed out; both lie in the thread's records (record.c).
 * Which frames are open is in the thread's levels (level.c), so frames that longjmp skipped are
 * closed with the next one outward that ends.
 *
 * No memory of another frame is ever read: it may be dead.
 */

#include "internal.h"

/* Finds what lies beneath all frames. */
static void find_root(const pol_thread *t, pol_frame *f, pol_space *space)
{
    const pol_frame *const on = pol_frame_of_(space);
    const bool closed = on && !pol_frame_is_open_(t, on);
    pol_arena *const arena = closed ? NULL : pol_arena_of_(space);
    f->root_ = closed ? &pol_closed_space_ : on ? pol_frame_root_(on) : space;
    f->arena_ = arena; /* f may have been where `on` is */
    if (arena)
        pol_arena_settle_(arena);
}

/* What nothing would take back is not handed out. A root that refuses by itself, NULL or a closed
   frame, goes on doing so. */
static void refuse_unrecorded(pol_frame *f)
{
    f->arena_ = NULL;
    if (f->root_ && f->root_ != &pol_closed_space_)
        f->root_ = &pol_unrecorded_space_;
}

POL_NOINLINE_ void pol_frame_begin_checked_(pol_frame *f, pol_space *space)
{
    pol_thread *const t = pol_thread_self_();
    if (!f) {
        pol_misuse_(pol_fail(POL_EINVAL, "pol_frame_begin: the frame is NULL"));
        return;
    }
    find_root(t, f, space);
    f->space.ops = &pol_frame_ops_;
    f->thread_ = &t->here;
    f->era_ = t->here.era;
    f->outer_ = t->here.ambient;
    t->here.ambient = &f->space;
    if (!pol_level_enter_(t, f))
        refuse_unrecorded(f);
}

void(pol_frame_begin)(pol_frame *f, pol_space *space)
{
    pol_frame_begin_any_(f, space);
}

/* Refuses a frame that is not open on this thread, and leaves everything as it is. */
static pol_status check_open(const pol_thread *t, const pol_frame *f, const char *function)
{
    if (!f)
        return pol_fail(POL_EINVAL, "%s: the frame is NULL", function);
    if (!f->thread_)
        return pol_fail(POL_EORDER,
                        "%s: the frame is not open; it was ended before, or never begun", function);
    if (f->thread_ != &t->here)
        return pol_fail(POL_ETHREAD, "%s: the frame belongs to another thread, which must end it",
                        function);
    if (f->era_ == POL_INERT_ ? t->here.ambient != &f->space : !pol_level_of_(t, f))
        return pol_fail(POL_EORDER,
                        "%s: the frame was closed already, by the end of one outside it", function);
    return POL_OK;
}

/* Closes an open frame and what is above it, `*above` frames, whatever a retract answers; returns
   the first failure of one. */
static pol_status close_frame(pol_thread *t, pol_frame *f, unsigned *above)
{
    pol_failures met;
    met.first = POL_OK;
    *above = 0;
    if (f->era_ != POL_INERT_) {
        t->here.ambient = &f->space; /* first, for releases that are called on the way */
        pol_failures_add_(&met, pol_levels_close_above_(t, pol_level_of_(t, f), above));
        pol_failures_add_(&met, pol_level_close_(t));
    }
    t->here.ambient = f->outer_;
    f->thread_ = NULL;
    return pol_failures_first_(&met);
}

/* A frame that is not open, from now on by its own word too. One whose arena was made anew beneath
   it may still be the ambient space. */
static void forget(pol_thread *t, pol_frame *f)
{
    if (f->thread_ && t->here.ambient == &f->space)
        t->here.ambient = f->outer_;
    f->thread_ = NULL;
}

POL_NOINLINE_ pol_status pol_frame_end_checked_(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    const pol_status status = check_open(t, f, "pol_frame_end");
    if (status == POL_EORDER)
        forget(t, f);
    POL_TRY(status);
    unsigned above;
    POL_TRY(close_frame(t, f, &above)); /* damage is worse than a wrong order */
    if (above != 0)
        return pol_fail(POL_EORDER,
                        "pol_frame_end: %u frames above were still open and have been closed "
                        "first; end frames in reverse order",
                        above);
    return POL_OK;
}

pol_status pol_frame_end(pol_frame *f)
{
    return pol_frame_end_any_(f);
}

void pol_frame_close_(pol_frame *f)
{
    const pol_status status = pol_frame_end_any_(f);
    if (status != POL_OK)
        pol_misuse_(status);
}

void pol_frame_unwind_(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    pol_kept_text kept;
    unsigned above;
    if (f->thread_ != &t->here || !pol_frame_is_open_(t, f))
        return;
    pol_text_keep_(&kept);
    pol_text_restore_(&kept, close_frame(t, f, &above));
}

void pol_frame_recover(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    unsigned above;
    pol_status status = check_open(t, f, "pol_frame_recover");
    if (status == POL_OK && f->era_ != POL_INERT_) { /* else it is the ambient space already */
        t->here.ambient = &f->space;
        status = pol_levels_close_above_(t, pol_level_of_(t, f), &above);
    }
    if (status != POL_OK)
        pol_misuse_(status);
}

pol_status(pol_scratchspace)(pol_space *space, pol_status (*fn)(pol_frame *frame, void *ctx),
                             void *ctx)
{
    if (!fn)
        return pol_fail(POL_EINVAL, "pol_scratchspace: the function is NULL");
    pol_frame frame POL_CLEANUP_(pol_frame_unwind_);
    pol_frame_begin_any_(&frame, space);
    const pol_status status = fn(&frame, ctx);
    if (status == POL_OK)
        return pol_frame_end_any_(&frame);
    pol_frame_unwind_(&frame); /* fn's text stays */
    return status;
}

/* SPDX-License-Identifier: MIT */

/*
 * Frames: one word on an arena, records elsewhere.
 *
 * On an arena a frame is the offset at which it began. On a space with marks of its own it is a
 * mark, on any other a list of what it handed out; both lie in the thread's records (record.c).
 * When a frame ends, the records of its depth or deeper that are newer than itself are undone, so
 * frames that longjmp skipped are closed with it.
 *
 * No memory of another frame is ever read: it may be dead.
 */

#include "internal.h"

/* Finds what lies beneath all frames. */
static void find_root(const pol_thread *t, pol_frame *f, pol_space *space)
{
    const pol_frame *const on = pol_frame_of_(space);
    const bool closed = on && !pol_frame_is_open_(t, on);
    f->arena_ = closed ? NULL : pol_arena_of_(space);
    f->root_ = closed ? &pol_closed_space_ : on ? on->root_ : space;
    if (f->arena_)
        pol_arena_settle_(f->arena_);
}

/* Whether a frame is to have a record: its place is a mark, or the tables have no room for it. */
static bool needs_record(const pol_thread *t, const pol_frame *f)
{
    if (f->arena_ && f->arena_->nframes_ >= POL_FRAMES_TRACKED_)
        return true;
    return t->depth >= POL_DEPTH_TRACKED_ || (!f->arena_ && pol_space_has_marks_(f->root_));
}

static void enter_arena(const pol_thread *t, pol_frame *f)
{
    pol_arena *const a = f->arena_;
    f->start_ = a->offset_;
    f->floor_ = a->floor_;
    f->below_ = a->top_;
    f->level_ = a->nframes_;
    if (f->level_ < POL_FRAMES_TRACKED_) {
        a->frames_[f->level_].serial = f->serial_;
        a->frames_[f->level_].start = f->start_;
    }
    a->floor_ = f->start_;
    a->top_ = f->serial_;
    a->nframes_ = f->level_ + 1;
    a->thread_ = t;
}

static void fill_record(pol_record *record, const pol_frame *f)
{
    record->serial = f->serial_;
    record->kind = POL_RECORD_FRAME_;
    record->arena = f->arena_;
    if (f->arena_) {
        record->start = f->start_;
        record->floor = f->floor_;
        record->below = f->below_;
        record->level = f->level_;
    } else if (pol_space_has_marks_(f->root_)) {
        record->kind = POL_RECORD_MARK_;
        record->mark = f->root_->ops->mark(f->root_);
    }
}

/* What nothing would take back is not handed out. A root that refuses by itself, NULL or a closed
   frame, goes on doing so. */
static void refuse_unrecorded(pol_frame *f)
{
    f->arena_ = NULL;
    if (f->root_ && f->root_ != &pol_closed_space_)
        f->root_ = &pol_unrecorded_space_;
}

void(pol_frame_begin)(pol_frame *f, pol_space *space)
{
    pol_thread *const t = pol_thread_self_();
    pol_record *record = NULL;
    if (!f) {
        pol_misuse_(pol_fail(POL_EINVAL, "pol_frame_begin: the frame is NULL"));
        return;
    }
    find_root(t, f, space);
    f->space.ops = &pol_frame_ops_;
    f->thread_ = t;
    f->outer_ = t->ambient;
    f->records_ = t->records;
    f->depth_ = t->depth;
    f->slot_ = t->depth < POL_DEPTH_TRACKED_ ? &t->open[t->depth] : NULL;
    t->ambient = &f->space;
    if (needs_record(t, f)) {
        record = pol_record_push_(t, f->root_, f->depth_);
        if (!record)
            refuse_unrecorded(f);
    }
    f->serial_ = f->slot_ || record ? pol_thread_enter_(t) : POL_INERT_;
    if (f->arena_)
        enter_arena(t, f);
    if (record)
        fill_record(record, f);
}

/* Whether the arena still knows the frame: it may have been made anew beneath it. */
static bool is_on_arena(const pol_frame *f)
{
    const pol_arena *const a = f->arena_;
    return a->top_ == f->serial_ ||
           (f->level_ < a->nframes_ && f->start_ <= a->offset_ &&
            (f->level_ >= POL_FRAMES_TRACKED_ || a->frames_[f->level_].serial == f->serial_));
}

/* Refuses a frame that is not open on this thread, and leaves everything as it is. */
static pol_status check_open(const pol_thread *t, const pol_frame *f, const char *function)
{
    if (!f)
        return pol_fail(POL_EINVAL, "%s: the frame is NULL", function);
    if (f->serial_ == 0)
        return pol_fail(POL_EORDER,
                        "%s: the frame is not open; it was ended before, or never begun", function);
    if (f->thread_ != t)
        return pol_fail(POL_ETHREAD, "%s: the frame belongs to another thread, which must end it",
                        function);
    if (f->serial_ == POL_INERT_ ? t->ambient != &f->space : !pol_frame_is_open_(t, f))
        return pol_fail(POL_EORDER,
                        "%s: the frame was closed already, by the end of one outside it", function);
    return POL_OK;
}

/* First of all, so that a release which is called on the way finds living frames alone. */
static void make_innermost(pol_thread *t, pol_frame *f)
{
    pol_thread_leave_(t, f->depth_ + 1);
    t->ambient = &f->space;
}

/* Closes an open frame and what is above it, `*above` frames, whatever a retract answers; returns
   the first failure of one. */
static pol_status close_frame(pol_thread *t, pol_frame *f, uint32_t *above)
{
    *above = 0;
    if (f->serial_ == POL_INERT_) {
        t->ambient = f->outer_;
        f->serial_ = 0;
        return POL_OK;
    }
    *above = t->depth - f->depth_ - 1;
    make_innermost(t, f);
    const pol_status status = pol_records_undo_(t, f->records_, f->depth_, UINT32_MAX);
    if (f->arena_ && is_on_arena(f))
        pol_arena_leave_(f->arena_, f->start_, f->floor_, f->below_, f->level_);
    t->ambient = f->outer_;
    pol_thread_leave_(t, f->depth_);
    f->serial_ = 0;
    f->arena_ = NULL;
    return status;
}

pol_status pol_frame_end(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    const pol_status status = check_open(t, f, "pol_frame_end");
    if (status == POL_EORDER) { /* not open, from now on by its own word too */
        f->serial_ = 0;
        f->arena_ = NULL;
    }
    POL_TRY(status);
    uint32_t above;
    POL_TRY(close_frame(t, f, &above)); /* damage is worse than a wrong order */
    if (above != 0)
        return pol_fail(POL_EORDER,
                        "pol_frame_end: %u frames above were still open and have been closed "
                        "first; end frames in reverse order",
                        (unsigned)above);
    return POL_OK;
}

void pol_frame_close_(pol_frame *f)
{
    const pol_status status = pol_frame_end(f);
    if (status != POL_OK)
        pol_misuse_(status);
}

void pol_frame_unwind_(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    pol_kept_text kept;
    uint32_t above;
    if (f->serial_ == 0 || f->thread_ != t || !pol_frame_is_open_(t, f))
        return;
    pol_text_keep_(&kept);
    pol_text_restore_(&kept, close_frame(t, f, &above));
}

pol_status pol_frames_close_above_(uint32_t depth, pol_space *ambient, const pol_record *records,
                                   uint32_t *above)
{
    pol_thread *const t = pol_thread_self_();
    *above = t->depth > depth ? t->depth - depth : 0;
    if (*above == 0)
        return POL_OK;
    t->ambient = ambient;
    pol_thread_leave_(t, depth);
    return pol_records_undo_(t, records, depth, UINT32_MAX);
}

void pol_frame_recover(pol_frame *f)
{
    pol_thread *const t = pol_thread_self_();
    const pol_status status = check_open(t, f, "pol_frame_recover");
    if (status != POL_OK) {
        pol_misuse_(status);
        return;
    }
    if (f->serial_ == POL_INERT_) /* it is the ambient space, so nothing is above */
        return;
    make_innermost(t, f);
    const pol_status met = pol_records_undo_(t, f->records_, f->depth_ + 1, UINT32_MAX);
    if (f->arena_)
        pol_arena_settle_(f->arena_);
    if (met != POL_OK)
        pol_misuse_(met);
}

pol_status(pol_scratchspace)(pol_space *space, pol_status (*fn)(pol_frame *frame, void *ctx),
                             void *ctx)
{
    if (!fn)
        return pol_fail(POL_EINVAL, "pol_scratchspace: the function is NULL");
    pol_frame frame POL_CLEANUP_(pol_frame_unwind_);
    pol_frame_begin(&frame, space);
    const pol_status status = fn(&frame, ctx);
    if (status == POL_OK)
        return pol_frame_end(&frame);
    pol_frame_unwind_(&frame); /* fn's text stays */
    return status;
}

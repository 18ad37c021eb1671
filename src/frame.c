/* SPDX-License-Identifier: MIT */

/*
 * A frame as a space: what it answers to a request.
 *
 * It asks the space beneath all frames, its root. From an arena it carves; of a space with marks it
 * takes what its mark will take back; of any other it records what it got. A frame that must not
 * hand out anything has a root that says why.
 */

#include "internal.h"

bool pol_frame_is_open_(const pol_thread *t, const pol_frame *f)
{
    if (!f->thread_ || f->thread_ != &t->here || f->era_ == POL_INERT_)
        return f->thread_ != NULL;
    return pol_level_of_(t, f) != NULL;
}

pol_space *pol_frame_root_(const pol_frame *f)
{
    if (!f->thread_)
        return &pol_closed_space_;
    return f->arena_ ? &f->arena_->space : f->root_;
}

static pol_status alloc_recorded(pol_thread *t, const pol_frame *f, pol_array *a, size_t nbytes)
{
    char text[POL_DESCRIBE_MAX_];
    pol_record *const record = pol_record_push_(t, f->root_, pol_level_of_(t, f));
    if (!record)
        return pol_fail(
            POL_ENOMEM,
            "frame: need %zu bytes to record %s, and the system refused them; free memory",
            sizeof *record, pol_describe_(text, a));
    const pol_status status = pol_place_(f->root_, a, nbytes);
    if (status == POL_OK)
        record->array = *a;
    else
        pol_record_drop_(t, record);
    return status;
}

/* On a root with marks of its own the frame is one of them, and only the innermost may ask. */
static pol_status alloc_marked(const pol_thread *t, const pol_frame *f, pol_array *a, size_t nbytes)
{
    const pol_record *const mark = pol_records_mark_(t, f->root_);
    char text[POL_DESCRIBE_MAX_];
    if (mark && mark->owner == pol_level_of_(t, f))
        return pol_place_(f->root_, a, nbytes);
    return pol_fail(POL_EORDER,
                    "frame: %s was asked from beneath an open frame, whose end would take it back; "
                    "ask the innermost frame",
                    pol_describe_(text, a));
}

static pol_status frame_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    const pol_frame *const f = (const pol_frame *)self;
    pol_thread *const t = pol_thread_self_();
    pol_status status = POL_OK;
    if (!pol_frame_is_open_(t, f))
        return pol_fail(POL_EORDER, "frame: is not open any more; allocate before its end");
    if (f->thread_ != &t->here)
        return pol_fail(POL_ETHREAD, "frame: belongs to another thread, which must ask itself");
    if (f->arena_)
        return pol_arena_carve_(f->arena_, f, a, nbytes);
    POL_TRY(pol_space_check_(f->root_));
    if (pol_space_has_marks_(f->root_))
        status = alloc_marked(t, f, a, nbytes);
    else if (f->root_->ops->release)
        status = alloc_recorded(t, f, a, nbytes);
    else
        status = pol_place_(f->root_, a, nbytes); /* nothing is owned, nothing to give back */
    a->flags &= (uint16_t)~POL_FLAG_OWNED_;       /* the frame's to give back */
    return status;
}

static bool frame_capturing(const pol_space *self)
{
    const pol_space *const root = pol_frame_root_((const pol_frame *)self);
    return root && root->ops && root->ops->capturing && root->ops->capturing(root);
}

static pol_device frame_device(const pol_space *self)
{
    return pol_space_device(pol_frame_root_((const pol_frame *)self));
}

const pol_space_ops pol_frame_ops_ = {
    .name = "frame",
    .alloc = frame_alloc,
    .capturing = frame_capturing,
    .device = frame_device,
};

/* The root of a frame on a frame that is not open. */
static pol_status closed_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    char text[POL_DESCRIBE_MAX_];
    (void)self;
    return pol_fail(POL_EORDER,
                    "frame: need %zu bytes for %s, but it was opened on a frame that had ended; "
                    "open it on one that is open",
                    nbytes, pol_describe_(text, a));
}

static const pol_space_ops closed_ops = {.name = "closed frame", .alloc = closed_alloc};
pol_space pol_closed_space_ = {&closed_ops};

/* The root of a frame whose record was refused. It may not hand out what nothing would take back.
    */
static pol_status unrecorded_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    char text[POL_DESCRIBE_MAX_];
    (void)self;
    return pol_fail(POL_ENOMEM,
                    "frame: need %zu bytes for %s, but the system refused %zu to record the frame; "
                    "free memory and open it again",
                    nbytes, pol_describe_(text, a), sizeof(pol_record));
}

static const pol_space_ops unrecorded_ops = {.name = "unrecorded frame", .alloc = unrecorded_alloc};
pol_space pol_unrecorded_space_ = {&unrecorded_ops};

/* SPDX-License-Identifier: MIT */
#ifndef POL_FAST_FRAME_H
#define POL_FAST_FRAME_H

/**
 * @addtogroup scratchspace
 *
 * A frame's begin and end, inlined into the caller.
 *
 * As with carving (fast.h), this is what the library's functions begin with, and they do whatever
 * is not decided here: a frame on another kind of space, one nested deep, one that ends while
 * others above it are open. A frame's level goes into its arena and into the thread's chain; the
 * end takes it out if it is the innermost of both, without a look at any other frame.
 *
 * A thread's block lies at the same distance from the thread pointer in every thread, and arenas
 * know that distance, so that no thread-local symbol crosses the library's edge. Where there is no
 * such way the macros call the library.
 * @{
 */

#include <pol/fast.h>

/* Where inlined code finds the block of a thread without a thread-local symbol. */
#if POL_GNU_ && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#define POL_INLINES_FRAMES_ 1
#else
#define POL_INLINES_FRAMES_ 0
#endif

POL_EXTERN_C_BEGIN_

/* Stores one word by itself. A compiler that packs two into one wide store makes whoever loads one
   of them wait for both, and the end of a frame loads what its begin has just stored. */
#define POL_STORE_(type, place, value) ((void)(*(type volatile *)(void *)&(place) = (value)))

/* Begins a frame on an open arena, if its frames are in order and not too deep. */
static inline bool pol_frame_enter_(pol_frame *f, pol_arena *a, struct pol_here_ *t)
{
    struct pol_level_ *level = &a->levels_[1];
    if (a->top_) {
        if (a->level_ != t->level || a->level_ == &a->levels_[POL_FRAMES_TRACKED_])
            return false;
        level = a->level_ + 1;
    }
    POL_STORE_(struct pol_level_ *, level->outer, t->level);
    level->arena = a;
    POL_STORE_(size_t, level->at.start, a->offset_);
    level->owner = f;
    POL_STORE_(struct pol_level_ *, t->level, level);
    POL_STORE_(struct pol_level_ *, a->level_, level);
    a->top_ = f;
    a->thread_ = t;
    f->space.ops = a->frame_ops_;
    POL_STORE_(pol_arena *, f->arena_, a);
    f->outer_ = t->ambient;
    POL_STORE_(struct pol_here_ *, f->thread_, t);
    f->era_ = t->era;
    t->ambient = &f->space;
    return true;
}

/* Ends a frame of this thread, f->thread_ being t, if it is its innermost and on an arena. */
static inline bool pol_frame_leave_(pol_frame *f, struct pol_here_ *t)
{
    pol_arena *const a = f->arena_;
    if (!a || a->top_ != f || a->level_ != t->level)
        return false;
    struct pol_level_ *const level = a->level_;
    t->level = level->outer;
    t->ambient = f->outer_;
    a->level_ = level - 1;
    a->top_ = level[-1].owner;
    if (a->offset_ > a->peak_)
        a->peak_ = a->offset_;
    a->offset_ = level->at.start;
    a->next_ = ((a->offset_ - 1) | a->mask_) + 1;
    f->thread_ = NULL;
    return true;
}

/* What a block's frame is to be opened on, as a frame: it is decided outside the block, where the
   space's name is not the frame's yet. With an arena it is opened here, else by the library. */
static inline pol_frame pol_frame_on_(pol_arena *a, pol_space *space)
{
    pol_frame on = {{NULL}, NULL, NULL, NULL, 0, NULL};
    on.arena_ = a;
    on.outer_ = space;
    return on;
}

static inline pol_frame pol_frame_on_space_(pol_space *space)
{
    return pol_frame_on_(NULL, space);
}

static inline pol_frame pol_frame_on_arena_(pol_arena *a)
{
    return pol_frame_on_(a, pol_space_of_arena_(a));
}

static inline pol_frame pol_frame_on_frame_(pol_frame *f)
{
    return pol_frame_on_(pol_frame_asks_(f), pol_space_of_frame_(f));
}

static inline pol_frame pol_frame_on_null_(const void *null)
{
    (void)null;
    return pol_frame_on_(NULL, NULL);
}

/* An arena that is not open has no distance to a thread's block. */
static inline pol_frame *pol_frame_begin_(pol_frame *f, const pol_frame *on)
{
#if POL_INLINES_FRAMES_
    pol_arena *const a = on->arena_;
    if (POL_LIKELY_(a && a->tls_ != 0)) {
        char *const at = (char *)__builtin_thread_pointer() + a->tls_;
        if (POL_LIKELY_(pol_frame_enter_(f, a, (struct pol_here_ *)(void *)at)))
            return f;
    }
#endif
    pol_frame_begin(f, on->outer_);
    return f;
}

/* A block is left by the thread that entered it. */
static inline void pol_frame_end_(pol_frame *f)
{
#if POL_INLINES_FRAMES_
    if (POL_LIKELY_(f->thread_ && pol_frame_leave_(f, f->thread_)))
        return;
#endif
    pol_frame_close_(f);
}

POL_EXTERN_C_END_

#ifdef __cplusplus
template <class S> static inline pol_frame pol_frame_on_kind_(S *s)
{
    return pol_frame_on_space_(POL_SPACE(s));
}
static inline pol_frame pol_frame_on_kind_(pol_arena *a)
{
    return pol_frame_on_arena_(a);
}
static inline pol_frame pol_frame_on_kind_(pol_frame *f)
{
    return pol_frame_on_frame_(f);
}
static inline pol_frame pol_frame_on_kind_(decltype(nullptr))
{
    return pol_frame_on_null_(nullptr);
}
#define POL_FRAME_ON_(space) pol_frame_on_kind_(space)
#else
/* clang-format off */
#define POL_FRAME_ON_(space)                                                                       \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_frame_on_space_,                                                          \
        pol_arena *: pol_frame_on_arena_,                                                          \
        pol_frame *: pol_frame_on_frame_,                                                          \
        struct pol_null_ *: pol_frame_on_null_)(space)
/* clang-format on */
#endif

/** @} */
#endif /* POL_FAST_FRAME_H */

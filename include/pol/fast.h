/* SPDX-License-Identifier: MIT */
#ifndef POL_FAST_H
#define POL_FAST_H

/**
 * @addtogroup scratchspace
 *
 * What is inlined into the caller: a carve, one array's materialization, a frame's begin and end.
 *
 * Nothing here is another way of doing things: the library's functions begin with this same code,
 * and whatever it does not decide at once (the ceiling, a frame in between, a description that is
 * not plainly small, a stricter element) it leaves to them, untouched. It never fails by itself, so
 * it holds no texts. An arena can send everything to the library by a `limit_` of 0.
 *
 * A carve keeps the next start ready: rounding the size up, not the offset, takes the rounding off
 * the chain from one carve to the next. No sum here can wrap: a start is at most 2^63 (a multiple
 * of every alignment, so that rounding a capacity up ends there at most) and a size less than that.
 * @{
 */

#include <pol/scratchspace.h>

/* Where inlined code finds the block of a thread without a thread-local symbol. */
#if POL_GNU_ && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#define POL_INLINES_FRAMES_ 1
#else
#define POL_INLINES_FRAMES_ 0
#endif

POL_EXTERN_C_BEGIN_

/* The bytes of the arena's next carve, or NULL to ask the library. 0 < nbytes <= PTRDIFF_MAX, and
   the asker is the innermost. */
static inline void *pol_carve_(pol_arena *a, size_t nbytes)
{
    const size_t start = a->next_;
    const size_t end = start + nbytes;
    if (POL_LIKELY_(end <= a->limit_)) {
        a->offset_ = end;
        a->next_ = start + (((nbytes - 1) | a->mask_) + 1);
        return a->origin_ + start;
    }
    return NULL;
}

/* The arena of a frame that is open and the innermost one on it, or NULL. */
static inline pol_arena *pol_frame_asks_(const pol_frame *f)
{
    return f && f->thread_ && f->thread_->era == f->era_ && f->arena_ && f->arena_->top_ == f
               ? f->arena_
               : NULL;
}

static inline pol_arena *pol_arena_asks_(pol_arena *a)
{
    return a && !a->top_ ? a : NULL;
}

/* An arena whose alignment is less than POL_FAST_ALIGN_ has no fast path, so that elements up to
   there, which is most of them, need not be compared with it. */
#define POL_FAST_ALIGN_ 16

/* n elements from an arena, which is NULL unless the asker is its innermost. */
static inline void *pol_new_in_arena_(pol_arena *a, pol_space *asker, size_t n, size_t size,
                                      size_t align)
{
    if (POL_LIKELY_(a && size != 0 && n - 1 < (size_t)PTRDIFF_MAX / (size ? size : 1) &&
                    (align <= POL_FAST_ALIGN_ || align - 1 <= a->mask_))) {
        void *const data = pol_carve_(a, n * size);
        if (POL_LIKELY_(data != NULL))
            return data;
    }
    return pol_new_(asker, n, size, align);
}

static inline void *pol_new_space_(pol_space *space, size_t n, size_t size, size_t align)
{
    return pol_new_(space, n, size, align);
}

static inline void *pol_new_arena_(pol_arena *a, size_t n, size_t size, size_t align)
{
    return pol_new_in_arena_(pol_arena_asks_(a), pol_space_of_arena_(a), n, size, align);
}

static inline void *pol_new_frame_(pol_frame *f, size_t n, size_t size, size_t align)
{
    return pol_new_in_arena_(pol_frame_asks_(f), pol_space_of_frame_(f), n, size, align);
}

static inline void *pol_new_null_(const void *null, size_t n, size_t size, size_t align)
{
    (void)null;
    return pol_new_(NULL, n, size, align);
}

static inline pol_frame *pol_frame_begin_(pol_frame *f, pol_space *space)
{
    pol_frame_begin(f, space);
    return f;
}

POL_EXTERN_C_END_

#ifdef __cplusplus
static inline void *pol_new_in_(pol_space *s, size_t n, size_t size, size_t align)
{
    return pol_new_(s, n, size, align);
}
static inline void *pol_new_in_(pol_arena *a, size_t n, size_t size, size_t align)
{
    return pol_new_arena_(a, n, size, align);
}
static inline void *pol_new_in_(pol_frame *f, size_t n, size_t size, size_t align)
{
    return pol_new_frame_(f, n, size, align);
}
static inline void *pol_new_in_(decltype(nullptr), size_t n, size_t size, size_t align)
{
    return pol_new_null_(nullptr, n, size, align);
}
#define POL_NEW_IN_(space) pol_new_in_
#else
/* clang-format off */
#define POL_NEW_IN_(space)                                                                         \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_new_space_,                                                               \
        pol_arena *: pol_new_arena_,                                                               \
        pol_frame *: pol_new_frame_,                                                               \
        struct pol_null_ *: pol_new_null_)
/* clang-format on */
#endif

/** @} */
#endif /* POL_FAST_H */

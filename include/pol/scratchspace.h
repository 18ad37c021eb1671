/* SPDX-License-Identifier: MIT */
#ifndef POL_SCRATCHSPACE_H
#define POL_SCRATCHSPACE_H

/**
 * @defgroup scratchspace Frames
 * @brief A space whose arrays die when its block ends, however it ends.
 *
 * A frame opens on a space and hands out that space's memory until its end. On a space with marks,
 * an arena above all, it is one mark; on any other it records what it hands out and releases each
 * array once at its end, in reverse order. Inside, the ambient space is the frame. Frames nest, on
 * frames too; an inner one takes back only its own.
 *
 * Ending an outer frame first closes those above it, also when `longjmp` skipped them: no memory of
 * a skipped frame is read, and its own late end is a reported no-op. After a `longjmp` back into a
 * frame's block, pol_frame_recover() makes it the innermost again.
 *
 * A frame never fails to open. One on NULL answers #POL_ENOAMBIENT to every request.
 *
 * Frames on arenas take no heap unless more than twelve nest on one or sixteen in the thread. A
 * frame on a space with marks of its own takes one record, one on any other space a record an
 * array. If a record is refused, so is what it was for, with #POL_ENOMEM.
 *
 * **Threads**: a frame belongs to the thread that began it. End it before the thread ends, or call
 * pol_withspace_clear() there, which frees the records of what was left open.
 * @{
 */

#include <pol/arena.h>

POL_EXTERN_C_BEGIN_

/** A frame. Private but for `space`; lives on the caller's stack. All bytes zero is a frame that is
    not open. Do not copy it. */
struct pol_frame {
    pol_space space; /**< first: a frame is a space */
    /** @cond */
    pol_arena *arena_;            /* what it carves from; NULL: another kind of space */
    uint64_t serial_;             /* of no other frame of this thread; 0: not open */
    const uint64_t *slot_;        /* holds the serial while it is open; NULL: too deep for one */
    uint64_t below_;              /* serial of the frame beneath it on the arena */
    size_t start_;                /* the arena's offset when it began */
    size_t floor_;                /* the arena's floor before */
    pol_space *root_;             /* the space beneath all frames; NULL: none */
    pol_space *outer_;            /* the ambient space before */
    struct pol_record_ *records_; /* the thread's newest record before */
    const void *thread_;          /* who began it */
    uint32_t depth_;              /* frames of the thread that were open before */
    uint32_t level_;              /* frames of the arena that were open before */
    /** @endcond */
};

/** Opens a frame on `space` and makes it the ambient space. Cannot fail. `f` must not be open. */
POL_API void pol_frame_begin(pol_frame *f, pol_space *space);

/**
 * Ends the frame: gives back what it handed out and restores the ambient space.
 *
 * **Errors**: #POL_EORDER: frames above were still open and have been closed first, or the frame
 * was not open any more, or never, and nothing was done; #POL_ETHREAD: another thread's frame,
 * nothing was done; #POL_EINVAL: `f` is NULL. Before #POL_EORDER comes what the first `retract` to
 * fail answered, of this frame or of one above it; all of them have been closed all the same.
 */
POL_API POL_NODISCARD pol_status pol_frame_end(pol_frame *f);

/** Closes what a `longjmp` skipped above `f` and makes `f` the innermost frame and the ambient
    space; its arena is as it was when the first of the skipped frames began. Called after a jump
    back into f's block; it binds `f` also where a #POL_WITHSPACE in that block is still open. On a
    frame that is not open: a reported no-op. A `retract` that fails is reported too. */
POL_API void pol_frame_recover(pol_frame *f);

/** Runs `fn(frame, ctx)` in a frame on `space` and returns its status: for callbacks and bindings
    of other languages. **Errors**: fn's; else pol_frame_end()'s; #POL_EINVAL: `fn` is NULL. Where
    fn's hides that of a `retract`, pol_on_misuse()'s handler is told the latter. */
POL_API POL_NODISCARD pol_status pol_scratchspace(pol_space *space,
                                                  pol_status (*fn)(pol_frame *frame, void *ctx),
                                                  void *ctx);

/* Ends a frame at the end of its block; what goes wrong is a misuse that is reported. */
POL_API void pol_frame_close_(pol_frame *f);

static inline pol_frame *pol_frame_begin_(pol_frame *f, pol_space *space)
{
    pol_frame_begin(f, space);
    return f;
}

static inline void *pol_new_space_(pol_space *space, size_t n, size_t size, size_t align)
{
    return pol_new_(space, n, size, align);
}

static inline void *pol_new_arena_(pol_arena *a, size_t n, size_t size, size_t align)
{
    return pol_arena_new_(a, 0, pol_space_of_arena_(a), n, size, align);
}

static inline void *pol_new_frame_(pol_frame *f, size_t n, size_t size, size_t align)
{
    if (POL_LIKELY_(f && f->slot_ && *f->slot_ == f->serial_))
        return pol_arena_new_(f->arena_, f->serial_, &f->space, n, size, align);
    return pol_new_(f ? &f->space : NULL, n, size, align);
}

static inline void *pol_new_null_(const void *null, size_t n, size_t size, size_t align)
{
    (void)null;
    return pol_new_(NULL, n, size, align);
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

/**
 * Returns `n` elements of the C type `T` from `space` as a `T *`; nothing is zeroed. Over an arena
 * or its frames it is the fast path, inlined into the caller.
 *
 * **Lifetime**: the space's; only a frame or an arena takes it back, so ask an owning space through
 * a frame. **Errors**: NULL, with the code's text in the thread's last error, as pol_alloc().
 */
#define pol_new(space, T, n) ((T *)POL_NEW_IN_(space)((space), (n), sizeof(T), POL_ALIGNOF_(T)))

/** @cond */
#define pol_frame_begin(f, space) pol_frame_begin((f), POL_SPACE(space))
#define pol_scratchspace(space, fn, ctx) pol_scratchspace(POL_SPACE(space), (fn), (ctx))
/** @endcond */

#if POL_HAS_CLEANUP
/** Opens a frame on `space` for the block that follows and ends it on every exit, a return, a goto
    and a C++ exception among them: `POL_SCRATCHSPACE(frame, arena) { ... }`. Inside, `frame` is a
    `pol_frame *`. `break` and `continue` leave the block and do no more. `space` is looked up
    outside the block, so it may have the frame's name. What pol_frame_end() would answer goes to
    pol_on_misuse()'s handler: where a space's damage must stop the program's work, end the frame by
    the portable spelling, pol_frame_begin() and pol_frame_end(), or by pol_scratchspace(). */
#define POL_SCRATCHSPACE(frame, space)                                                             \
    for (pol_frame * POL_CAT_(frame, _on_) = (pol_frame *)(void *)POL_SPACE(space),                \
                                     POL_CAT_(frame, _storage_) POL_CLEANUP_(pol_frame_close_),    \
                                     *frame = pol_frame_begin_(                                    \
                                         &POL_CAT_(frame, _storage_),                              \
                                         (pol_space *)(void *)POL_CAT_(frame, _on_));              \
         frame; frame = NULL)
#endif

/** @} */
#endif /* POL_SCRATCHSPACE_H */

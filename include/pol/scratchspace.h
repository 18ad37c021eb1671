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
 * Frames on arenas take no heap unless more than 8 nest on one. A frame on a space with marks of
 * its own takes one record, one on any other space a record an array, and if more than 4 of these
 * are open in the thread, one for itself. If a record is refused, so is what it was for, with
 * #POL_ENOMEM.
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
    pol_arena *arena_;         /* what it carves from; NULL: another kind of space */
    pol_space *outer_;         /* the ambient space before */
    struct pol_here_ *thread_; /* whose it is; NULL: not open */
    size_t era_;               /* the thread's when it began; the greatest: it has no level */
    pol_space *root_;          /* without an arena: the space beneath all frames; NULL: none */
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

POL_EXTERN_C_END_

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
    for (pol_frame POL_CAT_(frame, _on_) = POL_FRAME_ON_(space),                                   \
                                   POL_CAT_(frame, _storage_) POL_CLEANUP_(pol_frame_end_),        \
                                   *frame = pol_frame_begin_(&POL_CAT_(frame, _storage_),          \
                                                             &POL_CAT_(frame, _on_));              \
         frame; frame = NULL)
#endif

/** @} */

#include <pol/fast.h> /* what is inlined */

#endif /* POL_SCRATCHSPACE_H */

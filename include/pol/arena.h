/* SPDX-License-Identifier: MIT */
#ifndef POL_ARENA_H
#define POL_ARENA_H

/**
 * @defgroup arena The arena
 * @brief A bump allocator over one slab that never grows.
 *
 * An arena hands out arrays by advancing an offset through a slab, and takes them back by setting
 * the offset back: to a mark, or to 0, or to where a frame began. It never touches the bytes, so
 * the slab may lie on any device, and a read-only mapping will do: cast its address, and let nobody
 * write to the arrays. Every array starts at an absolute address divisible by the
 * arena's alignment and by its element's own. Offsets count from the slab's first aligned byte,
 * which costs at most `alignment - 1` bytes; equal requests get equal offsets on every slab of that
 * alignment, and equal addresses on the same slab.
 *
 * Nothing is carved from beneath an open frame: while a frame is open on the arena, only the
 * innermost one may ask for bytes. (No bytes are no carve: 0 are given to anyone.) Sizes are not
 * rounded, only starts are: what fits exactly, fits.
 *
 * An arena without a slab, pol_arena_measure(), runs the same code and so sizes the real one.
 *
 * **Lifetime** of its arrays (frame lifetime under a frame, caller lifetime otherwise): until the
 * retract, reset, frame end or close that takes them back. **Threads**: an arena belongs to one
 * thread at a time and takes no locks. Hand it on with no frame open; after a `longjmp` past frames
 * on it, end or recover a frame around the jump and call pol_mark(), which drops them. The object
 * outlives the frames that are open on it, those that `longjmp` skipped included; that of
 * pol_verb_nbytes() is such an object, so do not jump out of it.
 * @{
 */

#include <pol/space.h>

POL_EXTERN_C_BEGIN_

#define POL_FRAMES_TRACKED_ 8

/* One open frame of a thread. It lies in memory that outlives the frame, since a frame that
   `longjmp` skipped may be dead: in the arena, in the thread's block, or in a record on the heap. */
struct pol_level_ {
    struct pol_level_ *outer; /* the thread's next one outward */
    pol_arena *arena;         /* that the frame carves from; NULL: another kind of space */
    union {
        size_t start;              /* the arena's offset when the frame began */
        struct pol_record_ *until; /* elsewhere: the thread's newest record then */
    } at;
    const pol_frame *owner; /* an address to compare with; never followed */
};

/* The part of a thread's block that inlined code knows. */
struct pol_here_ {
    pol_space *ambient;       /* the innermost binding */
    size_t era;               /* how often pol_withspace_clear() was called */
    struct pol_level_ *level; /* the innermost open frame; NULL: none */
};

/** An arena. Private but for `space`; make one by the four functions below. Do not copy it. */
struct pol_arena {
    pol_space space; /**< first: an arena is a space */
    /** @cond */
    size_t next_;              /* where the next carve starts: offset_ rounded up, maybe past the
                                  capacity, at most (SIZE_MAX + 1) / 2 */
    size_t limit_;             /* the capacity for the fast path; 0: everything goes the slow way */
    size_t offset_;            /* the end of what is in use, exactly */
    const pol_frame *top_;     /* the innermost frame open on it; NULL: none; never followed */
    size_t mask_;              /* alignment - 1 */
    char *origin_;             /* the first aligned byte; offsets count from here */
    struct pol_level_ *level_; /* with a frame open: its level, or the last of levels_ if that
                                  lies on the heap */
    /* The line above is all that a carve looks at; no two neighbours in it are written together,
       for compilers would make that one store, from which a load of half of it has to wait. What
       follows keeps the lines of two arenas that are neighbours in an array apart. */
    struct pol_here_ *thread_;       /* whose frames are open on it */
    ptrdiff_t tls_;                  /* the thread's block less its thread pointer */
    const pol_space_ops *frame_ops_; /* of the frames that inlined code opens */
    size_t peak_;                    /* the highest offset before the last time that it fell */
    size_t capacity_;                /* bytes from the origin to the slab's end; 0: not open */
    size_t strictest_;               /* the strictest alignment asked so far, at least its own */
    size_t id_;                      /* of no other arena of this process */
    uint64_t epoch_;                 /* counts resets */
    pol_space *home_;                /* the slab's */
    void *base_;                     /* the slab, if the arena owns it */
    size_t nbytes_;                  /* its size */
    uint32_t align_;                 /* what it was asked to be aligned to */
    uint32_t owned_;                 /* whether to release it */
    struct pol_level_ levels_[POL_FRAMES_TRACKED_ + 1]; /* the first one stands for the arena */
    /** @endcond */
};

/** Makes an arena over `nbytes` bytes of borrowed memory at `base`. Alignment 0 means 256.
    **Lifetime**: `base` is borrowed until the arena is closed or no longer used. **Errors**:
    #POL_EINVAL: `a` or `base` is NULL, or the alignment no power of two; #POL_ECEILING: no room for
    one aligned byte; #POL_EOVERFLOW: the memory would reach past the address space. */
POL_API POL_NODISCARD pol_status pol_arena_init(pol_arena *a, void *base, size_t nbytes,
                                                size_t alignment);

/** Makes an arena over the memory of any array, of any device; its arrays inherit the slab's home,
    so pol_similar() finds the space the slab came from. **Lifetime**, **Errors**: as
    pol_arena_init(); #POL_EINVAL: the slab is not materialized. */
POL_API POL_NODISCARD pol_status pol_arena_over(pol_arena *a, const pol_array *slab,
                                                size_t alignment);

/** Makes an arena over a slab of `nbytes` bytes drawn from `space`, another arena included. The
    slab starts at a multiple of the alignment, and of 64, so that arenas drawn from one parent
    never share a cache line; where the parent aligns less, it spends `alignment` (or 64) less its
    own alignment more bytes. **Lifetime**: until pol_arena_close(); a slab from a frame or an arena
    lives no longer than there. **Errors**: as pol_arena_init(), and what the space answers. */
POL_API POL_NODISCARD pol_status pol_arena_open(pol_arena *a, pol_space *space, size_t nbytes,
                                                size_t alignment);

/** Makes an arena without a slab for a dry run: the same offsets as on a real one, no ceiling.
    Addresses of its arrays must not be followed. Needs no close. **Errors**: #POL_EINVAL: `a` is
    NULL, or the alignment no power of two. An array or a sum past PTRDIFF_MAX bytes:
    #POL_EOVERFLOW. */
POL_API POL_NODISCARD pol_status pol_arena_measure(pol_arena *a, size_t alignment);

/** Gives the slab back to the space it was drawn from, if that space releases arrays one by one;
    the arena is no longer open. A slab from an arena or a frame stays until that takes it back.
    **Errors**: #POL_EINVAL: not an open arena; #POL_EORDER: a frame is open on it, or it is the
    innermost binding of this thread's ambient space. */
POL_API POL_NODISCARD pol_status pol_arena_close(pol_arena *a);

/** Returns the bytes in use, padding between arrays included. 0 for NULL. */
POL_API size_t pol_arena_offset(const pol_arena *a);
/** Returns the bytes from the first aligned byte to the slab's end. 0 for NULL. */
POL_API size_t pol_arena_capacity(const pol_arena *a);
/** Returns what every carve's address is divisible by. 0 for NULL. */
POL_API size_t pol_arena_alignment(const pol_arena *a);
/** Returns the highest offset ever reached, kept by retract and reset. A sub-arena counts with the
    slab that it was opened with, whether or not it ever reached the end of it. 0 for NULL. */
POL_API size_t pol_watermark(const pol_arena *a);

/** Returns the slab size, in bytes, that suffices for the watermark at any base address:
    watermark + E - 1, with E the arena's alignment, or the strictest among the elements' that was
    asked if that is stricter. At least room for one aligned byte. 0 for NULL. */
POL_API size_t pol_arena_budget(const pol_arena *a);

/** Touches each page of a host slab once, by reading a byte and writing it back, so that the system
    adds its memory now and not under the first kernel that writes there, which costs 10 to 40
    microseconds a page on a virtual machine. Contents stay. No other thread may use the slab
    meanwhile, and it must not be read-only. On a measuring arena: nothing to do. **Errors**:
    #POL_ENOTSUP: the memory is not the host's; #POL_EINVAL: not an open arena. */
POL_API POL_NODISCARD pol_status pol_arena_prefault(pol_arena *a);

#if defined(__cplusplus) && POL_GNU_
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* a struct and a function share a name, as stat's do */
#endif
/** Returns the current position; all zero for an arena that is not open. */
POL_API struct pol_mark pol_mark(pol_arena *a);
#if defined(__cplusplus) && POL_GNU_
#pragma GCC diagnostic pop
#endif

/** Takes back everything carved since the mark; twice with nothing between is a no-op.
    **Errors**: #POL_ESTALE: the mark is from before a reset, of another arena, all zero, or above
    the offset; #POL_EORDER: it lies beneath an open frame; #POL_EINVAL: not an open arena. */
POL_API POL_NODISCARD pol_status pol_retract(pol_arena *a, struct pol_mark mark);

/** Takes everything back: the offset is 0 and marks go stale. The watermark stays. **Errors**:
    #POL_EORDER: a frame is open; #POL_EINVAL: not an open arena. */
POL_API POL_NODISCARD pol_status pol_reset(pol_arena *a);

/** Returns whether `space` is a measuring arena, or a frame or a sub-arena on one: a body that
    touches memory itself steps aside then. false for NULL. */
POL_API bool pol_is_measuring(const pol_space *space);

/* What pol_new reduces to where the fast path does not fit. */
POL_API void *pol_new_(pol_space *space, size_t n, size_t size, size_t align);

POL_EXTERN_C_END_

/** @cond */
#define pol_arena_open(a, space, nbytes, alignment)                                                \
    pol_arena_open((a), POL_SPACE(space), (nbytes), (alignment))
#define pol_is_measuring(space) pol_is_measuring(POL_CONST_SPACE_(space))
/** @endcond */

/** @} */
#endif /* POL_ARENA_H */

/* SPDX-License-Identifier: MIT */
#ifndef POL_SPACE_H
#define POL_SPACE_H

/**
 * @defgroup space Spaces
 * @brief Anywhere an array can be materialized from, and the one verb that does it.
 *
 * A space is a struct whose first member is `pol_space space`, with a constant table of operations
 * of which one, `alloc`, is required. pol_alloc() is the one verb: it takes a space, a destination
 * and a description of the destination's type, an array or a bundle, and materializes all of it or
 * nothing. Where a macro takes a `space`, a `pol_space *`, a `pol_arena *`, a `pol_frame *` or a
 * literal NULL will do; anything else does not compile.
 *
 * Each thread has an **ambient** space, bound for the length of a block by #POL_WITHSPACE and,
 * while a frame is open, by the frame. A binding is a value on the caller's stack.
 *
 * NULL is taken everywhere and answers #POL_ENOAMBIENT, so `pol_alloc(pol_ambientspace(), ...)` is
 * the whole ambient form. Frames and spaces of a thread are that thread's: **Threads**: one at a
 * time for each space, unless its own documentation says more.
 * @{
 */

#include <pol/anyspace.h>
#include <pol/undef.h>

POL_EXTERN_C_BEGIN_

/** Where memory lies, as DLPack's DLDevice says it: {1, 0} is the host. */
typedef struct pol_device {
    int32_t type; /**< DLPack's DLDeviceType */
    int32_t id;   /**< which of the devices of that type */
} pol_device;

/** A position that a space can be taken back to. Private; all bytes zero is no mark. A space of
    your own may keep what it likes in the three words, with `owner` not 0. */
struct pol_mark {
    size_t offset;  /**< private */
    size_t owner;   /**< private; 0 is no mark */
    uint64_t epoch; /**< private */
};

/** What a space does. Constant; shared by all spaces of a kind. */
typedef struct pol_space_ops {
    /** Names the kind of space in messages. */
    const char *name;
    /** The one required operation: gives the described `a` its memory, `nbytes` as pol_nbytes() has
        them, at an address divisible by `a->type.align`, by setting `a->data`; not NULL, also for
        0 bytes. Or fails and changes nothing; pol_fail() leaves a text. */
    pol_status (*alloc)(pol_space *self, pol_array *a, size_t nbytes);
    /** Takes back what `alloc` gave. Default: nothing is owned, pol_release() is a no-op. */
    void (*release)(pol_space *self, pol_array *a);
    /** Returns the position to which `retract` gives all back at once. Default: frames record. */
    struct pol_mark (*mark)(pol_space *self);
    /** Goes back to a mark. Comes with `mark`. One that fails has gone back all the same and says
        what it found, #POL_ECORRUPT for damage. The end of the frame answers that, or the call that
        the frame was opened for; what no status carries goes to pol_on_misuse()'s handler. */
    pol_status (*retract)(pol_space *self, struct pol_mark mark);
    /** Returns whether the device is recording a graph, so that nothing may be allocated now.
        Default: never. */
    bool (*capturing)(const pol_space *self);
    /** Returns where the memory lies. Default: the host. */
    pol_device (*device)(const pol_space *self);
} pol_space_ops;

/** The first member of every space. */
struct pol_space {
    const pol_space_ops *ops; /**< read-only after the space was made */
};

/**
 * Materializes `count` arrays in place, in order: what pol_alloc() reduces to.
 *
 * Absent entries stay absent. Entries that hold data keep it. The rest get memory from `space`.
 * **Lifetime**: the space's. **Errors**: #POL_ENOAMBIENT: `space` is NULL; #POL_EINVAL: a space
 * without `alloc`, `first` is NULL, or a description that is not valid; #POL_EOVERFLOW: an array
 * or their sum exceeds PTRDIFF_MAX bytes; #POL_ECAPTURE: the space's device records a graph; and
 * what the space answers. All or nothing: on failure what was obtained has been given back in
 * reverse order and each entry is what it was.
 */
POL_API POL_NODISCARD pol_status pol_alloc_arrays(pol_space *space, pol_array *first, size_t count);

/** Gives an owned array back to its space; `a` becomes a description again. A no-op for anything
    not owned: borrowed, absent, described, of an arena or a frame, or NULL. */
POL_API void pol_release(pol_array *a);

/** Returns where the space's memory lies; the host for NULL. */
POL_API pol_device pol_space_device(const pol_space *space);

/** What a binding of the ambient space remembers. Private; lives on the caller's stack. */
typedef struct pol_scope {
    pol_space *outer_;
} pol_scope;

/** Binds `space` as this thread's ambient space until the matching end. NULL binds none: inside,
    pol_ambientspace() is NULL whatever is bound outside. Cannot fail, takes no heap. */
POL_API void pol_withspace_begin(pol_scope *scope, pol_space *space);

/** Restores what the begin saw. An outer end repairs inner ones that were jumped over. */
POL_API void pol_withspace_end(pol_scope *scope);

/** Forgets every binding and every open frame of this thread, without touching spaces, frames or
    arrays, which may be gone: for test runners and thread pools that unwind by `longjmp`. What
    forgotten frames had recorded is not released; to release it, end a frame around the jump. */
POL_API void pol_withspace_clear(void);

/** Returns the innermost binding of this thread. **Errors**: NULL, with #POL_ENOAMBIENT in the
    thread's last error, if there is none. A new thread starts with none. */
POL_API pol_space *pol_ambientspace(void);

/** Like pol_ambientspace(), but `space` if there is no binding. */
POL_API pol_space *pol_ambientspace_or(pol_space *space);

/* Makes copies borrowed: whoever owned their data still does, through the value they came from. */
static inline pol_array *pol_borrow_(pol_array *first, size_t count)
{
    for (size_t i = 0; first && i < count; i++)
        first[i].flags &= (uint16_t)~POL_FLAG_OWNED_;
    return first;
}

static inline pol_scope *pol_scope_begin_(pol_scope *scope, pol_space *space)
{
    pol_withspace_begin(scope, space);
    return scope;
}

POL_EXTERN_C_END_

#ifdef __cplusplus

template <class T>
POL_NODISCARD static inline pol_status pol_alloc_(pol_space *space, T *dst, const T &description)
{
    static_assert(sizeof(T) % sizeof(pol_array) == 0, "a pol_array or a struct of them");
    if (dst)
        *dst = description;
    const size_t count = sizeof(T) / sizeof(pol_array);
    return pol_alloc_arrays(space, pol_borrow_(reinterpret_cast<pol_array *>(dst), count), count);
}
#define pol_alloc(space, dst, ...) pol_alloc_(POL_SPACE(space), (dst), __VA_ARGS__)

#else

#if POL_GNU_
#define POL_DESCRIBED_(dst, ...)                                                                   \
    __extension__({                                                                                \
        __typeof__(&*(dst)) pol_dst_ = (dst);                                                      \
        if (pol_dst_)                                                                              \
            *pol_dst_ = (__VA_ARGS__);                                                             \
        pol_borrow_((pol_array *)(void *)pol_dst_, pol_count_arrays(pol_dst_));                    \
    })
#else /* evaluates dst twice, which may not be NULL */
#define POL_DESCRIBED_(dst, ...)                                                                   \
    (*(dst) = (__VA_ARGS__), pol_borrow_((pol_array *)(void *)(dst), pol_count_arrays(dst)))
#endif

/**
 * Materializes a description: `pol_alloc(space, &dst, description)`, where `*dst` and `description`
 * are a ::pol_array or a bundle, of the same type: the compiler checks it.
 *
 * After success `dst` is the description with its memory, after a failure the description alone.
 * Entries that come with data pass through, borrowed: whoever owned it still does, through the
 * value that it was copied from. (So do not describe an owned array by itself: its memory would
 * have no owner any more.) Entries, lifetime and errors are those of pol_alloc_arrays(). `dst` and
 * `description` are evaluated once (without GNU extensions, `dst` twice, and NULL is not refused).
 */
#define pol_alloc(space, dst, ...)                                                                 \
    pol_alloc_arrays(POL_SPACE(space), POL_DESCRIBED_(dst, __VA_ARGS__), pol_count_arrays(dst))

#endif

/** @cond */
#define pol_withspace_begin(scope, space) pol_withspace_begin((scope), POL_SPACE(space))
#define pol_ambientspace_or(space) pol_ambientspace_or(POL_SPACE(space))
/** @endcond */

#if POL_HAS_CLEANUP
/** Binds `space` as ambient for the block that follows, and restores what was before on every exit
    of it: `POL_WITHSPACE(arena) { ... }`. `break` and `continue` leave the block. */
#define POL_WITHSPACE(space) POL_WITHSPACE_(POL_UNIQUE_(pol_scope_), space)
#define POL_WITHSPACE_(scope, space)                                                               \
    for (pol_scope scope POL_CLEANUP_(pol_withspace_end),                                          \
         *POL_CAT_(scope, once_) = pol_scope_begin_(&scope, POL_SPACE(space));                     \
         POL_CAT_(scope, once_); POL_CAT_(scope, once_) = NULL)
#endif

/** @} */
#endif /* POL_SPACE_H */

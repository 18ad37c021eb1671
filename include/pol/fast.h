/* SPDX-License-Identifier: MIT */
#ifndef POL_FAST_H
#define POL_FAST_H

/**
 * @addtogroup scratchspace
 *
 * What is inlined into the caller: a carve and one array's materialization.
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

POL_EXTERN_C_BEGIN_

/* Carves and returns true, or changes nothing: then the library is to be asked. 0 < nbytes <=
   PTRDIFF_MAX, and the asker is the innermost. */
static inline bool pol_carve_(pol_arena *a, size_t nbytes, void **data)
{
    const size_t start = a->next_;
    const size_t end = start + nbytes;
    if (!POL_LIKELY_(end <= a->limit_))
        return false;
    a->offset_ = end;
    a->next_ = start + (((nbytes - 1) | a->mask_) + 1);
    *data = a->origin_ + start;
    return true;
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
    void *data;
    if (POL_LIKELY_(size != 0 && n - 1 < (size_t)PTRDIFF_MAX / (size ? size : 1) && a &&
                    (align <= POL_FAST_ALIGN_ || align - 1 <= a->mask_) &&
                    pol_carve_(a, n * size, &data)))
        return data;
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

/* Computes the bytes of a plain small array: whole bytes an element, and no factor of 2^31 or more
   until the last. That is exact; false leaves the rest, which pol_nbytes() does. */
static inline bool pol_nbytes_small_(const pol_array *x, size_t *nbytes)
{
    const uint32_t align = x->type.align;
    uint64_t n = x->type.size;
    uint64_t factors = 0; /* all of them, ored; what wraps after one that is too large is unused */
    if (n == 0 || (align ^ (align - 1)) <= align - 1 || x->ndim > POL_MAX_NDIM) /* a power of two */
        return false;
    if (x->type.code == POL_CODE_OPAQUE ? x->type.lanes == 0
                                        : (uint64_t)x->type.bits * x->type.lanes != n * 8)
        return false;
    for (unsigned i = 0; i < x->ndim; i++) {
        const uint64_t dim = (uint64_t)x->dims[i];
        factors |= n | dim;
        n *= dim;
    }
    if ((factors >> 31) != 0) /* a negative dim too */
        return false;
    if (n > (uint64_t)PTRDIFF_MAX) /* where addresses have 32 bits */
        return false;
    *nbytes = (size_t)n;
    return true;
}

/* Materializes one description of at least one byte, or changes nothing and asks the library. */
static inline bool pol_array_carve_(pol_arena *a, pol_array *x)
{
    size_t nbytes;
    if (x->data || !pol_nbytes_small_(x, &nbytes) || nbytes == 0 || x->type.align - 1 > a->mask_)
        return false;
    if (!pol_carve_(a, nbytes, &x->data))
        return false;
    x->home = a->home_;
    x->flags = 0;
    return true;
}

POL_NODISCARD static inline pol_status pol_alloc_in_arena_(pol_arena *a, pol_space *asker,
                                                           pol_array *first, size_t count)
{
    if (POL_LIKELY_(count == 1 && a && first && pol_array_carve_(a, first)))
        return POL_OK;
    return pol_alloc_arrays(asker, first, count);
}

POL_NODISCARD static inline pol_status pol_alloc_arena_(pol_arena *a, pol_array *first,
                                                        size_t count)
{
    return pol_alloc_in_arena_(pol_arena_asks_(a), pol_space_of_arena_(a), first, count);
}

POL_NODISCARD static inline pol_status pol_alloc_frame_(pol_frame *f, pol_array *first,
                                                        size_t count)
{
    return pol_alloc_in_arena_(pol_frame_asks_(f), pol_space_of_frame_(f), first, count);
}

POL_EXTERN_C_END_

/** @cond */
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
    return pol_new_(nullptr, n, size, align);
}
#define POL_NEW_IN_(space) pol_new_in_

/* The kinds of space by overloads; whatever else a pointer points to is refused by POL_SPACE. */
template <class S>
POL_NODISCARD static inline pol_status pol_alloc_on_(S *s, pol_array *first, size_t count)
{
    return pol_alloc_arrays(POL_SPACE(s), first, count);
}
POL_NODISCARD static inline pol_status pol_alloc_on_(pol_arena *a, pol_array *first, size_t count)
{
    return pol_alloc_arena_(a, first, count);
}
POL_NODISCARD static inline pol_status pol_alloc_on_(pol_frame *f, pol_array *first, size_t count)
{
    return pol_alloc_frame_(f, first, count);
}
POL_NODISCARD static inline pol_status pol_alloc_on_(decltype(nullptr), pol_array *first,
                                                     size_t count)
{
    return pol_alloc_arrays(nullptr, first, count);
}
template <class T> static inline pol_array *pol_described_(T *dst, const T &description)
{
    static_assert(sizeof(T) % sizeof(pol_array) == 0, "a pol_array or a struct of them");
    if (dst)
        *dst = description;
    return pol_borrow_(reinterpret_cast<pol_array *>(dst), sizeof(T) / sizeof(pol_array));
}
#undef pol_alloc
#define pol_alloc(space, dst, ...)                                                                 \
    pol_alloc_on_((space), pol_described_((dst), __VA_ARGS__), sizeof(*(dst)) / sizeof(pol_array))
#else
/* clang-format off */
#define POL_NEW_IN_(space)                                                                         \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_new_space_,                                                               \
        pol_arena *: pol_new_arena_,                                                               \
        pol_frame *: pol_new_frame_,                                                               \
        struct pol_null_ *: pol_new_space_)
#define POL_ALLOC_IN_(space)                                                                       \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_alloc_arrays,                                                             \
        pol_arena *: pol_alloc_arena_,                                                             \
        pol_frame *: pol_alloc_frame_,                                                             \
        struct pol_null_ *: pol_alloc_arrays)
/* clang-format on */
#undef pol_alloc
#define pol_alloc(space, dst, ...)                                                                 \
    POL_ALLOC_IN_(space)((space), POL_DESCRIBED_(dst, __VA_ARGS__), pol_count_arrays(dst))
#endif
/** @endcond */

/** @} */

#include <pol/fast_frame.h>

#endif /* POL_FAST_H */

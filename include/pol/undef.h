/* SPDX-License-Identifier: MIT */
#ifndef POL_UNDEF_H
#define POL_UNDEF_H

/**
 * @defgroup undef Arrays and descriptions
 * @brief Element type and shape as a plain value, with memory or without.
 *
 * A ::pol_array is 96 bytes of plain data, copied by assignment. It is in one of three states:
 * **absent** (all bytes zero: a buffer that nobody asked for), **described** (a type and a shape,
 * no memory: what pol_undef() makes) and **materialized** (`data` is not NULL, also when there are
 * no elements). Describing takes no memory and cannot fail; a description that no memory can hold
 * is refused where its size is computed, in pol_nbytes(), and nowhere else.
 *
 * Shapes are row-major and contiguous. Unused dims are zero and the struct has no padding, so
 * descriptions made by the functions below are equal exactly if their bytes are.
 *
 * A **bundle** is a struct whose members are all ::pol_array, or such structs.
 * @{
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pol/status.h>
#include <pol/type.h>

/** The most dims that an array has. */
#define POL_MAX_NDIM 8

POL_EXTERN_C_BEGIN_

struct pol_space;

/** An array or the description of one. Fields are read-only; make one by the functions below. */
typedef struct pol_array {
    void *data;                 /**< the elements; NULL while absent or described */
    struct pol_space *home;     /**< the space that has memory of this kind; NULL: not known */
    pol_type type;              /**< of an element */
    uint16_t ndim;              /**< dims in use, 0 to #POL_MAX_NDIM; 0 is a scalar: one element */
    uint16_t flags;             /**< private */
    int64_t dims[POL_MAX_NDIM]; /**< row-major: the last one is contiguous */
} pol_array;

POL_STATIC_ASSERT_(sizeof(pol_array) <= 96, "pol_array is at most 96 bytes");
POL_STATIC_ASSERT_(sizeof(pol_array) == 2 * sizeof(void *) + 16 + 8 * POL_MAX_NDIM,
                   "pol_array has no padding");

enum { POL_ARRAY_NBYTES_ = sizeof(pol_array) };

#define POL_FLAG_OWNED_ 1u /* pol_release() gives it back to `home` */
#define POL_FLAG_FRESH_ 2u /* materialized by the call that is under way */

/**
 * Computes the bytes that `a` takes; the only place where a size is computed.
 *
 * A scalar is one element, an absent array takes none. A zero among the dims means 0 bytes,
 * whatever the others are. A packed type rounds the whole array up to a byte.
 * `0 <= *nbytes <= PTRDIFF_MAX`, and no array that fits there is refused.
 *
 * **Errors**: #POL_EINVAL: a dim is negative, also beside a zero; `ndim > POL_MAX_NDIM`; a type
 * that is none. #POL_EOVERFLOW: more than PTRDIFF_MAX bytes. On failure `*nbytes` is unchanged.
 */
POL_API POL_NODISCARD pol_status pol_nbytes(const pol_array *a, size_t *nbytes);

/** Computes the elements of `a`, `0 <= *len <= INT64_MAX`, by the same rules as pol_nbytes().
    **Errors**: the same; #POL_EOVERFLOW: more than INT64_MAX elements. */
POL_API POL_NODISCARD pol_status pol_len(const pol_array *a, int64_t *len);

/** Returns whether `a` is a buffer that nobody asked for. NULL counts as absent. */
static inline bool pol_is_absent(const pol_array *a)
{
    return !a || (!a->data && a->type.lanes == 0);
}

/** Returns whether `a` is described and has no memory. */
static inline bool pol_is_undef(const pol_array *a)
{
    return a && !a->data && a->type.lanes != 0;
}

/** Returns whether `a` is materialized. */
static inline bool pol_is_array(const pol_array *a)
{
    return a && a->data;
}

/** Returns whether two arrays have the same element type and shape; memory does not count. */
POL_API bool pol_undef_equal(const pol_array *a, const pol_array *b);

/** Describes a single element: no dims, one element. */
static inline pol_array pol_undef_scalar(pol_type type)
{
    pol_array a = {NULL, NULL, type, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
    return a;
}

/** Describes an array of `x`'s type and shape. Absent stays absent. */
static inline pol_array pol_undef_like(const pol_array *x)
{
    pol_array a = {NULL, NULL, {0, 0, 0, 0, 0}, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
    if (!pol_is_absent(x)) {
        a = *x;
        a.data = NULL;
        a.home = NULL;
        a.flags = 0;
    }
    return a;
}

/** Describes an array of `x`'s shape with elements of `type`. Absent stays absent. */
static inline pol_array pol_undef_like_type(const pol_array *x, pol_type type)
{
    pol_array a = pol_undef_like(x);
    if (!pol_is_absent(x))
        a.type = type;
    return a;
}

static inline pol_array pol_undef_like_dims_(const pol_array *x, pol_array shape)
{
    if (pol_is_absent(x))
        return pol_undef_like(x);
    shape.type = x->type;
    return shape;
}

/** Describes `n` arrays like `x` as one of one dim more, `n` first: (n, rows, dim) of (rows, dim),
    which pol_index() takes apart. Absent stays absent. Pure: pol_nbytes() refuses a negative `n`,
    and the ninth dim if `x` has 8. A packed type is rounded up to a byte once, as a whole, so `n`
    of i4 [3] are `12 * n` bits, and pol_index() refuses those that begin within a byte. */
static inline pol_array pol_undef_stack(const pol_array *x, int64_t n)
{
    pol_array a = pol_undef_like(x);
    if (pol_is_absent(x))
        return a;
    for (int i = POL_MAX_NDIM - 1; i > 0; i--)
        a.dims[i] = a.dims[i - 1];
    a.dims[0] = n;
    a.ndim = (uint16_t)(a.ndim < POL_MAX_NDIM ? a.ndim + 1 : POL_MAX_NDIM + 1);
    return a;
}

static inline pol_array pol_wrapped_(void *data, pol_array a)
{
    a.data = data;
    return a;
}

/** Wraps a single element as pol_wrap() wraps an array: `pol_wrap_scalar(&loss, POL_F32)`. */
static inline pol_array pol_wrap_scalar(void *ptr, pol_type type)
{
    return pol_wrapped_(ptr, pol_undef_scalar(type));
}

POL_EXTERN_C_END_

#ifdef __cplusplus

/** See below: the same functions, for C++. */
template <class... Dims> static inline pol_array pol_undef(pol_type type, Dims... dims)
{
    static_assert(sizeof...(Dims) >= 1 && sizeof...(Dims) <= POL_MAX_NDIM, "1 to 8 dims");
    pol_array a = {nullptr, nullptr, type, sizeof...(Dims), 0, {static_cast<int64_t>(dims)...}};
    return a;
}

#else

/* Each word is said, for where some are left out compilers zero the array as a whole, which costs
   more than describing it does. */
static inline pol_array pol_undef_(pol_type type, uint16_t ndim, const int64_t *d)
{
    const pol_array a = {NULL, NULL, type,
                         ndim, 0,    {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]}};
    return a;
}

#define POL_COUNT_DIMS_(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define POL_NDIM_(...)                                                                             \
    ((uint16_t)(POL_COUNT_DIMS_(__VA_ARGS__) *                                                     \
                sizeof(char[POL_COUNT_DIMS_(__VA_ARGS__) <= POL_MAX_NDIM ? 1 : -1])))

/** Describes an array: `pol_undef(POL_F32, rows, columns)`. 1 to 8 dims, `int64_t`; more do not
    compile. Pure: a shape that no memory can hold is refused where its size is computed. */
#define pol_undef(type_, ...)                                                                      \
    pol_undef_((type_), POL_NDIM_(__VA_ARGS__), (const int64_t[POL_MAX_NDIM]){__VA_ARGS__})

#endif

/** Describes an array of `x`'s element type in another shape. Absent stays absent. */
#define pol_undef_like_dims(x, ...)                                                                \
    pol_undef_like_dims_((x), pol_undef(POL_TYPE_(0, 0, 0, 0), __VA_ARGS__))

/** Makes an array over memory that somebody else owns: `pol_wrap(weights, POL_F32, rows, columns)`.
    **Lifetime**: borrowed; `ptr` must stay valid as long as the array is used. NULL describes. */
#define pol_wrap(ptr, type, ...) pol_wrapped_((ptr), pol_undef(type, __VA_ARGS__))

/** @} */

#include <pol/parts.h> /* what is taken of arrays */

#endif /* POL_UNDEF_H */

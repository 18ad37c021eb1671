/* SPDX-License-Identifier: MIT */
#ifndef POL_PARTS_H
#define POL_PARTS_H

/**
 * @addtogroup undef
 *
 * What is taken of an array: its elements, the same memory in another shape, an entry, a range of
 * entries. A result is a value of its own and owns nothing. What is refused is so whether there is
 * memory or not, so a dry run over descriptions meets the same errors.
 *
 * A bundle is taken as the arrays that it is, one after the other, by pol_arrays(). A kernel holds
 * its arguments to what it needs by pol_expect().
 * @{
 */

#include <pol/undef.h>

POL_EXTERN_C_BEGIN_

/* What the macros below reduce to. On a refusal the result is absent, and the thread's last error
   says why. */
POL_API void *pol_data_mismatch_(const pol_array *a, size_t size);
POL_API void pol_reshape_(pol_array *a, const pol_array *shape);

/** Returns entry `i` of `a` along its first dim, an array of one dim less: `pol_index(&weights,
    layer)`. It is `a`'s memory, aligned as an element is, and owns nothing; of a description it is
    a description. Absent stays absent. **Lifetime**: as long as `a`'s. **Errors**: an absent array,
    and in the thread's last error those of pol_nbytes(), or #POL_EINVAL: `a` has no dims, not
    `0 <= i < a->dims[0]`, or entry `i` of a packed type begins within a byte. One that ends within
    a byte shares it with the next. */
POL_API pol_array pol_index(const pol_array *a, int64_t i);

/** Returns the `count` entries of `a` from `first` on along its first dim, with all its dims:
    `pol_slice(&tokens, 0, known)`. The rest is as for pol_index(), with `first >= 0`, `count >= 0`
    and `first + count <= a->dims[0]`; a slice of no entries may begin anywhere there. */
POL_API pol_array pol_slice(const pol_array *a, int64_t first, int64_t count);

/** Checks that `a`, an argument of a kernel, has memory and is of `needed`'s type and shape:
    `POL_TRY(pol_expect("linear: x", &args->x, pol_undef(POL_F32, rows, inputs)))`. **Errors**:
    #POL_EINVAL, with a text that begins with `what` and says what `a` is and what is needed; also
    where `a` is absent or NULL, whatever is needed. */
POL_API POL_NODISCARD pol_status pol_expect(const char *what, const pol_array *a, pol_array needed);

static inline pol_array pol_reshaped_(const pol_array *x, pol_array shape)
{
    pol_array a = pol_undef_like(x);
    if (x)
        a = *x;
    pol_reshape_(&a, &shape);
    return a;
}

static inline void *pol_data_checked_(const pol_array *a, size_t size)
{
    if (POL_LIKELY_(a && a->data && a->type.size == size))
        return a->data;
    return pol_data_mismatch_(a, size);
}

/* The count is there to be checked by the compiler. */
static inline pol_array *pol_arrays_(void *bundle, size_t count)
{
    (void)count;
    return (pol_array *)bundle;
}

static inline const pol_array *pol_const_arrays_(const void *bundle, size_t count)
{
    (void)count;
    return (const pol_array *)bundle;
}

POL_EXTERN_C_END_

/** Returns `a`'s memory in another shape of as many elements; the result owns nothing.
    **Lifetime**: as long as `a`'s. **Errors**: an absent array, and #POL_EINVAL in the thread's
    last error, if the shapes do not hold equally many elements. */
#define pol_reshape(a, ...) pol_reshaped_((a), pol_undef(POL_TYPE_(0, 0, 0, 0), __VA_ARGS__))

/** Returns the elements as `T *`; NULL for an absent array. **Errors**: NULL, and #POL_EINVAL in
    the thread's last error, if the array is described only, or if an element is not `sizeof(T)`
    bytes (an element of a packed type is none: use `a->data`). **Lifetime**: the array's. */
#define pol_data(a, T) ((T *)pol_data_checked_((a), sizeof(T)))

/** How many arrays the bundle that a pointer points to is, 1 for a ::pol_array: a constant, and
    nothing is evaluated, so `pol_count_arrays((struct weights *)NULL)` asks for a type. What is no
    struct of arrays, as far as its size tells, does not compile. */
#define pol_count_arrays(bundle)                                                                   \
    (sizeof(*(bundle)) / POL_ARRAY_NBYTES_ *                                                       \
     sizeof(char[sizeof(*(bundle)) % POL_ARRAY_NBYTES_ ? -1 : 1]))

#ifdef __cplusplus

template <class T> static inline pol_array *pol_arrays(T *bundle)
{
    static_assert(sizeof(T) % sizeof(pol_array) == 0, "a pol_array or a struct of them");
    return pol_arrays_(bundle, sizeof(T) / sizeof(pol_array));
}
template <class T> static inline const pol_array *pol_arrays(const T *bundle)
{
    static_assert(sizeof(T) % sizeof(pol_array) == 0, "a pol_array or a struct of them");
    return pol_const_arrays_(bundle, sizeof(T) / sizeof(pol_array));
}

#else

/* Beside a `void *`, a pointer in a conditional expression becomes one to void that is as const as
   it was. */
/* clang-format off */
/** Returns the arrays of a bundle, `pol_arrays(&weights)[i]`, pol_count_arrays() of them in the
    order of its members: a `pol_array *`, or a `const pol_array *` of a const bundle. Evaluates its
    argument once. **Lifetime**: the bundle's. */
#define pol_arrays(bundle)                                                                         \
    _Generic(1 ? (bundle) : (void *)1,                                                             \
        void *: pol_arrays_,                                                                       \
        const void *: pol_const_arrays_)((bundle), pol_count_arrays(bundle))
/* clang-format on */

#endif

/** @} */
#endif /* POL_PARTS_H */

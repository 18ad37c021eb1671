/* SPDX-License-Identifier: MIT */
#ifndef POL_SHADOW_H
#define POL_SHADOW_H

/**
 * @defgroup shadow Shadows
 * @brief A primal array with its gradient buffer.
 *
 * A backward kernel is handed each array together with the buffer its gradient goes to. The shadow
 * is overwritten, never accumulated into: sums over calls are the caller's. An absent shadow is a
 * constant: no gradient is asked for and none is written, so a kernel asks
 * `if (pol_is_array(pol_shadow(x)))`. A ::pol_shadowed is a bundle of two, so pol_alloc()
 * materializes it, and structs of them are bundles too. Outputs of a backward verb may be pairs:
 * `{.x = args->x}` passes the primal through, materializes a described shadow and leaves a constant
 * alone.
 * @{
 */

#include <pol/space.h>

POL_EXTERN_C_BEGIN_

/** An array and its gradient buffer, of the same shape; the gradient's type may be wider. */
typedef struct pol_shadowed {
    pol_array primal; /**< the values */
    pol_array shadow; /**< d(loss)/d(primal); absent: not wanted */
} pol_shadowed;

/** Pairs two arrays. */
static inline pol_shadowed pol_shadowed_of(pol_array x, pol_array dx)
{
    pol_shadowed pair;
    pair.primal = x;
    pair.shadow = dx;
    return pair;
}

/** Pairs `x` with the description of a shadow of x's shape with elements of `type`. pol_alloc()
    materializes it; an `x` that holds data passes through, borrowed. */
static inline pol_shadowed pol_shadowed_like(const pol_array *x, pol_type type)
{
    return pol_shadowed_of(*x, pol_undef_like_type(x, type));
}

/** Pairs `x` with an absent shadow: no gradient is asked for. */
static inline pol_shadowed pol_constant(pol_array x)
{
    const pol_array absent = {NULL, NULL, {0, 0, 0, 0, 0}, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
    return pol_shadowed_of(x, absent);
}

/* One function for each type of pointer that pol_primal and pol_shadow take. */
static inline pol_array *pol_primal_of_array_(pol_array *x)
{
    return x;
}
static inline const pol_array *pol_primal_of_carray_(const pol_array *x)
{
    return x;
}
static inline pol_array *pol_primal_of_pair_(pol_shadowed *x)
{
    return &x->primal;
}
static inline const pol_array *pol_primal_of_cpair_(const pol_shadowed *x)
{
    return &x->primal;
}
static inline pol_array *pol_shadow_of_array_(pol_array *x)
{
    return (void)x, (pol_array *)NULL;
}
static inline const pol_array *pol_shadow_of_carray_(const pol_array *x)
{
    return (void)x, (const pol_array *)NULL;
}
static inline pol_array *pol_shadow_of_pair_(pol_shadowed *x)
{
    return &x->shadow;
}
static inline const pol_array *pol_shadow_of_cpair_(const pol_shadowed *x)
{
    return &x->shadow;
}

POL_EXTERN_C_END_

#ifdef __cplusplus
static inline pol_array *pol_primal(pol_array *x)
{
    return x;
}
static inline const pol_array *pol_primal(const pol_array *x)
{
    return x;
}
static inline pol_array *pol_primal(pol_shadowed *x)
{
    return &x->primal;
}
static inline const pol_array *pol_primal(const pol_shadowed *x)
{
    return &x->primal;
}
static inline pol_array *pol_shadow(pol_array *)
{
    return nullptr;
}
static inline const pol_array *pol_shadow(const pol_array *)
{
    return nullptr;
}
static inline pol_array *pol_shadow(pol_shadowed *x)
{
    return &x->shadow;
}
static inline const pol_array *pol_shadow(const pol_shadowed *x)
{
    return &x->shadow;
}
#else
/* clang-format off */
#define POL_OF_PAIR_(what, x)                                                                      \
    _Generic((x),                                                                                  \
        pol_array *: pol_##what##_of_array_,                                                       \
        const pol_array *: pol_##what##_of_carray_,                                                \
        pol_shadowed *: pol_##what##_of_pair_,                                                     \
        const pol_shadowed *: pol_##what##_of_cpair_)(x)
/* clang-format on */
/** Returns the primal of a `pol_shadowed *`, or the bare `pol_array *` itself. */
#define pol_primal(x) POL_OF_PAIR_(primal, x)
/** Returns the shadow of a `pol_shadowed *`; NULL for a bare `pol_array *`. */
#define pol_shadow(x) POL_OF_PAIR_(shadow, x)
#endif

/** @} */
#endif /* POL_SHADOW_H */

/* SPDX-License-Identifier: MIT */
#ifndef POL_ANYSPACE_H
#define POL_ANYSPACE_H

/**
 * @addtogroup space
 *
 * What passes for a space in the macros that take one: a `pol_space *`, a `pol_arena *`, a
 * `pol_frame *`, or a literal NULL. #POL_SPACE turns each into a `pol_space *` and refuses
 * everything else at compile time.
 * @{
 */

#include <stddef.h>

#include <pol/attributes.h>

POL_EXTERN_C_BEGIN_

typedef struct pol_space pol_space;
typedef struct pol_arena pol_arena;
typedef struct pol_frame pol_frame;

static inline pol_space *pol_space_itself_(pol_space *space)
{
    return space;
}

static inline pol_space *pol_space_of_arena_(pol_arena *arena)
{
    return (pol_space *)(void *)arena;
}

static inline pol_space *pol_space_of_frame_(pol_frame *frame)
{
    return (pol_space *)(void *)frame;
}

static inline const pol_space *pol_const_space_(const void *space)
{
    return (const pol_space *)space;
}

struct pol_null_;

static inline pol_space *pol_space_null_(const void *null)
{
    (void)null;
    return NULL;
}

POL_EXTERN_C_END_

#ifdef __cplusplus

/* Which pointers pass. A literal NULL converts to nullptr_t alone, since templates deduce nothing
   from it. */
template <class T> struct pol_is_space_;
template <> struct pol_is_space_<pol_space> {
    typedef pol_space *type;
};
template <> struct pol_is_space_<pol_arena> {
    typedef pol_space *type;
};
template <> struct pol_is_space_<pol_frame> {
    typedef pol_space *type;
};
template <class T> static inline typename pol_is_space_<T>::type pol_space_of_(T *space)
{
    return reinterpret_cast<pol_space *>(space);
}
static inline pol_space *pol_space_of_(decltype(nullptr))
{
    return nullptr;
}
#define POL_SPACE(space) pol_space_of_(space)

/* For queries. */
template <class T> static inline typename pol_is_space_<T>::type pol_const_space_of_(const T *space)
{
    return reinterpret_cast<pol_space *>(const_cast<T *>(space));
}
static inline pol_space *pol_const_space_of_(decltype(nullptr))
{
    return nullptr;
}
#define POL_CONST_SPACE_(space) pol_const_space_of_(space)

#else

/* A literal NULL is a void pointer, yet no other void pointer may pass for a space: a conditional
   expression tells them apart, since only a null pointer constant takes the other arm's type. */
/* clang-format off */
#define POL_SPACE_KIND_(space)                                                                     \
    (1 ? (space) : _Generic((space), void *: (struct pol_null_ *)0, default: (space)))
/* clang-format on */

/** Returns `space`, a `pol_space *`, `pol_arena *`, `pol_frame *` or a literal NULL, as a
    `pol_space *`. Evaluates it once. Anything else does not compile. */
/* clang-format off */
#define POL_SPACE(space)                                                                           \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_space_itself_,                                                            \
        pol_arena *: pol_space_of_arena_,                                                          \
        pol_frame *: pol_space_of_frame_,                                                          \
        struct pol_null_ *: pol_space_null_)(space)

/* For queries, which take const. */
#define POL_CONST_SPACE_(space)                                                                    \
    _Generic(POL_SPACE_KIND_(space),                                                               \
        pol_space *: pol_const_space_,        const pol_space *: pol_const_space_,                 \
        pol_arena *: pol_const_space_,        const pol_arena *: pol_const_space_,                 \
        pol_frame *: pol_const_space_,        const pol_frame *: pol_const_space_,                 \
        struct pol_null_ *: pol_const_space_)(space)
/* clang-format on */

#endif

/** @} */
#endif /* POL_ANYSPACE_H */

/* SPDX-License-Identifier: MIT */
#ifndef POL_STATUS_H
#define POL_STATUS_H

/**
 * @defgroup status Errors
 * @brief A code by value, a text per thread.
 *
 * Every function that can fail returns a ::pol_status: 0 is success, failures are negative. Beside
 * the code, the thread keeps one text, pol_last_error(), that names the object, says what was
 * needed and what there is, both in bytes, and what to do about it. Writing the text takes no
 * heap, so running out of memory can be reported.
 *
 * A failing call changes nothing: not the space, not the ambient binding, not memory that anyone
 * owns. A destination holds the description that it was to hold, with no data. The library never
 * prints, exits or aborts; a misuse that no return value can carry goes to the thread's text and
 * to the handler set by pol_on_misuse().
 *
 * The text is valid until this thread's next failing call. Copy it to keep it.
 * @{
 */

#include <pol/attributes.h>

POL_EXTERN_C_BEGIN_

/** The outcome of a call: #POL_OK, or one of the negative codes below. */
typedef int pol_status;

/** The one table of codes: X(name, value, text). The enum, the names and the texts come from it. */
#define POL_STATUS_TABLE_(X)                                                                       \
    X(POL_OK, 0, "success")                                                                        \
    X(POL_EINVAL, -1, "an argument is not valid")                                                  \
    X(POL_EOVERFLOW, -2, "a size that no address space holds")                                     \
    X(POL_ECEILING, -3, "past the end of a slab")                                                  \
    X(POL_ENOMEM, -4, "the system refused memory")                                                 \
    X(POL_ENOAMBIENT, -5, "no space: none is bound, or NULL was given")                            \
    X(POL_ESTALE, -6, "a mark that no longer stands")                                              \
    X(POL_EORDER, -7, "not the innermost frame, or a frame is open")                               \
    X(POL_ECAPTURE, -8, "an owning space was asked while its device records a graph")              \
    X(POL_ECORRUPT, -9, "a kernel wrote outside its buffer")                                       \
    X(POL_ETHREAD, -10, "the object belongs to another thread")                                    \
    X(POL_ENOTSUP, -11, "not supported on this system")                                            \
    X(POL_EUSER, -12, "a kernel of the program failed")

#define POL_STATUS_ENUM_(name, value, text) name = value, /**< text */
/** The status codes. #POL_EUSER is never returned by the library: it is for kernels. */
enum pol_status_code { POL_STATUS_TABLE_(POL_STATUS_ENUM_) POL_STATUS_END_ = 1 };
#undef POL_STATUS_ENUM_

/** Returns the code's own spelling, `"POL_ECEILING"`; `"POL_E?"` for a number that is no code.
    Never NULL. **Lifetime**: static. **Threads**: any. */
POL_API const char *pol_status_name(pol_status status);

/** Returns what the code means, in one phrase. Never NULL. **Lifetime**: static.
    **Threads**: any. */
POL_API const char *pol_status_text(pol_status status);

/** Returns this thread's text of its last failure; `""` if there was none. Never NULL.
    **Lifetime**: valid until this thread's next failing call. **Threads**: each has its own. */
POL_API const char *pol_last_error(void);

/**
 * Records a failure of the caller's own and returns `status`: for spaces and kernels outside the
 * library, which end with `return pol_fail(POL_EUSER, "conv: stride %d", stride);`.
 *
 * The text is cut at 255 bytes. Takes no heap. The arguments may include pol_last_error(), which is
 * read before it is replaced: `return pol_fail(status, "%s: %s", path, pol_last_error());`.
 *
 * @param format as printf has it, no newline.
 */
POL_API POL_COLD POL_PRINTF(2, 3) pol_status pol_fail(pol_status status, const char *format, ...);

/** What a program may be told of: `text` is valid during the call alone. It must not jump out. */
typedef void (*pol_misuse_fn)(pol_status status, const char *text, void *ctx);

/**
 * Sets the handler of misuse that no return value can carry, and returns the one before.
 *
 * It is called on the thread that did it, after the fact was written to pol_last_error(): a frame
 * that a scope's end closed out of order, an end without its begin, damage that a space found there
 * or while another failure is on its way. NULL, the default, is no handler. Process-wide.
 * **Threads**: any; a call already on its way uses the one or the other.
 */
POL_API pol_misuse_fn pol_on_misuse(pol_misuse_fn fn, void *ctx);

/** Returns the status of `expr` from the enclosing function if it failed; evaluates it once.
    Open frames and bindings of the block close on the way where #POL_HAS_CLEANUP is 1. */
#define POL_TRY(expr)                                                                              \
    do {                                                                                           \
        const pol_status pol_try_status_ = (expr);                                                 \
        if (pol_try_status_ != POL_OK)                                                             \
            return pol_try_status_;                                                                \
    } while (0)

POL_EXTERN_C_END_

/** @} */
#endif /* POL_STATUS_H */

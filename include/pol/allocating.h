/* SPDX-License-Identifier: MIT */
#ifndef POL_ALLOCATING_H
#define POL_ALLOCATING_H

/**
 * @defgroup allocating Verbs
 * @brief Kernels that write into buffers they are given, and the form that allocates them.
 *
 * A verb `V` is a kernel `pol_status V(outputs, args[, scratch])`. Up to three functions say what
 * it needs, each pure, from `const struct V_args *` to a bundle of descriptions; one that `V` does
 * not need is not written:
 *
 *     struct V_outputs     V_outputs(const struct V_args *);      what the caller keeps
 *     struct V_checkpoints V_checkpoints(const struct V_args *);  what forward saves for backward
 *     struct V_scratch     V_scratch(const struct V_args *);      what dies with the call
 *
 * Checkpoints travel in the arguments: forward is given `args.saved`, materialized by
 * `pol_checkpoints(arena, V, &args, &args.saved)`, and absent where nobody will go backward.
 *
 * The one-step forms materialize one of the three. `POL_ALLOCATING(V, outputs, scratch)` writes the
 * shell around the verb: pol_call() takes a space in place of the outputs, and `V_verb` serves
 * callers that know verbs only at run time.
 *
 * In a macro's arguments a compound literal needs parentheses of its own, so arguments are best
 * named first. In C++, g++ -Wshadow remarks on the name that a struct shares with its function.
 *
 * On a measuring arena pol_call() does everything but run a leaf verb, so the dry run of a program
 * is the program: run once on pol_arena_measure(), it gives the slab size for the real run. A body
 * that calls leaves on other spaces, or a space of one's own over a measuring arena, must itself
 * step aside: pol_is_measuring() knows arenas, pol_similar() of their arrays, and frames on both.
 * @{
 */

#include <pol/scratchspace.h>

POL_EXTERN_C_BEGIN_

enum pol_verb_kind_ { POL_VERB_OUTPUTS_, POL_VERB_SCRATCH_, POL_VERB_SPACE_ };

/** A verb for callers that only know it at run time; POL_ALLOCATING() makes it, as `V_verb`. */
typedef struct pol_verb {
    const char *name; /**< "V" */
    size_t noutputs;  /**< how many arrays its outputs are */
    enum pol_verb_kind_ kind_;
    void (*outputs_)(const void *args, pol_array *out);
    pol_status (*run_)(const pol_array *out, const void *args, pol_frame *frame);
    pol_status (*dry_)(const struct pol_verb *verb, pol_space *space, const void *args);
} pol_verb;

/** What a call of a verb needs, in bytes. */
typedef struct pol_verb_sizes {
    size_t outputs; /**< of its outputs, padding between them included */
    size_t scratch; /**< the most that is in use beyond them while it runs */
    size_t total;   /**< the slab that is enough at any base address: pol_arena_budget() of a dry
                         run, outputs + scratch + alignment - 1 as a rule */
} pol_verb_sizes;

/**
 * Calls a verb: describes its outputs, materializes them in `space`, and runs it; if it takes
 * scratch or a space, in a frame opened on `space` after that. On a measuring arena a leaf verb is
 * not run; a verb that takes a space is.
 *
 * @param out `verb->noutputs` arrays; written, never read, so they may not be part of the
 * arguments. **Lifetime** of the outputs: the space's, which may be a frame. **Errors**:
 * #POL_EINVAL: a NULL argument; pol_alloc()'s; the verb's own status; else pol_frame_end()'s, if
 * the verb left a frame open or a space's `retract` found damage. On failure a space that can take
 * back is as it was, and `out` holds descriptions; what they pass through keeps its data, borrowed.
 */
POL_API POL_NODISCARD pol_status pol_verb_call(const pol_verb *verb, pol_space *space,
                                               const void *args, pol_array *out);

/** Like pol_verb_call(), with outputs of the caller's: entries of `override` that hold data are
    used as they are, borrowed, and never allocated, to run in place for example. **Errors**: also
    #POL_EINVAL: an entry's type or shape is not the described one, or `override` overlaps `out`.
    NULL overrides nothing. */
POL_API POL_NODISCARD pol_status pol_verb_call_into(const pol_verb *verb, pol_space *space,
                                                    const void *args, pol_array *out,
                                                    const pol_array *override);

/* What both reduce to. `all_given`: an output that is described and not given is refused. */
POL_API POL_NODISCARD pol_status pol_verb_call_(const pol_verb *verb, pol_space *space,
                                                const void *args, pol_array *out,
                                                const pol_array *override, bool all_given);

/** Computes what a call needs on an arena of `alignment` (0 means 256), without memory. **Errors**:
    #POL_EINVAL: a NULL argument, an alignment that is no power of two, an invalid description;
    #POL_EOVERFLOW; what a verb that takes a space returns. On failure `*sizes` is unchanged. */
POL_API POL_NODISCARD pol_status pol_verb_nbytes(const pol_verb *verb, const void *args,
                                                 size_t alignment, pol_verb_sizes *sizes);

static inline pol_frame *pol_only_frame_(pol_frame *frame)
{
    return frame;
}

POL_EXTERN_C_END_

#ifdef __cplusplus
#define POL_ARGS_(V, args) (args)
#define POL_ONLY_FRAME_(frame) pol_only_frame_(frame)
#else
/* clang-format off */
#define POL_ARGS_(V, args)                                                                         \
    _Generic((args), struct V##_args *: (args), const struct V##_args *: (args))
#define POL_ONLY_FRAME_(frame) _Generic((frame), pol_frame *: pol_only_frame_)(frame)
/* clang-format on */
#endif

/** Materializes V's outputs in `space`: `pol_alloc(space, out, V_outputs(args))`. */
#define pol_outputs(space, V, args, out) pol_alloc(space, out, V##_outputs(POL_ARGS_(V, args)))

/** Materializes V's checkpoints in `space`, where they outlive the call and bridge to backward. */
#define pol_checkpoints(space, V, args, saved)                                                     \
    pol_alloc(space, saved, V##_checkpoints(POL_ARGS_(V, args)))

/** Materializes V's scratch in `frame`, a `pol_frame *` and nothing else: scratch from a space that
    nothing takes back does not compile. */
#define pol_scratch(frame, V, args, s)                                                             \
    pol_alloc(POL_ONLY_FRAME_(frame), s, V##_scratch(POL_ARGS_(V, args)))

/** Calls a verb with a space in place of its outputs, as pol_verb_call(), typed:
    `pol_call(V, space, &args, &out)`. Needs POL_ALLOCATING() of V in sight. */
#define pol_call(V, space, args, out) V##_call_(POL_SPACE(space), POL_ARGS_(V, args), (out))

/** Calls a verb with outputs of the caller's where `override`, a `struct V_outputs`, holds data, as
    pol_verb_call_into(): `pol_call_into(V, space, &args, &out, override)`. `out` may be NULL if
    every output is given: then the space gives scratch at most, and an output that is described
    and not given is #POL_EINVAL. */
#define pol_call_into(V, space, args, out, ...)                                                    \
    V##_call_into_(POL_SPACE(space), POL_ARGS_(V, args), (out), (__VA_ARGS__))

/**
 * Writes the allocating form of a verb, at file scope, in one of three shapes:
 *
 *     POL_ALLOCATING(V, outputs);            V(const outputs *, const args *)
 *     POL_ALLOCATING(V, outputs, scratch);   V(const outputs *, const args *, const scratch *)
 *     POL_ALLOCATING(V, outputs, space);     V(const outputs *, const args *, pol_frame *)
 *
 * It defines what pol_call() and pol_call_into() call and the object `V_verb`, all of them static,
 * so it may stand in a header.
 */
#define POL_ALLOCATING(...)                                                                        \
    POL_ALLOCATING_PICK_(__VA_ARGS__, POL_ALLOCATING_3_, POL_ALLOCATING_2_, 0)(__VA_ARGS__)
#define POL_ALLOCATING_PICK_(a, b, c, name, ...) name
#define POL_ALLOCATING_2_(V, what) POL_ALLOCATING_##what##_(V)
#define POL_ALLOCATING_3_(V, what, with) POL_ALLOCATING_##what##_##with##_(V)

#define POL_ALLOCATING_outputs_(V)                                                                 \
    static inline pol_status V##_run_(const pol_array *pol_out_, const void *pol_args_,            \
                                      pol_frame *pol_frame_)                                       \
    {                                                                                              \
        (void)pol_frame_;                                                                          \
        return V((const struct V##_outputs *)(const void *)pol_out_,                               \
                 (const struct V##_args *)pol_args_);                                              \
    }                                                                                              \
    POL_ALLOCATING_FORMS_(V, POL_VERB_OUTPUTS_)

#define POL_ALLOCATING_outputs_scratch_(V)                                                         \
    static inline pol_status V##_run_(const pol_array *pol_out_, const void *pol_args_,            \
                                      pol_frame *pol_frame_)                                       \
    {                                                                                              \
        struct V##_scratch pol_scratch_;                                                           \
        POL_TRY(pol_alloc(pol_frame_, &pol_scratch_,                                               \
                          V##_scratch((const struct V##_args *)pol_args_)));                       \
        if (pol_is_measuring(pol_frame_))                                                          \
            return POL_OK;                                                                         \
        return V((const struct V##_outputs *)(const void *)pol_out_,                               \
                 (const struct V##_args *)pol_args_, &pol_scratch_);                               \
    }                                                                                              \
    POL_ALLOCATING_FORMS_(V, POL_VERB_SCRATCH_)

#define POL_ALLOCATING_outputs_space_(V)                                                           \
    static inline pol_status V##_run_(const pol_array *pol_out_, const void *pol_args_,            \
                                      pol_frame *pol_frame_)                                       \
    {                                                                                              \
        return V((const struct V##_outputs *)(const void *)pol_out_,                               \
                 (const struct V##_args *)pol_args_, pol_frame_);                                  \
    }                                                                                              \
    POL_ALLOCATING_FORMS_(V, POL_VERB_SPACE_)

#define POL_ALLOCATING_FORMS_(V, kind)                                                             \
    static inline void V##_describe_outputs_(const void *pol_args_, pol_array *pol_out_)           \
    {                                                                                              \
        *(struct V##_outputs *)(void *)pol_out_ = V##_outputs((const struct V##_args *)pol_args_); \
    }                                                                                              \
    static inline pol_status V##_dry_(const pol_verb *pol_verb_, pol_space *pol_space_,            \
                                      const void *pol_args_)                                       \
    {                                                                                              \
        struct V##_outputs pol_out_;                                                               \
        return pol_verb_call(pol_verb_, pol_space_, pol_args_, (pol_array *)(void *)&pol_out_);    \
    }                                                                                              \
    POL_UNUSED_ static const pol_verb V##_verb = {                                                 \
        #V,       sizeof(struct V##_outputs) / sizeof(pol_array),                                  \
        kind,     V##_describe_outputs_,                                                           \
        V##_run_, V##_dry_};                                                                       \
    POL_NODISCARD POL_UNUSED_ static inline pol_status V##_call_(                                  \
        pol_space *pol_space_, const struct V##_args *pol_args_, struct V##_outputs *pol_out_)     \
    {                                                                                              \
        return pol_verb_call(&V##_verb, pol_space_, pol_args_, (pol_array *)(void *)pol_out_);     \
    }                                                                                              \
    POL_NODISCARD POL_UNUSED_ static inline pol_status V##_call_into_(                             \
        pol_space *pol_space_, const struct V##_args *pol_args_, struct V##_outputs *pol_out_,     \
        const struct V##_outputs pol_override_)                                                    \
    {                                                                                              \
        struct V##_outputs pol_own_;                                                               \
        return pol_verb_call_(&V##_verb, pol_space_, pol_args_,                                    \
                              (pol_array *)(void *)(pol_out_ ? pol_out_ : &pol_own_),              \
                              (const pol_array *)(const void *)&pol_override_, !pol_out_);         \
    }                                                                                              \
    POL_STATIC_ASSERT_(sizeof(struct V##_outputs) % sizeof(pol_array) == 0,                        \
                       #V "_outputs is a struct of pol_array")

/** @cond */
#define pol_verb_call(verb, space, args, out) pol_verb_call((verb), POL_SPACE(space), (args), (out))
#define pol_verb_call_into(verb, space, args, out, override)                                       \
    pol_verb_call_into((verb), POL_SPACE(space), (args), (out), (override))
/** @endcond */

/** @} */
#endif /* POL_ALLOCATING_H */

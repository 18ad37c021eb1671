/* SPDX-License-Identifier: MIT */

/*
 * The shell around a verb, written once for all of them.
 *
 * Outputs are placed before the frame opens, so they outlive it. Whatever fails after that, the
 * space goes back to where it was when the call began, and the outputs are described anew: the
 * description is a pure function of the arguments, so saying it twice says the same.
 */

#include "internal.h"

static pol_status check_call(const pol_verb *verb, const void *args, const void *result,
                             const char *result_name)
{
    if (!verb)
        return pol_fail(POL_EINVAL, "pol_verb: the verb is NULL");
    if (!args || !result)
        return pol_fail(POL_EINVAL, "verb %s: the %s are NULL", verb->name,
                        args ? result_name : "arguments");
    return POL_OK;
}

/* Describes the outputs; what comes with data is borrowed. */
static void describe(const pol_verb *verb, const void *args, pol_array *out)
{
    verb->outputs_(args, out);
    (void)pol_borrow_(out, verb->noutputs);
}

static POL_COLD pol_status refuse_override(const pol_verb *verb, size_t i, const pol_array *wanted,
                                           const pol_array *given)
{
    char want[POL_DESCRIBE_MAX_];
    char have[POL_DESCRIBE_MAX_];
    return pol_fail(POL_EINVAL,
                    "verb %s: output %zu is %s, the given one is %s; they must be the same",
                    verb->name, i, pol_describe_(want, wanted), pol_describe_(have, given));
}

/* Puts the override's entries that hold data in place of the descriptions that they match. */
static pol_status override_outputs(const pol_verb *verb, pol_array *out, const pol_array *override)
{
    for (size_t i = 0; i < verb->noutputs; i++) {
        if (!override[i].data)
            continue;
        if (!pol_undef_equal(&out[i], &override[i]))
            return refuse_override(verb, i, &out[i], &override[i]);
        out[i] = override[i];
        out[i].flags &= (uint16_t)~POL_FLAG_OWNED_;
    }
    return POL_OK;
}

/* A verb without a frame of its own may leave one open all the same, by a C++ exception too. */
typedef struct before {
    pol_level *level;
    pol_space *ambient;
} before;

/* As the end of a frame outside them would. */
static pol_status close_above(const before *b, unsigned *left)
{
    pol_thread *const t = pol_thread_self_();
    *left = 0;
    if (t->here.level == b->level)
        return POL_OK;
    t->here.ambient = b->ambient;
    return pol_levels_close_above_(t, b->level, left);
}

/* On the way out of a failure, whose text stays. */
static void close_what_is_left(before *b)
{
    pol_kept_text kept;
    unsigned left;
    if (pol_thread_self_()->here.level == b->level)
        return;
    pol_text_keep_(&kept);
    pol_text_restore_(&kept, close_above(b, &left));
}

static pol_status run_unframed(const pol_verb *verb, const void *args, const pol_array *out)
{
    const pol_thread *const t = pol_thread_self_();
    before b POL_CLEANUP_(close_what_is_left) = {t->here.level, t->here.ambient};
    unsigned left;
    const pol_status status = verb->run_(out, args, NULL);
    if (status != POL_OK) {
        close_what_is_left(&b);
        return status;
    }
    POL_TRY(close_above(&b, &left));
    if (left != 0)
        return pol_fail(POL_EORDER,
                        "verb %s: left %u frames open, which have been closed; end them",
                        verb->name, left);
    return POL_OK;
}

static pol_status run(const pol_verb *verb, pol_space *space, const void *args,
                      const pol_array *out)
{
    if (verb->kind_ == POL_VERB_OUTPUTS_)
        return pol_is_measuring(space) ? POL_OK : run_unframed(verb, args, out);
    pol_frame frame POL_CLEANUP_(pol_frame_unwind_);
    pol_frame_begin_any_(&frame, space);
    const pol_status status = verb->run_(out, args, &frame);
    if (status == POL_OK)
        return pol_frame_end_any_(&frame);
    pol_frame_unwind_(&frame); /* the verb's text stays */
    return status;
}

/* Runs the verb, and sees to it that a failure has a text. */
static pol_status run_told(const pol_verb *verb, pol_space *space, const void *args,
                           const pol_array *out)
{
    const pol_thread *const t = pol_thread_self_();
    const uint32_t failures = t->failures;
    const pol_status status = run(verb, space, args, out);
    if (status != POL_OK && t->failures == failures)
        pol_fail(status, "verb %s: returned %s (%s)", verb->name, pol_status_name(status),
                 pol_status_text(status));
    return status;
}

/* A call under way: what takes it back if it fails or a C++ exception passes. */
typedef struct call {
    const pol_verb *verb;
    pol_space *space;
    const void *args;
    pol_array *out;
    bool placed; /* the outputs have their memory */
    pol_undo undo;
} call;

static void take_back(call *c)
{
    if (!c->placed)
        return;
    pol_undo_all_(&c->undo, c->space, c->out, c->verb->noutputs, POL_FLAG_OWNED_);
    describe(c->verb, c->args, c->out);
    c->placed = false;
}

static bool overlap(const pol_array *x, const pol_array *y, size_t count)
{
    return (uintptr_t)x < (uintptr_t)(y + count) && (uintptr_t)y < (uintptr_t)(x + count);
}

static POL_COLD pol_status refuse_missing(const pol_verb *verb, size_t i, const pol_array *wanted)
{
    char want[POL_DESCRIBE_MAX_];
    return pol_fail(POL_EINVAL,
                    "verb %s: output %zu, %s, is not given, and the outputs are NULL; give it, or "
                    "say where the outputs go",
                    verb->name, i, pol_describe_(want, wanted));
}

/* Refuses an output that would have to be allocated. */
static pol_status check_all_given(const pol_verb *verb, const pol_array *out)
{
    for (size_t i = 0; i < verb->noutputs; i++)
        if (pol_is_undef(&out[i]))
            return refuse_missing(verb, i, &out[i]);
    return POL_OK;
}

static pol_status call_verb(const pol_verb *verb, pol_space *space, const void *args,
                            pol_array *out, const pol_array *override, bool all_given)
{
    call c POL_CLEANUP_(take_back);
    c.verb = verb;
    c.space = space;
    c.args = args;
    c.out = out;
    c.placed = false;
    POL_TRY(check_call(verb, args, out, "outputs"));
    if (override && overlap(out, override, verb->noutputs))
        return pol_fail(POL_EINVAL, "verb %s: the override lies where the outputs go; give a copy",
                        verb->name);
    describe(verb, args, out);
    POL_TRY(pol_space_check_(space));
    pol_undo_begin_(&c.undo, space);
    pol_status status = override ? override_outputs(verb, out, override) : POL_OK;
    if (status == POL_OK && all_given)
        status = check_all_given(verb, out);
    if (status == POL_OK)
        status = pol_alloc_any_(space, out, verb->noutputs);
    if (status != POL_OK) {
        describe(verb, args, out);
        return status;
    }
    c.placed = true;
    status = run_told(verb, space, args, out);
    if (status != POL_OK)
        take_back(&c);
    c.placed = false;
    return status;
}

pol_status pol_verb_call_(const pol_verb *verb, pol_space *space, const void *args, pol_array *out,
                          const pol_array *override, bool all_given)
{
    return call_verb(verb, space, args, out, override, all_given);
}

pol_status(pol_verb_call)(const pol_verb *verb, pol_space *space, const void *args, pol_array *out)
{
    return call_verb(verb, space, args, out, NULL, false);
}

pol_status(pol_verb_call_into)(const pol_verb *verb, pol_space *space, const void *args,
                               pol_array *out, const pol_array *override)
{
    return call_verb(verb, space, args, out, override, false);
}

pol_status pol_verb_nbytes(const pol_verb *verb, const void *args, size_t alignment,
                           pol_verb_sizes *sizes)
{
    pol_arena measure;
    POL_TRY(check_call(verb, args, sizes, "sizes"));
    POL_TRY(pol_arena_measure(&measure, alignment));
    POL_TRY(verb->dry_(verb, &measure.space, args));
    sizes->outputs = pol_arena_offset(&measure);
    sizes->scratch = pol_watermark(&measure) - sizes->outputs;
    sizes->total = pol_arena_budget(&measure);
    return POL_OK;
}

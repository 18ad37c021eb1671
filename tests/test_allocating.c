/* SPDX-License-Identifier: MIT */

/* Verbs and their allocating forms: rules V1 to V7. Whole programs of them, V8, are in
   test_program.c. */

#include "support.h"

static const pol_array absent = {0};
static struct test_space counting;
static struct test_marking marking;
static pol_arena arena;

/* -- the verbs -------------------------------------------------------------------------------- */

/* What a kernel saw, and what it shall answer. */
static struct {
    int runs;
    pol_status answer;
    pol_space *ambient;
    size_t live, used;
} saw;

static pol_status seen(void)
{
    saw.runs++;
    saw.ambient = pol_ambientspace_or(NULL);
    saw.live = counting.live;
    saw.used = marking.used;
    return saw.answer == POL_OK ? POL_OK : pol_fail(saw.answer, "kernel: told to fail");
}

/* twice: y = 2 x. Outputs alone, and checkpoints for a backward that is not here. */
struct twice_args {
    pol_array x;
};
struct twice_outputs {
    pol_array y;
};
struct twice_checkpoints {
    pol_array saved, signs;
};
static struct twice_outputs twice_outputs(const struct twice_args *a)
{
    return (struct twice_outputs){pol_undef_like(&a->x)};
}
static struct twice_checkpoints twice_checkpoints(const struct twice_args *a)
{
    return (struct twice_checkpoints){pol_undef_like(&a->x), pol_undef_like_type(&a->x, POL_I8)};
}
static pol_status twice(const struct twice_outputs *out, const struct twice_args *a)
{
    POL_TRY(seen());
    const float *x = pol_data(&a->x, float);
    float *y = pol_data(&out->y, float);
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        y[i] = 2 * x[i];
    return POL_OK;
}
POL_ALLOCATING(twice, outputs);

/* stats: the running sums of x and their total, through two buffers of scratch. */
struct stats_args {
    pol_array x;
    int64_t nbytes; /* of scratch beside the sums */
};
struct stats_outputs {
    pol_array sums, total;
};
struct stats_scratch {
    pol_array bytes, wide;
};
static struct stats_outputs stats_outputs(const struct stats_args *a)
{
    return (struct stats_outputs){pol_undef_like(&a->x), pol_undef_scalar(POL_F32)};
}
static struct stats_scratch stats_scratch(const struct stats_args *a)
{
    return (struct stats_scratch){pol_undef(POL_U8, a->nbytes),
                                  pol_undef_like_type(&a->x, POL_F64)};
}
static pol_status stats(const struct stats_outputs *out, const struct stats_args *a,
                        const struct stats_scratch *s)
{
    POL_TRY(seen());
    const float *x = pol_data(&a->x, float);
    double *wide = pol_data(&s->wide, double), sum = 0;
    test_fill(&s->bytes, 0xEE);
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        wide[i] = sum += (double)x[i];
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        pol_data(&out->sums, float)[i] = (float)wide[i];
    *pol_data(&out->total, float) = (float)sum;
    return POL_OK;
}
POL_ALLOCATING(stats, outputs, scratch);

/* both: the sums of 2 x. A verb of verbs; `rude` leaves a frame open, `elsewhere` is a space that
   it tries to return something more in. */
struct both_args {
    pol_array x;
    bool rude;
    pol_space *elsewhere;
};
struct both_outputs {
    pol_array sums;
};
static struct both_outputs both_outputs(const struct both_args *a)
{
    return (struct both_outputs){pol_undef_like(&a->x)};
}
static pol_status both_more;
static pol_array both_found;
static pol_status both(const struct both_outputs *out, const struct both_args *a, pol_frame *frame)
{
    POL_TRY(seen());
    struct twice_outputs doubled;
    struct stats_outputs stats_out;
    POL_TRY(pol_call(twice, frame, &(struct twice_args){a->x}, &doubled));
    if (a->elsewhere)
        both_more = pol_alloc(a->elsewhere, &both_found, pol_undef(POL_U8, 16));
    POL_TRY(pol_call(stats, frame, (&(struct stats_args){doubled.y, 5}), &stats_out));
    if (!pol_is_measuring(frame))
        memcpy(out->sums.data, stats_out.sums.data, test_nbytes(&out->sums));
    if (a->rude) {
        static pol_frame left;
        pol_array tmp;
        pol_frame_begin(&left, frame);
        POL_TRY(pol_alloc(&left, &tmp, pol_undef(POL_U8, 3)));
    }
    return POL_OK;
}
POL_ALLOCATING(both, outputs, space);

static float values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static pol_array x10(void)
{
    return pol_wrap(values, POL_F32, 10);
}
static struct twice_args twice_in(void)
{
    return (struct twice_args){x10()};
}
static struct stats_args stats_in(void)
{
    return (struct stats_args){x10(), 5};
}
static struct both_args both_in(void)
{
    return (struct both_args){x10(), false, NULL};
}

static int fresh(void **state)
{
    (void)state;
    memset(&saw, 0, sizeof saw);
    memset(&both_found, 0, sizeof both_found);
    test_space_init(&counting);
    test_marking_init(&marking);
    for (size_t i = 0; i < 10; i++)
        values[i] = (float)(i + 1);
    assert_ok(pol_arena_init(&arena, test_slab(0), 8192, 64));
    return 0;
}

static void assert_twice(const struct twice_outputs *out)
{
    for (size_t i = 0; i < 10; i++)
        assert_true(pol_data(&out->y, float)[i] == 2 * (float)(i + 1));
}

/* -- V1, V2 ----------------------------------------------------------------------------------- */

/* V2: pol_alloc(space, out, V_outputs(args)), in the caller's space. */
static void outputs_materializes_what_the_verb_describes(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs out;
    memset(&out, 0xA5, sizeof out);
    assert_ok(pol_outputs(&arena, stats, &args, &out));
    assert_true(pol_undef_equal(&out.sums, &args.x));
    assert_int_equal(out.total.ndim, 0);
    assert_int_equal(pol_arena_offset(&arena), 64 + 4);
    assert_int_equal(saw.runs, 0);
}

/* V2: checkpoints outlive the call and the frame it ran in. */
static void checkpoints_outlive_the_frame_of_the_call(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    struct twice_checkpoints saved;
    assert_ok(pol_checkpoints(&arena, twice, &args, &saved));
    test_fill(&saved.saved, 7);
    assert_int_equal(saved.signs.type.size, 1);
    POL_SCRATCHSPACE(frame, &arena) {
        struct twice_outputs out;
        assert_ok(pol_outputs(frame, twice, &args, &out));
        test_fill(&out.y, 1);
    }
    assert_true(test_holds(&saved.saved, 7));
}

/* V2: scratch dies with its frame. */
static void scratch_dies_with_its_frame(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    const size_t before = pol_arena_offset(&arena);
    POL_SCRATCHSPACE(frame, &arena) {
        struct stats_scratch s;
        assert_ok(pol_scratch(frame, stats, &args, &s));
        assert_int_equal(test_nbytes(&s.bytes), 5);
        assert_int_equal(test_nbytes(&s.wide), 80);
    }
    assert_int_equal(pol_arena_offset(&arena), before);
}

/* E3 for the one-step forms. */
static void one_step_forms_are_all_or_nothing(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    const struct twice_args twice_args = twice_in();
    struct stats_outputs out;
    struct twice_checkpoints saved;
    struct stats_scratch s;
    const struct stats_outputs want_out = stats_outputs(&args);
    const struct twice_checkpoints want_saved = twice_checkpoints(&twice_args);
    const struct stats_scratch want_s = stats_scratch(&args);
    for (size_t k = 1; k <= 2; k++) {
        const struct test_state before = test_state_of(NULL, &counting);
        test_space_fail(&counting, k, true);
        assert_status(pol_outputs(&counting.space, stats, &args, &out), POL_ENOMEM);
        test_space_fail(&counting, k, true);
        assert_status(pol_checkpoints(&counting.space, twice, &twice_args, &saved), POL_ENOMEM);
        POL_SCRATCHSPACE(frame, &counting.space) {
            test_space_fail(&counting, k, true);
            assert_status(pol_scratch(frame, stats, &args, &s), POL_ENOMEM);
        }
        test_assert_unchanged(&before, NULL, &counting);
        assert_memory_equal(&out, &want_out, sizeof out);
        assert_memory_equal(&saved, &want_saved, sizeof saved);
        assert_memory_equal(&s, &want_s, sizeof s);
    }
    test_space_assert_reverse(&counting);
}

/* -- V3, V4 ----------------------------------------------------------------------------------- */

/* V3: the typed call and the run-time one are the same, in each of the three forms. */
static void the_three_forms_compute_the_same_by_both_calls(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    for (size_t i = 0; i < 3; i++) {
        struct twice_outputs t[2];
        struct stats_outputs s[2];
        struct both_outputs b[2];
        POL_SCRATCHSPACE(frame, spaces[i]) {
            assert_ok(pol_call(twice, frame, &ta, &t[0]));
            assert_ok(pol_verb_call(&twice_verb, frame, &ta, &t[1].y));
            assert_ok(pol_call(stats, frame, &sa, &s[0]));
            assert_ok(pol_verb_call(&stats_verb, frame, &sa, &s[1].sums));
            assert_ok(pol_call(both, frame, &ba, &b[0]));
            assert_ok(pol_verb_call(&both_verb, frame, &ba, &b[1].sums));
            for (int j = 0; j < 2; j++) {
                assert_twice(&t[j]);
                assert_true(pol_data(&s[j].sums, float)[3] == 10);
                assert_true(*pol_data(&s[j].total, float) == 55);
                assert_true(pol_data(&b[j].sums, float)[9] == 110);
            }
        }
    }
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_int_equal(marking.used, 0);
    test_space_assert_clean(&counting);
}

/* V3 */
static void the_verb_object_tells_its_name_and_how_many_outputs(void **state)
{
    (void)state;
    assert_string_equal(twice_verb.name, "twice");
    assert_string_equal(stats_verb.name, "stats");
    assert_int_equal(twice_verb.noutputs, 1);
    assert_int_equal(stats_verb.noutputs, 2);
    assert_int_equal(both_verb.noutputs, 1);
}

/* V3: const and non-const arguments alike. */
static void arguments_may_be_const_or_not(void **state)
{
    (void)state;
    struct twice_args args = twice_in();
    const struct twice_args *const same = &args;
    struct twice_outputs out;
    assert_ok(pol_call(twice, &arena, &args, &out));
    assert_ok(pol_call(twice, &arena, same, &out));
    assert_ok(pol_outputs(&arena, twice, same, &out));
}

/* V4: outputs come first and outlive the frame, which takes back all else. */
static void outputs_lie_before_the_frame_and_outlive_it(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs out;
    assert_ok(pol_call(stats, &arena, &args, &out));
    assert_ptr_equal(out.sums.data, test_slab(0));
    assert_ptr_equal(out.total.data, test_slab(64));
    assert_int_equal(pol_arena_offset(&arena), 68);
    assert_int_equal(pol_watermark(&arena), 192 + 80);

    struct stats_outputs owned;
    assert_ok(pol_call(stats, &counting.space, &args, &owned));
    static const char what[] = "aaaarr";
    assert_int_equal(counting.nlog, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(counting.log[i].what, what[i]);
    test_space_assert_reverse(&counting);
    assert_int_equal(saw.live, 4);
    assert_ptr_equal(counting.log[0].data, owned.sums.data);
    pol_release(&owned.total);
    pol_release(&owned.sums);
    test_space_assert_clean(&counting);
}

/* V4: a frame opens only if the verb takes scratch or space. */
static void a_frame_opens_only_for_scratch_and_space(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    struct twice_outputs t;
    struct stats_outputs s;
    struct both_outputs b;
    POL_WITHSPACE(pol_pages()) {
        assert_ok(pol_call(twice, &arena, &ta, &t));
        assert_ptr_equal(saw.ambient, pol_pages());
        assert_ok(pol_call(stats, &arena, &sa, &s));
        assert_ptr_not_equal(saw.ambient, pol_pages());
        assert_ptr_not_equal(saw.ambient, &arena.space);
        assert_non_null(saw.ambient);
        saw.answer = POL_EUSER; /* before it calls others */
        assert_status(pol_call(both, &arena, &ba, &b), POL_EUSER);
        assert_ptr_not_equal(saw.ambient, pol_pages());
        assert_ptr_not_equal(saw.ambient, &arena.space);
        assert_ptr_equal(pol_ambientspace(), pol_pages());
    }
}

/* V4 */
static void out_is_written_and_never_read(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs zero, ones, data;
    float decoy[10];
    memset(&zero, 0, sizeof zero);
    memset(&ones, 0xFF, sizeof ones);
    data.sums = pol_wrap(decoy, POL_F32, 10);
    data.total = pol_wrap(decoy, POL_F32, 10);
    struct stats_outputs *const outs[] = {&zero, &ones, &data};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(pol_reset(&arena));
        assert_ok(pol_call(stats, &arena, &args, outs[i]));
        assert_ptr_equal(outs[i]->sums.data, test_slab(0));
        assert_ptr_equal(outs[i]->total.data, test_slab(64));
    }
}

/* V4, trap 22: the caller's innermost frame receives the result. */
static void the_innermost_frame_receives_a_result_that_survives(void **state)
{
    (void)state;
    const struct both_args args = both_in();
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    for (size_t i = 0; i < 3; i++) {
        POL_SCRATCHSPACE(r, spaces[i]) {
            struct both_outputs out;
            pol_array more;
            assert_ok(pol_call(both, r, &args, &out));
            assert_ok(pol_alloc(r, &more, pol_undef(POL_U8, 500)));
            assert_false(test_overlap(&more, &out.sums));
            test_fill(&more, 0xFF);
            assert_true(pol_data(&out.sums, float)[9] == 110);
        }
    }
    test_space_assert_clean(&counting);
}

/* A7, trap 22: an outer frame is refused, or its result survives the inner one. */
static void an_outer_frame_is_refused_or_its_result_survives(void **state)
{
    (void)state;
    const struct both_args args = both_in();
    pol_space *const spaces[] = {&arena.space, &counting.space};
    for (size_t i = 0; i < 2; i++) {
        POL_SCRATCHSPACE(r, spaces[i]) {
            struct both_outputs out;
            pol_status got = POL_OK;
            POL_SCRATCHSPACE(inner, r) {
                pol_array tmp;
                assert_ok(pol_alloc(inner, &tmp, pol_undef(POL_U8, 8)));
                test_fill(&tmp, 0x11);
                const struct test_state before = test_state_of(&arena, &counting);
                got = pol_call(both, r, &args, &out);
                if (got != POL_OK) {
                    assert_status(got, POL_EORDER);
                    assert_true(pol_is_undef(&out.sums));
                    test_assert_unchanged(&before, &arena, &counting);
                } else {
                    assert_false(test_overlap(&tmp, &out.sums));
                }
                assert_true(test_holds(&tmp, 0x11));
            }
            if (i == 0)
                assert_status(got, POL_EORDER);
            if (got == POL_OK) {
                pol_array over;
                assert_ok(pol_alloc(r, &over, pol_undef(POL_U8, 500)));
                test_fill(&over, 0xFF);
                assert_true(pol_data(&out.sums, float)[9] == 110);
            }
        }
    }
    test_space_assert_clean(&counting);
}

/* A7, trap 22: a verb's body that asks beneath its own frame is refused. */
static void a_body_that_asks_beneath_its_frame_is_refused(void **state)
{
    (void)state;
    struct both_outputs out;
    POL_SCRATCHSPACE(r, &arena) {
        const struct both_args args = {x10(), false, &r->space};
        assert_ok(pol_call(both, r, &args, &out));
        assert_status(both_more, POL_EORDER);
        assert_null(both_found.data);
        assert_true(pol_data(&out.sums, float)[9] == 110);
    }
}

/* -- V5 --------------------------------------------------------------------------------------- */

/* V5: running in place. */
static void an_override_with_data_is_used_and_not_allocated(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    struct twice_outputs out;
    const struct test_state before = test_state_of(&arena, NULL);
    assert_ok(pol_call_into(twice, &arena, &args, &out, (struct twice_outputs){args.x}));
    assert_ptr_equal(out.y.data, values);
    assert_true(values[9] == 20);
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_verb_call_into(&twice_verb, &arena, &args, &out.y, &args.x));
    assert_true(values[9] == 40);
    test_assert_unchanged(&before, &arena, NULL);
}

/* V5: the other entries are allocated. */
static void what_the_override_leaves_out_is_allocated(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    float total = 0;
    struct stats_outputs out;
    const struct stats_outputs over[] = {{absent, pol_wrap_scalar(&total, POL_F32)},
                                         {pol_undef(POL_F32, 10), pol_wrap_scalar(&total, POL_F32)},
                                         {pol_undef(POL_U8, 99), pol_wrap_scalar(&total, POL_F32)}};
    for (size_t i = 0; i < 3; i++) { /* what has no data overrides nothing */
        assert_ok(pol_reset(&arena));
        assert_ok(pol_call_into(stats, &arena, &args, &out, over[i]));
        assert_true(total == 55);
        assert_ptr_equal(out.total.data, &total);
        assert_ptr_equal(out.sums.data, test_slab(0));
        assert_int_equal(pol_arena_offset(&arena), 40);
        total = 0;
    }
}

/* V5: NULL overrides nothing. */
static void a_null_override_is_a_plain_call(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    struct twice_outputs out;
    assert_ok(pol_verb_call_into(&twice_verb, &arena, &args, &out.y, NULL));
    assert_twice(&out);
}

/* V5: borrowed, whoever owned it. */
static void an_override_is_borrowed(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    pol_array mine;
    struct twice_outputs out;
    assert_ok(pol_alloc(&counting.space, &mine, pol_undef(POL_F32, 10)));
    assert_ok(pol_call_into(twice, &arena, &args, &out, (struct twice_outputs){mine}));
    assert_ptr_equal(out.y.data, mine.data);
    pol_release(&out.y);
    assert_int_equal(counting.live, 1);
    saw.answer = POL_EUSER; /* nor does a failure give it back */
    assert_status(pol_call_into(twice, &counting.space, &args, &out, (struct twice_outputs){mine}),
                  POL_EUSER);
    assert_int_equal(counting.live, 1);
    pol_release(&mine);
    test_space_assert_clean(&counting);
}

/* V5 */
static void an_override_that_does_not_match_is_einval(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    const struct stats_outputs want = stats_outputs(&args);
    double room[16];
    const pol_array wrong[] = {pol_wrap(room, POL_F32, 11), pol_wrap(room, POL_F32, 5, 2),
                               pol_wrap(room, POL_I32, 10), pol_wrap(room, POL_F64, 10),
                               pol_wrap(room, POL_F32, 10, 1)};
    for (size_t i = 0; i < 5; i++) {
        struct stats_outputs out;
        memset(&out, 0xA5, sizeof out);
        const struct test_state before = test_state_of(&arena, &counting);
        assert_status(
            pol_call_into(stats, &arena, &args, &out, (struct stats_outputs){wrong[i], absent}),
            POL_EINVAL);
        assert_memory_equal(&out, &want, sizeof out);
        assert_status(pol_call_into(stats, &counting.space, &args, &out,
                                    (struct stats_outputs){absent, wrong[i]}),
                      POL_EINVAL);
        assert_memory_equal(&out, &want, sizeof out);
        test_assert_unchanged(&before, &arena, &counting);
    }
    assert_int_equal(saw.runs, 0);
}

/* V5, V4: out is written first, so an override that lies there could not be read. */
static void an_override_that_overlaps_the_outputs_is_einval(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    pol_array arrays[3] = {x10(), x10(), x10()};
    for (size_t i = 0; i < 2; i++) {
        const struct test_state before = test_state_of(&arena, NULL);
        assert_status(pol_verb_call_into(&stats_verb, &arena, &args, &arrays[i], &arrays[1 - i]),
                      POL_EINVAL);
        test_assert_unchanged(&before, &arena, NULL);
    }
    assert_status(pol_verb_call_into(&stats_verb, &arena, &args, arrays, arrays), POL_EINVAL);
    assert_int_equal(saw.runs, 0);
}

/* V5: NULL for the outputs, in each of the forms and on each kind of space. What is taken is
   scratch, and goes back. */
static void outputs_that_are_all_given_need_no_out(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    for (size_t i = 0; i < 3; i++) {
        float t[10] = {0}, s[10] = {0}, b[10] = {0}, total = 0;
        const size_t requests = counting.requests;
        assert_ok(pol_call_into(twice, spaces[i], &ta, NULL,
                                (struct twice_outputs){pol_wrap(t, POL_F32, 10)}));
        assert_int_equal(counting.requests, requests);
        if (i == 0)
            assert_int_equal(pol_watermark(&arena), 0);
        assert_ok(pol_call_into(
            stats, spaces[i], &sa, NULL,
            (struct stats_outputs){pol_wrap(s, POL_F32, 10), pol_wrap_scalar(&total, POL_F32)}));
        assert_int_equal(counting.requests, requests + (i == 1 ? 2 : 0));
        if (i == 0)
            assert_int_equal(pol_watermark(&arena), 64 + 80);
        assert_ok(pol_call_into(both, spaces[i], &ba, NULL,
                                (struct both_outputs){pol_wrap(b, POL_F32, 10)}));
        assert_true(t[9] == 20 && s[3] == 10 && total == 55 && b[9] == 110);
    }
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_int_equal(marking.used, 0);
    test_space_assert_clean(&counting);
    test_space_assert_reverse(&counting);
}

/* V5: running in place without an out. */
static void in_place_needs_no_out(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    assert_ok(pol_call_into(twice, &arena, &args, NULL, (struct twice_outputs){args.x}));
    assert_true(values[9] == 20);
}

/* V5, S5: a space that is asked for nothing need not be able to give. */
static void outputs_that_are_all_given_ask_nothing_of_the_space(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    counting.capturing = true;
    test_space_fail(&counting, 1, true);
    assert_ok(pol_call_into(twice, &counting.space, &args, NULL, (struct twice_outputs){args.x}));
    assert_int_equal(counting.requests, 0);
    assert_int_equal(saw.runs, 1);
}

/* V5, E3: with NULL, one that is left out is refused, and named. */
static void an_output_neither_given_nor_asked_for_is_einval(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    pol_array mine;
    float total = 77;
    assert_ok(pol_alloc(&counting.space, &mine, pol_undef(POL_F32, 10)));
    test_fill(&mine, 0x42);
    const struct stats_outputs over[] = {{mine, absent},
                                         {mine, pol_undef_scalar(POL_F32)},
                                         {absent, pol_wrap_scalar(&total, POL_F32)},
                                         {pol_undef(POL_F32, 10), absent}};
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    const struct test_state before = test_state_of(&arena, &counting);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            assert_status(pol_call_into(stats, spaces[i], &args, NULL, over[j]), POL_EINVAL);
            assert_error_says(j < 2 ? "verb stats: output 1, f32 []"
                                    : "verb stats: output 0, f32 [10]");
            test_assert_unchanged(&before, &arena, &counting);
            assert_int_equal(marking.used, 0);
        }
    assert_int_equal(saw.runs, 0);
    assert_true(total == 77);
    assert_true(test_holds(&mine, 0x42));
    pol_release(&mine);
    test_space_assert_clean(&counting);
}

/* V5 */
static void an_override_that_does_not_match_is_einval_without_an_out_too(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    const struct test_state before = test_state_of(&arena, NULL);
    assert_status(pol_call_into(twice, &arena, &args, NULL,
                                (struct twice_outputs){pol_wrap(values, POL_F32, 5, 2)}),
                  POL_EINVAL);
    assert_error_says("must be the same");
    test_assert_unchanged(&before, &arena, NULL);
    assert_int_equal(saw.runs, 0);
}

/* V5, S7 */
static void other_nulls_are_refused_without_an_out_too(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    const struct twice_args *const none = NULL;
    const struct twice_outputs over = {args.x};
    assert_status(pol_call_into(twice, NULL, &args, NULL, over), POL_ENOAMBIENT);
    assert_status(pol_call_into(twice, &arena, none, NULL, over), POL_EINVAL);
    assert_error_says("arguments are NULL");
    assert_int_equal(saw.runs, 0);
}

/* V5, V6, E3: the verb fails, or its scratch is refused. */
static void a_failure_without_an_out_leaves_space_and_override(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs over;
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    assert_ok(pol_outputs(&counting.space, stats, &args, &over));
    test_fill(&over.sums, 0x42);
    test_fill(&over.total, 0x43);
    const struct stats_outputs same = over;
    const struct test_state before = test_state_of(&arena, &counting);
    saw.answer = POL_EUSER;
    for (size_t i = 0; i < 3; i++) {
        assert_status(pol_call_into(stats, spaces[i], &args, NULL, over), POL_EUSER);
        test_assert_unchanged(&before, &arena, &counting);
        assert_int_equal(marking.used, 0);
    }
    assert_int_equal(saw.runs, 3);
    for (size_t k = 1; k <= 2; k++) {
        test_space_fail(&counting, k, false);
        assert_status(pol_call_into(stats, &counting.space, &args, NULL, over), POL_ENOMEM);
        test_assert_unchanged(&before, &arena, &counting);
    }
    assert_int_equal(saw.runs, 3);
    assert_memory_equal(&over, &same, sizeof over);
    assert_true(test_holds(&over.sums, 0x42) && test_holds(&over.total, 0x43));
    pol_release(&over.total);
    pol_release(&over.sums);
    test_space_assert_clean(&counting);
}

/* choosy: one output that comes with data, one that is absent unless asked for. */
struct choosy_args {
    pol_array x;
    bool more;
};
struct choosy_outputs {
    pol_array x, more;
};
static struct choosy_outputs choosy_outputs(const struct choosy_args *a)
{
    return (struct choosy_outputs){a->x, a->more ? pol_undef(POL_U8, 3) : absent};
}
static struct choosy_outputs choosy_found;
static pol_status choosy(const struct choosy_outputs *out, const struct choosy_args *a)
{
    (void)a;
    choosy_found = *out;
    return POL_OK;
}
POL_ALLOCATING(choosy, outputs);

/* V5, U1: what comes with data needs not be given, nor what is absent. */
static void without_an_out_only_described_outputs_must_be_given(void **state)
{
    (void)state;
    const struct choosy_args few = {x10(), false}, all = {x10(), true};
    const struct choosy_outputs nothing = {absent, absent};
    char more[3];
    assert_ok(pol_call_into(choosy, &arena, &few, NULL, nothing));
    assert_ptr_equal(choosy_found.x.data, values);
    assert_true(pol_is_absent(&choosy_found.more));
    assert_status(pol_call_into(choosy, &arena, &all, NULL, nothing), POL_EINVAL);
    assert_ok(pol_call_into(choosy, &arena, &all, NULL,
                            (struct choosy_outputs){absent, pol_wrap(more, POL_U8, 3)}));
    assert_ptr_equal(choosy_found.more.data, more);
    assert_int_equal(pol_watermark(&arena), 0);
}

/* V5, V8: leaves are not run, and what the real run needs is found. */
static void a_dry_run_without_an_out_measures_the_scratch(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    float y[10] = {0}, total = 0;
    const pol_array given = pol_wrap(y, POL_F32, 10), sum = pol_wrap_scalar(&total, POL_F32);
    for (int i = 0; i < 3; i++) {
        pol_arena dry;
        pol_arena *const both_ways[] = {&dry, &arena};
        assert_ok(pol_arena_measure(&dry, 64));
        assert_ok(pol_arena_init(&arena, test_slab(0), 8192, 64));
        for (int j = 0; j < 2; j++) {
            pol_arena *const on = both_ways[j];
            saw.runs = 0;
            if (i == 0)
                assert_ok(pol_call_into(twice, on, &ta, NULL, (struct twice_outputs){given}));
            else if (i == 1)
                assert_ok(pol_call_into(stats, on, &sa, NULL, (struct stats_outputs){given, sum}));
            else
                assert_ok(pol_call_into(both, on, &ba, NULL, (struct both_outputs){given}));
            if (on == &dry) {
                assert_int_equal(saw.runs, i == 2); /* both itself, not what it calls */
                assert_true(y[9] == 0 && total == 0);
            }
            assert_int_equal(pol_arena_offset(on), 0);
        }
        assert_int_equal(pol_watermark(&dry), pol_watermark(&arena));
        assert_int_equal(pol_arena_budget(&dry), pol_arena_budget(&arena));
        assert_true(y[9] != 0);
        memset(y, 0, sizeof y);
        total = 0;
    }
}

/* V5, V7: the scratch is that of a call with an out. */
static void a_call_without_an_out_takes_the_scratch_of_one_with(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    pol_verb_sizes sizes;
    float sums[10], total;
    assert_ok(pol_verb_nbytes(&stats_verb, &args, 64, &sizes));
    assert_ok(pol_call_into(
        stats, &arena, &args, NULL,
        (struct stats_outputs){pol_wrap(sums, POL_F32, 10), pol_wrap_scalar(&total, POL_F32)}));
    const size_t pad = 128 - sizes.outputs; /* that came before the scratch */
    assert_int_equal(pol_watermark(&arena), sizes.scratch - pad);
}

/* -- V6 --------------------------------------------------------------------------------------- */

/* V6, E3: whatever the space, at whatever depth; the watermark and the frames too. */
static void a_failing_verb_leaves_the_space_as_it_was(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    const struct twice_outputs want_t = twice_outputs(&ta);
    const struct stats_outputs want_s = stats_outputs(&sa);
    const struct both_outputs want_b = both_outputs(&ba);
    saw.answer = POL_EUSER;
    for (int depth = 0; depth < 3; depth++) {
        pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
        for (size_t i = 0; i < 3; i++) {
            pol_frame f[2];
            pol_array live;
            pol_space *space = spaces[i];
            for (int d = 0; d < depth; d++) {
                pol_frame_begin(&f[d], space);
                space = &f[d].space;
                assert_ok(pol_alloc(space, &live, pol_undef(POL_U8, 7)));
                test_fill(&live, 0x42);
            }
            const struct test_state before = test_state_of(&arena, &counting);
            const size_t used = marking.used;
            struct twice_outputs t;
            struct stats_outputs s;
            struct both_outputs b;
            assert_status(pol_call(twice, space, &ta, &t), POL_EUSER);
            assert_memory_equal(&t, &want_t, sizeof t);
            test_assert_unchanged(&before, &arena, &counting);
            assert_status(pol_call(stats, space, &sa, &s), POL_EUSER);
            assert_memory_equal(&s, &want_s, sizeof s);
            test_assert_unchanged(&before, &arena, &counting);
            assert_status(pol_call(both, space, &ba, &b), POL_EUSER);
            assert_memory_equal(&b, &want_b, sizeof b);
            test_assert_unchanged(&before, &arena, &counting);
            assert_int_equal(marking.used, used);
            if (depth)
                assert_true(test_holds(&live, 0x42));
            for (int d = depth; d-- > 0;)
                assert_ok(pol_frame_end(&f[d]));
        }
    }
    test_space_assert_clean(&counting);
    test_space_assert_reverse(&counting);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

/* V6: the verb's own status comes back, whatever it is. */
static void the_verbs_own_status_comes_back(void **state)
{
    (void)state;
    const pol_status answers[] = {POL_EUSER, POL_EINVAL, -12345, POL_ECORRUPT};
    const struct stats_args args = stats_in();
    struct stats_outputs out;
    for (size_t i = 0; i < 4; i++) {
        saw.answer = answers[i];
        assert_int_equal(pol_call(stats, &arena, &args, &out), answers[i]);
        assert_error_says("told to fail");
    }
}

/* V6: a space that cannot take back keeps what it gave; out still holds descriptions. */
static void out_holds_descriptions_also_where_nothing_is_taken_back(void **state)
{
    (void)state;
    static struct test_space keeping;
    test_space_init_keeping(&keeping);
    const struct stats_args args = stats_in();
    const struct stats_outputs want = stats_outputs(&args);
    struct stats_outputs out;
    saw.answer = POL_EUSER;
    assert_status(pol_call(stats, &keeping.space, &args, &out), POL_EUSER);
    assert_memory_equal(&out, &want, sizeof out);
    test_space_drop(&keeping);
}

/* V6, V5: overridden entries are descriptions too after a failure. */
static void out_holds_descriptions_after_a_failure_with_overrides(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    const struct twice_outputs want = twice_outputs(&args);
    struct twice_outputs out;
    saw.answer = POL_EUSER;
    const struct test_state before = test_state_of(&arena, NULL);
    assert_status(pol_call_into(twice, &arena, &args, &out, (struct twice_outputs){args.x}),
                  POL_EUSER);
    assert_memory_equal(&out, &want, sizeof out);
    test_assert_unchanged(&before, &arena, NULL);
}

/* V6, V5: and after a refused allocation beside them. */
static void out_holds_descriptions_when_allocation_beside_an_override_fails(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    const struct stats_outputs want = stats_outputs(&args);
    struct stats_outputs out;
    test_space_fail(&counting, 1, true);
    const struct test_state before = test_state_of(NULL, &counting);
    assert_status(
        pol_call_into(stats, &counting.space, &args, &out, (struct stats_outputs){args.x, absent}),
        POL_ENOMEM);
    assert_memory_equal(&out, &want, sizeof out);
    test_assert_unchanged(&before, NULL, &counting);
}

/* V6, traps 13 and 14: the k-th request of a call is refused, once and for ever. */
static void every_refused_request_of_a_call_leaves_the_space_as_it_was(void **state)
{
    (void)state;
    const struct both_args ba = both_in();
    const struct stats_args sa = stats_in();
    const struct both_outputs want_b = both_outputs(&ba);
    const struct stats_outputs want_s = stats_outputs(&sa);
    for (int variant = 0; variant < 4; variant++) {
        for (size_t k = 1; k <= 6; k++) {
            pol_frame f;
            pol_space *space = &counting.space;
            test_space_init(&counting);
            if (variant & 1) {
                pol_frame_begin(&f, space);
                space = &f.space;
            }
            const struct test_state before = test_state_of(NULL, &counting);
            struct both_outputs b;
            struct stats_outputs s;
            test_space_fail(&counting, k, variant & 2);
            assert_status(pol_call(both, space, &ba, &b), POL_ENOMEM);
            assert_memory_equal(&b, &want_b, sizeof b);
            assert_int_equal(counting.requests, k);
            test_assert_unchanged(&before, NULL, &counting);
            if (k <= 4) {
                test_space_fail(&counting, k, variant & 2);
                assert_status(pol_call(stats, space, &sa, &s), POL_ENOMEM);
                assert_memory_equal(&s, &want_s, sizeof s);
                test_assert_unchanged(&before, NULL, &counting);
            }
            test_space_fail(&counting, 0, false);
            assert_ok(pol_call(both, space, &ba, &b));
            assert_true(pol_data(&b.sums, float)[9] == 110);
            if (variant & 1)
                assert_ok(pol_frame_end(&f));
            pol_release(&b.sums);
            test_space_assert_clean(&counting);
            test_space_assert_reverse(&counting);
        }
    }
}

/* V6, trap 12: on every capacity from nothing to enough, success or the first clean error. */
static void on_every_capacity_a_call_runs_or_changes_nothing(void **state)
{
    (void)state;
    const struct both_args args = both_in();
    pol_verb_sizes sizes;
    assert_ok(pol_verb_nbytes(&both_verb, &args, 64, &sizes));
    const size_t need = sizes.outputs + sizes.scratch;
    for (size_t nbytes = 1; nbytes <= need + 64; nbytes++) {
        pol_arena tight;
        struct both_outputs out;
        assert_ok(pol_arena_init(&tight, test_slab(0), nbytes, 64));
        const struct test_state before = test_state_of(&tight, NULL);
        if (nbytes < need) {
            assert_status(pol_call(both, &tight, &args, &out), POL_ECEILING);
            test_assert_unchanged(&before, &tight, NULL);
            assert_true(pol_is_undef(&out.sums));
        } else {
            assert_ok(pol_call(both, &tight, &args, &out));
            assert_true(pol_data(&out.sums, float)[9] == 110);
            assert_int_equal(pol_watermark(&tight), need);
        }
    }
}

static int told;
static pol_status told_of;
static void tell(pol_status status, const char *text, void *ctx)
{
    (void)ctx;
    assert_string_equal(text, pol_last_error());
    told++;
    told_of = status;
}

/* V6: a space that finds damage at the end of the call's frame fails the call. */
static void a_call_whose_frame_ends_in_damage_has_failed(void **state)
{
    (void)state;
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    const struct stats_outputs want_s = stats_outputs(&sa);
    const struct both_outputs want_b = both_outputs(&ba);
    struct stats_outputs s;
    struct both_outputs b;
    marking.found = POL_ECORRUPT;
    assert_status(pol_call(stats, &marking.space, &sa, &s), POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_memory_equal(&s, &want_s, sizeof s);
    assert_int_equal(marking.used, 0);
    assert_status(pol_verb_call(&both_verb, &marking.space, &ba, &b.sums), POL_ECORRUPT);
    assert_memory_equal(&b, &want_b, sizeof b);
    assert_int_equal(marking.used, 0);
    assert_int_equal(saw.runs, 4); /* both ran its verbs: the inner call of stats is what failed */
}

/* V6, E4: the verb's own failure comes first; the damage is not lost. */
static void a_failing_call_tells_the_handler_of_damage(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs out;
    told = 0;
    (void)pol_on_misuse(tell, NULL);
    marking.found = POL_ECORRUPT;
    saw.answer = POL_EUSER;
    assert_status(pol_call(stats, &marking.space, &args, &out), POL_EUSER);
    (void)pol_on_misuse(NULL, NULL);
    assert_error_says("told to fail");
    assert_int_equal(told, 2); /* by the frame's end, and when the outputs were taken back */
    assert_status(told_of, POL_ECORRUPT);
    assert_true(pol_is_undef(&out.sums) && pol_is_undef(&out.total));
    assert_int_equal(marking.used, 0);
}

/* V4, V6: a verb that leaves a frame open has failed. */
static void a_verb_that_leaves_a_frame_open_has_failed(void **state)
{
    (void)state;
    const struct both_args args = {x10(), true, NULL};
    pol_space *const spaces[] = {&arena.space, &counting.space};
    for (size_t i = 0; i < 2; i++) {
        struct both_outputs out;
        const struct test_state before = test_state_of(&arena, &counting);
        assert_status(pol_call(both, spaces[i], &args, &out), POL_EORDER);
        assert_true(pol_is_undef(&out.sums));
        test_assert_unchanged(&before, &arena, &counting);
    }
    test_space_assert_reverse(&counting);
}

/* Trap 15: nothing piles up. A million of them, on an arena, are in test_program.c. */
static void ten_thousand_failing_calls_leave_everything_flat(void **state)
{
    (void)state;
    const struct stats_args args = stats_in();
    struct stats_outputs out;
    saw.answer = POL_EUSER;
    const struct test_state before = test_state_of(&arena, &counting);
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    for (int i = 0; i < 10000; i++)
        if (pol_call(stats, spaces[i % 3], &args, &out) != POL_EUSER)
            fail();
    test_assert_unchanged(&before, &arena, &counting);
    assert_int_equal(marking.used, 0);
}

/* V6: bad arguments of the run-time call. */
static void null_arguments_of_a_call_are_einval(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    struct twice_outputs out;
    const struct test_state before = test_state_of(&arena, NULL);
    pol_verb_sizes sizes = {1, 2, 3};
    assert_status(pol_verb_call(NULL, &arena, &args, &out.y), POL_EINVAL);
    assert_status(pol_verb_call(&twice_verb, &arena, NULL, &out.y), POL_EINVAL);
    assert_status(pol_verb_call(&twice_verb, &arena, &args, NULL), POL_EINVAL);
    assert_status(pol_call(twice, &arena, &args, NULL), POL_EINVAL);
    assert_status(pol_verb_call_into(&twice_verb, &arena, &args, NULL, &args.x), POL_EINVAL);
    assert_status(pol_verb_nbytes(NULL, &args, 64, &sizes), POL_EINVAL);
    assert_status(pol_verb_nbytes(&twice_verb, NULL, 64, &sizes), POL_EINVAL);
    assert_status(pol_verb_nbytes(&twice_verb, &args, 64, NULL), POL_EINVAL);
    test_assert_unchanged(&before, &arena, NULL);
    assert_int_equal(sizes.outputs + sizes.scratch + sizes.total, 6);
    assert_int_equal(saw.runs, 0);
}

/* -- V7 --------------------------------------------------------------------------------------- */

/* V7: by hand, for each of the forms. */
static void sizes_are_exact(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    pol_verb_sizes sizes;
    assert_ok(pol_verb_nbytes(&twice_verb, &ta, 64, &sizes));
    assert_int_equal(sizes.outputs, 40);
    assert_int_equal(sizes.scratch, 0);
    assert_int_equal(sizes.total, 40 + 63);
    assert_ok(pol_verb_nbytes(&stats_verb, &sa, 64, &sizes));
    assert_int_equal(sizes.outputs, 64 + 4);
    assert_int_equal(sizes.scratch, 192 + 80 - 68); /* bytes at 128, wide at 192 */
    assert_int_equal(sizes.total, 192 + 80 + 63);
    assert_ok(pol_verb_nbytes(&both_verb, &ba, 64, &sizes));
    assert_int_equal(sizes.outputs, 40);
    /* doubled at 64, sums at 128, total at 192, bytes at 256, wide at 320 */
    assert_int_equal(sizes.scratch, 320 + 80 - 40);
    assert_int_equal(sizes.total, 320 + 80 + 63);
    assert_ok(pol_verb_nbytes(&twice_verb, &ta, 0, &sizes));
    assert_int_equal(sizes.total, 40 + 255); /* 0 means 256 */
}

/* V7: without memory, and without running a leaf. */
static void sizes_are_found_without_memory(void **state)
{
    (void)state;
    const pol_array huge = pol_undef(POL_F32, INT64_C(1) << (sizeof(size_t) < 8 ? 25 : 55));
    const struct stats_args args = {huge, 5};
    pol_verb_sizes sizes;
    assert_ok(pol_verb_nbytes(&stats_verb, &args, 64, &sizes));
    assert_true(sizes.outputs > (size_t)huge.dims[0] * 4);
    assert_true(sizes.scratch > (size_t)huge.dims[0] * 8);
    assert_int_equal(saw.runs, 0);
    assert_null(pol_ambientspace_or(NULL));
}

static pol_status run_in(unsigned char *base, size_t nbytes, size_t alignment, const pol_verb *verb,
                         const void *args, pol_array *out)
{
    pol_arena tight;
    POL_TRY(pol_arena_init(&tight, base, nbytes, alignment));
    return pol_verb_call(verb, &tight, args, out);
}

/* V7, trap 12: enough at any base, and one byte less is refused at the worst. */
static void a_slab_of_that_size_is_enough_at_any_base_and_no_byte_less(void **state)
{
    (void)state;
    const struct twice_args ta = twice_in();
    const struct stats_args sa = stats_in();
    const struct both_args ba = both_in();
    const struct {
        const pol_verb *verb;
        const void *args;
    } calls[] = {{&twice_verb, &ta}, {&stats_verb, &sa}, {&both_verb, &ba}};
    for (size_t i = 0; i < 3; i++) {
        for (size_t alignment = 1; alignment <= 1024; alignment *= 2) {
            pol_verb_sizes sizes;
            pol_array out[2];
            assert_ok(pol_verb_nbytes(calls[i].verb, calls[i].args, alignment, &sizes));
            const size_t period = alignment < 8 ? 8 : alignment;
            for (size_t shift = 0; shift<period; shift += period> 64 ? 31 : 1)
                assert_ok(run_in(test_slab(shift), sizes.total, alignment, calls[i].verb,
                                 calls[i].args, out));
            assert_ok(
                run_in(test_slab(1), sizes.total, alignment, calls[i].verb, calls[i].args, out));
            if (alignment >= 8)
                assert_status(run_in(test_slab(1), sizes.total - 1, alignment, calls[i].verb,
                                     calls[i].args, out),
                              POL_ECEILING);
        }
    }
}

/* page: an output whose element is stricter than the arena. */
struct page_args {
    uint32_t align;
};
struct page_outputs {
    pol_array byte, page;
};
static struct page_outputs page_outputs(const struct page_args *a)
{
    const pol_type type = {POL_CODE_OPAQUE, 0, 1, 16, a->align};
    return (struct page_outputs){pol_undef(POL_U8, 1), pol_undef(type, 3)};
}
static pol_status page(const struct page_outputs *out, const struct page_args *a)
{
    POL_TRY(seen());
    return (uintptr_t)out->page.data % a->align ? POL_EUSER : POL_OK;
}
POL_ALLOCATING(page, outputs);

/* V7, A2: also with an element that is stricter than the arena. */
static void sizes_suffice_at_any_base_for_strict_elements(void **state)
{
    (void)state;
    for (uint32_t align = 1; align <= 2048; align *= 2) {
        const struct page_args args = {align};
        for (size_t alignment = 1; alignment <= 256; alignment *= 4) {
            pol_verb_sizes sizes;
            pol_array out[2];
            assert_ok(pol_verb_nbytes(&page_verb, &args, alignment, &sizes));
            for (size_t shift = 0; shift < 2048; shift += 1 + shift / 3)
                assert_ok(run_in(test_slab(shift), sizes.total, alignment, &page_verb, &args, out));
        }
    }
}

/* V6: nor does a failing verb's strict element leave a trace in the budget. */
static void a_failing_verb_leaves_the_budget(void **state)
{
    (void)state;
    const struct page_args args = {1024};
    struct page_outputs out;
    saw.answer = POL_EUSER;
    const struct test_state before = test_state_of(&arena, NULL);
    assert_status(pol_call(page, &arena, &args, &out), POL_EUSER);
    test_assert_unchanged(&before, &arena, NULL);
}

/* V4: a leaf without scratch that leaves a frame open has failed, too. */
struct leave_args {
    pol_space *on;
};
struct leave_outputs {
    pol_array y;
};
static struct leave_outputs leave_outputs(const struct leave_args *a)
{
    (void)a;
    return (struct leave_outputs){pol_undef(POL_U8, 3)};
}
static pol_status leave(const struct leave_outputs *out, const struct leave_args *a)
{
    static pol_frame left;
    pol_array tmp;
    (void)out;
    pol_frame_begin(&left, a->on);
    return pol_alloc(&left, &tmp, pol_undef(POL_U8, 9));
}
POL_ALLOCATING(leave, outputs);

static void a_leaf_that_leaves_a_frame_open_has_failed(void **state)
{
    (void)state;
    pol_space *const spaces[] = {&arena.space, &counting.space, &marking.space};
    for (size_t i = 0; i < 3; i++) {
        const struct leave_args args = {spaces[i]};
        struct leave_outputs out;
        const struct test_state before = test_state_of(&arena, &counting);
        assert_status(pol_call(leave, spaces[i], &args, &out), POL_EORDER);
        assert_true(pol_is_undef(&out.y));
        test_assert_unchanged(&before, &arena, &counting);
        assert_int_equal(marking.used, 0);
    }
    test_space_assert_clean(&counting);
}

/* V4, V6: and the damage that its end finds counts more. */
static void a_leaf_that_leaves_a_damaged_frame_open_has_failed_by_the_damage(void **state)
{
    (void)state;
    const struct leave_args args = {&marking.space};
    struct leave_outputs out;
    marking.found = POL_ECORRUPT;
    assert_status(pol_call(leave, &arena, &args, &out), POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_true(pol_is_undef(&out.y));
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_int_equal(marking.used, 0);
}

/* E2, V6: a verb's failure without a text gets one, also if something fails on the way out. */
struct quiet_args {
    pol_space *on;
};
struct quiet_outputs {
    pol_array y;
};
static struct quiet_outputs quiet_outputs(const struct quiet_args *a)
{
    (void)a;
    return (struct quiet_outputs){pol_undef(POL_U8, 5)};
}
static pol_status quiet(const struct quiet_outputs *out, const struct quiet_args *a)
{
    static pol_frame left;
    (void)out;
    pol_frame_begin(&left, a->on);
    return POL_EUSER;
}
POL_ALLOCATING(quiet, outputs);

static void a_failure_without_a_text_gets_one_in_spite_of_damage(void **state)
{
    (void)state;
    const struct quiet_args args = {&marking.space};
    struct quiet_outputs out;
    told = 0;
    (void)pol_on_misuse(tell, NULL);
    marking.found = POL_ECORRUPT;
    assert_status(pol_call(quiet, &arena, &args, &out), POL_EUSER);
    (void)pol_on_misuse(NULL, NULL);
    assert_error_says("verb quiet: returned POL_EUSER");
    assert_int_equal(told, 1);
    assert_int_equal(marking.used, 0);
}

/* V7: at least one aligned byte, since no arena is smaller. */
static void sizes_of_nothing_are_one_aligned_byte(void **state)
{
    (void)state;
    const struct twice_args args = {pol_undef(POL_F32, 0)};
    pol_verb_sizes sizes;
    pol_array out;
    assert_ok(pol_verb_nbytes(&twice_verb, &args, 64, &sizes));
    assert_int_equal(sizes.outputs, 0);
    assert_int_equal(sizes.scratch, 0);
    assert_int_equal(sizes.total, 64);
    assert_ok(run_in(test_slab(1), sizes.total, 64, &twice_verb, &args, &out));
}

/* V7, E3 */
static void a_failed_size_query_leaves_the_sizes(void **state)
{
    (void)state;
    const pol_verb_sizes before = {1, 2, 3};
    pol_verb_sizes sizes = before;
    const struct stats_args good = stats_in();
    const struct stats_args negative = {x10(), -1};
    const struct twice_args overflow = {pol_undef(POL_F32, INT64_C(1) << 62)};
    const struct stats_args sum = {x10(), PTRDIFF_MAX - 8};
    assert_status(pol_verb_nbytes(&stats_verb, &good, 3, &sizes), POL_EINVAL);
    assert_status(pol_verb_nbytes(&stats_verb, &good, SIZE_MAX, &sizes), POL_EINVAL);
    assert_status(pol_verb_nbytes(&stats_verb, &negative, 64, &sizes), POL_EINVAL);
    assert_status(pol_verb_nbytes(&twice_verb, &overflow, 64, &sizes), POL_EOVERFLOW);
    assert_status(pol_verb_nbytes(&stats_verb, &sum, 64, &sizes), POL_EOVERFLOW);
    saw.answer = POL_EUSER;
    const struct both_args ba = both_in();
    assert_status(pol_verb_nbytes(&both_verb, &ba, 64, &sizes), POL_EUSER);
    assert_memory_equal(&sizes, &before, sizeof sizes);
}

/* U4, V7: the alignment's own share cannot make the total wrap. */
static void the_total_does_not_wrap_for_huge_alignments(void **state)
{
    (void)state;
    const struct twice_args args = twice_in();
    pol_verb_sizes sizes = {0, 0, 0};
    const size_t top = SIZE_MAX / 2 + 1;
    const pol_status got = pol_verb_nbytes(&twice_verb, &args, top, &sizes);
    if (got == POL_OK)
        assert_int_equal(sizes.total, 40 + (top - 1));
    else
        assert_status(got, POL_EOVERFLOW);
}

/* V6: what the verb asked of another frame, which is still open, is that frame's. */
struct from_args {
    pol_frame *frame;
};
struct from_outputs {
    pol_array y;
};
static pol_array from_kept;
static struct from_outputs from_outputs(const struct from_args *a)
{
    (void)a;
    return (struct from_outputs){pol_undef(POL_U8, 3)};
}
static pol_status from(const struct from_outputs *out, const struct from_args *a)
{
    (void)out;
    POL_TRY(pol_alloc(a->frame, &from_kept, pol_undef(POL_U8, 9)));
    return POL_EUSER;
}
POL_ALLOCATING(from, outputs);

static void a_failing_verb_leaves_other_frames_their_arrays(void **state)
{
    (void)state;
    POL_SCRATCHSPACE(outer, &counting.space) {
        POL_SCRATCHSPACE(inner, &counting.space) {
            const struct from_args args = {inner};
            struct from_outputs out;
            assert_status(pol_call(from, outer, &args, &out), POL_EUSER);
            assert_int_equal(counting.live, 1);
            test_fill(&from_kept, 1);
        }
        assert_int_equal(counting.live, 0);
    }
    test_space_assert_clean(&counting);
}

/* V8: a leaf is not run in a dry run where it is called on the kind of its outputs, either. */
struct touch_args {
    pol_array x;
};
struct touch_outputs {
    pol_array y;
};
struct touch_scratch {
    pol_array tmp;
};
static struct touch_outputs touch_outputs(const struct touch_args *a)
{
    return (struct touch_outputs){pol_undef_like(&a->x)};
}
static struct touch_scratch touch_scratch(const struct touch_args *a)
{
    return (struct touch_scratch){pol_undef_like(&a->x)};
}
static pol_status touch(const struct touch_outputs *out, const struct touch_args *a,
                        const struct touch_scratch *s)
{
    *(char *)s->tmp.data = *(const char *)a->x.data;
    *(char *)out->y.data = *(const char *)s->tmp.data;
    return POL_OK;
}
POL_ALLOCATING(touch, outputs, scratch);

static void a_dry_run_follows_no_address_of_a_similar_space_either(void **state)
{
    (void)state;
    pol_arena dry;
    struct touch_args args;
    struct touch_outputs out;
    assert_ok(pol_arena_measure(&dry, 64));
    assert_ok(pol_alloc(&dry, &args.x, pol_undef(POL_U8, 100)));
    assert_ok(pol_call(touch, pol_similar(&args.x), &args, &out));
    POL_SCRATCHSPACE(frame, pol_similar(&args.x)) {
        assert_true(pol_is_measuring(frame));
        assert_ok(pol_call(touch, frame, &args, &out));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(outputs_materializes_what_the_verb_describes),
        TEST(checkpoints_outlive_the_frame_of_the_call),
        TEST(scratch_dies_with_its_frame),
        TEST(one_step_forms_are_all_or_nothing),
        TEST(the_three_forms_compute_the_same_by_both_calls),
        TEST(the_verb_object_tells_its_name_and_how_many_outputs),
        TEST(arguments_may_be_const_or_not),
        TEST(outputs_lie_before_the_frame_and_outlive_it),
        TEST(a_frame_opens_only_for_scratch_and_space),
        TEST(out_is_written_and_never_read),
        TEST(the_innermost_frame_receives_a_result_that_survives),
        TEST(an_outer_frame_is_refused_or_its_result_survives),
        TEST(a_body_that_asks_beneath_its_frame_is_refused),
        TEST(an_override_with_data_is_used_and_not_allocated),
        TEST(what_the_override_leaves_out_is_allocated),
        TEST(a_null_override_is_a_plain_call),
        TEST(an_override_is_borrowed),
        TEST(an_override_that_does_not_match_is_einval),
        TEST(an_override_that_overlaps_the_outputs_is_einval),
        TEST(outputs_that_are_all_given_need_no_out),
        TEST(in_place_needs_no_out),
        TEST(outputs_that_are_all_given_ask_nothing_of_the_space),
        TEST(an_output_neither_given_nor_asked_for_is_einval),
        TEST(an_override_that_does_not_match_is_einval_without_an_out_too),
        TEST(other_nulls_are_refused_without_an_out_too),
        TEST(a_failure_without_an_out_leaves_space_and_override),
        TEST(without_an_out_only_described_outputs_must_be_given),
        TEST(a_dry_run_without_an_out_measures_the_scratch),
        TEST(a_call_without_an_out_takes_the_scratch_of_one_with),
        TEST(a_failing_verb_leaves_the_space_as_it_was),
        TEST(the_verbs_own_status_comes_back),
        TEST(out_holds_descriptions_also_where_nothing_is_taken_back),
        TEST(out_holds_descriptions_after_a_failure_with_overrides),
        TEST(out_holds_descriptions_when_allocation_beside_an_override_fails),
        TEST(every_refused_request_of_a_call_leaves_the_space_as_it_was),
        TEST(a_call_whose_frame_ends_in_damage_has_failed),
        TEST(a_failing_call_tells_the_handler_of_damage),
        TEST(on_every_capacity_a_call_runs_or_changes_nothing),
        TEST(a_verb_that_leaves_a_frame_open_has_failed),
        TEST(a_leaf_that_leaves_a_frame_open_has_failed),
        TEST(a_leaf_that_leaves_a_damaged_frame_open_has_failed_by_the_damage),
        TEST(a_failure_without_a_text_gets_one_in_spite_of_damage),
        TEST(a_failing_verb_leaves_the_budget),
        TEST(a_failing_verb_leaves_other_frames_their_arrays),
        TEST(a_dry_run_follows_no_address_of_a_similar_space_either),
        TEST(ten_thousand_failing_calls_leave_everything_flat),
        TEST(null_arguments_of_a_call_are_einval),
        TEST(sizes_are_exact),
        TEST(sizes_are_found_without_memory),
        TEST(a_slab_of_that_size_is_enough_at_any_base_and_no_byte_less),
        TEST(sizes_suffice_at_any_base_for_strict_elements),
        TEST(sizes_of_nothing_are_one_aligned_byte),
        TEST(a_failed_size_query_leaves_the_sizes),
        TEST(the_total_does_not_wrap_for_huge_alignments),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

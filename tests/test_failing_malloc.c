/* SPDX-License-Identifier: MIT */

/*
 * What happens when malloc itself fails, and where it is not called at all. Rules E1 to E3, F2
 * ("also when recording itself fails"), F4, S6; trap 14.
 *
 * The program interposes malloc, see heap.h. Where something else has taken malloc's place (a
 * sanitizer, valgrind), there is nothing to be tested.
 */

#include "heap.h"
#include "support.h"

#include <stdio.h>

/* -- the tests -------------------------------------------------------------------------------- */

static struct test_space counting; /* over the marking space: no malloc of its own */
static struct test_marking marking;
static pol_arena arena;

static int fresh(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    test_marking_init(&marking);
    test_space_init(&counting);
    counting.parent = &marking.space;
    assert_ok(pol_arena_init(&arena, test_slab(0), 8192, 64));
    return 0;
}

static int done(void **state)
{
    test_heap_fail(0, false);
    return test_clear_ambient(state);
}

/* Success, or POL_ENOMEM with nothing changed. Returns whether it was refused. */
static size_t ask(pol_frame *frame, int64_t nbytes)
{
    pol_array a;
    const struct test_state before = test_state_of(&arena, &counting);
    const pol_status got = pol_alloc(frame, &a, pol_undef(POL_U8, nbytes));
    if (got == POL_OK)
        return 0;
    assert_status(got, POL_ENOMEM);
    assert_string_not_equal(pol_last_error(), "");
    assert_true(pol_is_undef(&a));
    test_assert_unchanged(&before, &arena, &counting);
    return 1;
}

/* F2: each array once, in reverse order, also when recording itself fails. */
static void a_frame_whose_recording_fails_releases_each_array_once(void **state)
{
    (void)state;
    size_t refused = 0;
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (size_t k = 1; k <= 12; k++) {
            fresh(NULL);
            const size_t live = test_heap_live();
            pol_frame outer, inner;
            test_heap_fail(k, for_ever);
            pol_frame_begin(&outer, &counting.space);
            for (int64_t i = 1; i < 4; i++)
                refused += ask(&outer, i);
            pol_frame_begin(&inner, &outer);
            for (int64_t i = 4; i < 8; i++)
                refused += ask(&inner, i);
            assert_ok(pol_frame_end(&inner));
            refused += ask(&outer, 8);
            assert_ok(pol_frame_end(&outer));
            test_heap_fail(0, false);
            test_space_assert_clean(&counting);
            test_space_assert_reverse(&counting);
            assert_int_equal(test_heap_live(), live);
        }
    }
    print_message("%d requests refused\n", (int)refused);
}

/* F2, S2: a bundle through such a frame is all or nothing. */
static void a_bundle_whose_recording_fails_is_all_or_nothing(void **state)
{
    (void)state;
    for (size_t k = 1; k <= 6; k++) {
        fresh(NULL);
        pol_array bundle[4];
        pol_frame f;
        pol_frame_begin(&f, &counting.space);
        for (int64_t i = 0; i < 4; i++)
            bundle[i] = pol_undef(POL_U8, i + 1);
        test_heap_fail(k, true);
        const pol_status got = pol_alloc_arrays(&f.space, bundle, 4);
        test_heap_fail(0, false);
        if (got != POL_OK) {
            assert_status(got, POL_ENOMEM);
            assert_int_equal(counting.live, 0);
            for (size_t i = 0; i < 4; i++)
                assert_true(pol_is_undef(&bundle[i]));
        }
        assert_ok(pol_frame_end(&f));
        test_space_assert_clean(&counting);
        test_space_assert_reverse(&counting);
    }
}

/* F2, F1: a frame never fails to open, also on a space with marks of its own. */
static void a_frame_on_marks_takes_back_without_malloc(void **state)
{
    (void)state;
    pol_frame f;
    test_heap_fail(1, true);
    pol_frame_begin(&f, &marking.space);
    ask(&f, 100);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(marking.used, 0);
}

/* F2, F4: nor is it forgotten when an outer frame's end closes it. */
static void a_skipped_frame_on_marks_is_taken_back_without_malloc(void **state)
{
    (void)state;
    pol_space *const outsides[] = {&arena.space, &marking.space, NULL};
    for (size_t i = 0; i < 3; i++) {
        pol_frame outer, inner;
        fresh(NULL);
        test_heap_fail(1, true);
        pol_frame_begin(&outer, outsides[i]);
        pol_frame_begin(&inner, &marking.space);
        ask(&inner, 100);
        assert_status(pol_frame_end(&outer), POL_EORDER);
        assert_int_equal(marking.used, 0);
        test_heap_fail(0, false);
    }
}

/* S6: clear forgets frames, and frees what the library had recorded for them. */
static void clear_frees_what_frames_had_recorded(void **state)
{
    (void)state;
    const size_t live = test_heap_live();
    pol_frame outer, inner;
    pol_frame_begin(&outer, &counting.space);
    ask(&outer, 3);
    pol_frame_begin(&inner, &outer);
    ask(&inner, 3);
    pol_withspace_clear();
    assert_int_equal(test_heap_live(), live);
    assert_int_equal(counting.live, 2); /* forgotten, not released */
}

struct work_args {
    pol_array x;
};
struct work_outputs {
    pol_array y, z;
};
struct work_scratch {
    pol_array s, t;
};
static struct work_outputs work_outputs(const struct work_args *a)
{
    return (struct work_outputs){pol_undef_like(&a->x), pol_undef_like(&a->x)};
}
static struct work_scratch work_scratch(const struct work_args *a)
{
    return (struct work_scratch){pol_undef_like(&a->x), pol_undef_like(&a->x)};
}
static pol_status work(const struct work_outputs *out, const struct work_args *a,
                       const struct work_scratch *s)
{
    (void)out;
    (void)a;
    (void)s;
    return POL_OK;
}
POL_ALLOCATING(work, outputs, scratch);

/* E3, V6, trap 14: the heap refuses at any point of a call. */
static void a_call_on_the_heap_survives_every_refusal(void **state)
{
    (void)state;
    const struct work_args args = {pol_undef(POL_F32, 10)};
    size_t ok = 0, failed = 0;
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (size_t k = 1; k <= 12; k++) {
            struct work_outputs out;
            const size_t live = test_heap_live();
            test_heap_fail(k, for_ever);
            const pol_status got = pol_call(work, pol_heap(), &args, &out);
            test_heap_fail(0, false);
            if (got == POL_OK) {
                ok++;
                pol_release(&out.y);
                pol_release(&out.z);
            } else {
                failed++;
                assert_status(got, POL_ENOMEM);
                assert_true(pol_is_undef(&out.y) && pol_is_undef(&out.z));
            }
            assert_int_equal(test_heap_live(), live);
        }
    }
    assert_true(failed >= 8); /* two outputs and two scratch buffers, once and for ever */
    assert_true(ok > 0);
}

/* E1: of the heap, by name. */
static void the_heap_answers_enomem(void **state)
{
    (void)state;
    pol_array a;
    test_heap_fail(1, true);
    const pol_status got = pol_alloc(pol_heap(), &a, pol_undef(POL_F32, 10));
    test_heap_fail(0, false);
    assert_status(got, POL_ENOMEM);
    assert_error_says("40");
    assert_true(pol_is_undef(&a));
}

static pol_status nothing(pol_frame *frame, void *ctx)
{
    return (void)ctx, pol_new(frame, int, 3) ? POL_OK : POL_ECEILING;
}

/* E2, S6, A, F: no heap for reports, bindings, arenas, their frames, calls and dry runs. */
static void bindings_arenas_their_frames_calls_and_reports_use_no_heap(void **state)
{
    (void)state;
    const struct work_args args = {pol_undef(POL_F32, 10)};
    struct work_outputs out;
    pol_arena sub, dry;
    pol_array a;
    pol_verb_sizes sizes;
    const int times = 50;
    const size_t before = test_heap_calls();
    pol_status wrong = POL_OK;
    test_heap_fail(1, true);
    for (int i = 0; i < times; i++) {
        POL_WITHSPACE(&arena) {
            POL_SCRATCHSPACE(frame, pol_ambientspace()) {
                wrong |= pol_alloc(frame, &a, pol_undef(POL_F32, 3));
                wrong |= pol_arena_open(&sub, frame, 512, 0);
                wrong |= pol_scratchspace(&sub, nothing, NULL);
                wrong |= pol_call(work, &sub, &args, &out) == POL_ECEILING ? 0 : 1;
                wrong |= pol_arena_close(&sub);
                wrong |= pol_call(work, frame, &args, &out);
                wrong |= pol_alloc(frame, &a, pol_undef(POL_U8, 1 << 20)) == POL_ECEILING ? 0 : 1;
                wrong |= pol_alloc(NULL, &a, pol_undef(POL_U8, 1)) == POL_ENOAMBIENT ? 0 : 1;
            }
        }
        wrong |= pol_arena_measure(&dry, 0);
        wrong |= pol_call(work, &dry, &args, &out);
        wrong |= pol_verb_nbytes(&work_verb, &args, 0, &sizes);
        wrong |= pol_arena_open(&sub, pol_pages(), 4096, 0);
        wrong |= pol_arena_close(&sub);
    }
    const size_t calls = test_heap_calls() - before;
    test_heap_fail(0, false);
    assert_int_equal(calls, 0);
    assert_int_equal(wrong, POL_OK);
}

int main(void)
{
    if (!test_heap_is_ours()) {
        puts("SKIPPED: malloc is not the program's own here");
        return 77;
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)
    const struct CMUnitTest tests[] = {
        TEST(a_frame_whose_recording_fails_releases_each_array_once),
        TEST(a_bundle_whose_recording_fails_is_all_or_nothing),
        TEST(a_frame_on_marks_takes_back_without_malloc),
        TEST(a_skipped_frame_on_marks_is_taken_back_without_malloc),
        TEST(clear_frees_what_frames_had_recorded),
        TEST(a_call_on_the_heap_survives_every_refusal),
        TEST(the_heap_answers_enomem),
        TEST(bindings_arenas_their_frames_calls_and_reports_use_no_heap),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

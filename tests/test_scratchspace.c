/* SPDX-License-Identifier: MIT */

/*
 * Frames, rules F1 to F4.
 *
 * What a longjmp skips is made unreadable where it matters: the skipped frames lie in memory that
 * is overwritten and freed before the library is used again. Fixtures are static, because locals
 * that change between setjmp and longjmp have no value afterwards.
 */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "support.h"

static pol_arena arena, other; /* of 4096 bytes each, alignment 16 */
static struct test_space space, lender;
static jmp_buf back;

static struct told {
    int times;
    pol_status status;
} told;

static void tell(pol_status status, const char *text, void *ctx)
{
    struct told *const t = (struct told *)ctx;
    assert_string_equal(text, pol_last_error());
    t->times++;
    t->status = status;
}

static int open_fixture(void **state)
{
    (void)state;
    told.times = 0;
    told.status = POL_OK;
    pol_on_misuse(tell, &told);
    test_space_init(&space);
    test_space_init(&lender);
    return pol_arena_init(&arena, test_slab(0), 4096, 16) == POL_OK &&
                   pol_arena_init(&other, test_slab(4096) + 4096, 4096, 16) == POL_OK
               ? 0
               : -1;
}

static int close_fixture(void **state)
{
    pol_on_misuse(NULL, NULL);
    test_heap_fail(0, false);
    test_space_drop(&space);
    test_space_drop(&lender);
    return test_clear_ambient(state);
}

static pol_space *ambient(void)
{
    return pol_ambientspace_or((pol_space *)NULL);
}

static void *carve(pol_space *from, int64_t n)
{
    pol_array x;
    assert_ok(pol_alloc(from, &x, pol_undef(POL_U8, n)));
    return x.data;
}

static void assert_refused(pol_space *from, pol_status status)
{
    const pol_array description = pol_undef(POL_F32, 3);
    pol_array x;
    memset(&x, 0x5a, sizeof x);
    assert_status(pol_alloc(from, &x, description), status);
    assert_memory_equal(&x, &description, sizeof x);
}

static void assert_misused(int times, pol_status status)
{
    assert_int_equal(told.times, times);
    if (times)
        assert_status(told.status, status);
}

/* A frame where it can be made unreadable. */
static pol_frame *frame_on(pol_space *on)
{
    pol_frame *const f = (pol_frame *)malloc(sizeof *f);
    assert_non_null(f);
    pol_frame_begin(f, on);
    return f;
}

static void wreck(pol_frame *f)
{
    memset((void *)f, 0xff, sizeof *f);
    free(f);
}

enum { DEEP = 40 };

/* Where the i-th of DEEP frames began on the arena: each carves 8 bytes, at multiples of 16. */
static size_t start_of(int i)
{
    return i ? (size_t)i * 16 - 8 : 0;
}

static void open_deep(pol_frame *frames, pol_space *root)
{
    for (int i = 0; i < DEEP; i++) {
        pol_frame_begin(&frames[i], i ? &frames[i - 1].space : root);
        carve(&frames[i].space, 8);
    }
}

/* --- F1: opening and closing ----------------------------------------------------------------- */

static void frame_hands_out_its_spaces_memory(void **state) /* F1 */
{
    (void)state;
    pol_frame f;
    pol_frame_begin(&f, &arena);
    assert_ptr_equal(carve(&f.space, 16), test_slab(0));
    assert_ptr_equal(carve(&f.space, 16), test_slab(16));
    assert_int_equal(pol_arena_offset(&arena), 32);
    assert_ok(pol_frame_end(&f));
}

static void frame_end_gives_back_what_it_handed_out(void **state) /* F1, F2 */
{
    (void)state;
    pol_frame f;
    carve(POL_SPACE(&arena), 10);
    pol_frame_begin(&f, &arena);
    carve(&f.space, 100);
    assert_non_null(pol_new(&f, double, 10));
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&arena), 10);
    assert_ptr_equal(carve(POL_SPACE(&arena), 1), test_slab(16));
}

static void frame_that_hands_out_nothing_changes_nothing(void **state) /* F1 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space, pol_heap(), NULL};
    carve(POL_SPACE(&arena), 10);
    const struct test_state before = test_state_of(&arena, &space);
    for (int i = 0; i < 4; i++) {
        pol_frame f;
        pol_frame_begin(&f, roots[i]);
        assert_ok(pol_frame_end(&f));
        test_assert_unchanged(&before, &arena, &space);
    }
    assert_int_equal(space.requests, 0);
}

static void frame_on_null_answers_enoambient(void **state) /* F1 */
{
    (void)state;
    pol_frame f;
    pol_frame_begin(&f, (pol_space *)NULL);
    assert_refused(&f.space, POL_ENOAMBIENT);
    assert_null(pol_new(&f, double, 3));
    assert_ptr_equal(pol_ambientspace(), &f.space);
    assert_ok(pol_frame_end(&f));
    assert_null(ambient());
}

static void frame_on_a_frame_on_null_answers_enoambient(void **state) /* F1, F3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, (pol_space *)NULL);
    pol_frame_begin(&g, &f);
    assert_refused(&g.space, POL_ENOAMBIENT);
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
}

static void frame_failure_changes_nothing(void **state) /* E3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 10);
    pol_frame_begin(&g, &space.space);
    carve(&g.space, 10);
    const struct test_state before = test_state_of(&arena, &space);
    test_space_fail(&space, 1, false);
    assert_refused(&g.space, POL_ENOMEM);
    test_assert_unchanged(&before, &arena, &space);
    assert_null(pol_new(&f, char, 5000));
    test_assert_unchanged(&before, &arena, &space);
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void frame_that_has_ended_hands_out_nothing(void **state) /* F1, E3 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space};
    for (int i = 0; i < 2; i++) {
        pol_frame f;
        pol_array x;
        pol_frame_begin(&f, roots[i]);
        assert_ok(pol_frame_end(&f));
        const struct test_state before = test_state_of(&arena, &space);
        assert_int_not_equal(pol_alloc(&f, &x, pol_undef(POL_U8, 1)), POL_OK);
        assert_null(x.data);
        assert_null(pol_new(&f, char, 1));
        test_assert_unchanged(&before, &arena, &space);
    }
}

static pol_frame *seen;
static int calls;

static pol_status callback(pol_frame *frame, void *ctx)
{
    calls++;
    seen = frame;
    assert_ptr_equal(pol_ambientspace(), &frame->space);
    carve(&frame->space, 100);
    assert_int_equal(pol_arena_offset(&arena), 100);
    return *(const pol_status *)ctx;
}

static void scratchspace_runs_the_function_in_a_frame(void **state) /* F1 */
{
    (void)state;
    pol_status status = POL_OK;
    calls = 0;
    assert_ok(pol_scratchspace(&arena, callback, &status));
    assert_int_equal(calls, 1);
    assert_non_null(seen);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_null(ambient());
}

static void scratchspace_returns_the_functions_status(void **state) /* F1 */
{
    (void)state;
    pol_status status = POL_EUSER;
    assert_status(pol_scratchspace(&arena, callback, &status), POL_EUSER);
    assert_int_equal(pol_arena_offset(&arena), 0); /* and closes the frame all the same */
    assert_null(ambient());
}

static pol_frame left_open;

static pol_status leave_open(pol_frame *frame, void *ctx)
{
    pol_frame_begin(&left_open, frame);
    carve(&left_open.space, 10);
    return *(const pol_status *)ctx;
}

static void scratchspace_reports_a_frame_that_was_left_open(void **state) /* F1, F4 */
{
    (void)state;
    pol_status status = POL_OK;
    assert_status(pol_scratchspace(&arena, leave_open, &status), POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    status = POL_EUSER; /* the function's own comes first */
    assert_status(pol_scratchspace(&arena, leave_open, &status), POL_EUSER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_null(ambient());
}

static pol_status count_down(pol_frame *frame, void *ctx)
{
    int *const n = (int *)ctx;
    carve(&frame->space, 16);
    return --*n ? pol_scratchspace(frame, count_down, ctx) : POL_EUSER;
}

static void scratchspace_nests_40_deep(void **state) /* F1, F3 */
{
    (void)state;
    int n = 40;
    assert_status(pol_scratchspace(&arena, count_down, &n), POL_EUSER);
    assert_int_equal(n, 0);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_int_equal(pol_watermark(&arena), 40 * 16);
    assert_null(ambient());
    n = 40;
    assert_status(pol_scratchspace(&space.space, count_down, &n), POL_EUSER);
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
}

#if POL_HAS_CLEANUP

static void assert_all_closed(void)
{
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_null(ambient());
    assert_misused(0, POL_OK);
}

static void block_is_left_at_its_end(void **state) /* F1 */
{
    (void)state;
    int runs = 0;
    POL_SCRATCHSPACE(frame, &arena) {
        runs++;
        assert_true(_Generic(frame, pol_frame * : true, default : false));
        assert_ptr_equal(pol_ambientspace(), &frame->space);
        carve(&frame->space, 100);
    }
    assert_int_equal(runs, 1);
    assert_int_equal(pol_watermark(&arena), 100);
    assert_all_closed();
}

static pol_status return_from_two(void)
{
    POL_SCRATCHSPACE(outer, &arena) {
        carve(&outer->space, 100);
        POL_SCRATCHSPACE(inner, outer) {
            carve(&inner->space, 100);
            return POL_EUSER;
        }
    }
    return POL_OK;
}

static void block_is_left_by_return(void **state) /* F1 */
{
    (void)state;
    assert_status(return_from_two(), POL_EUSER);
    assert_int_equal(pol_watermark(&arena), 212);
    assert_all_closed();
}

static pol_status try_in_a_block(void)
{
    POL_SCRATCHSPACE(frame, &arena) {
        pol_array x;
        POL_TRY(pol_alloc(frame, &x, pol_undef(POL_U8, 100)));
        POL_TRY(pol_alloc(frame, &x, pol_undef(POL_U8, 5000)));
    }
    return POL_OK;
}

static void block_is_left_by_try(void **state) /* F1, E1 */
{
    (void)state;
    assert_status(try_in_a_block(), POL_ECEILING);
    assert_all_closed();
}

static void block_is_left_by_goto(void **state) /* F1 */
{
    (void)state;
    POL_SCRATCHSPACE(outer, &arena) {
        POL_SCRATCHSPACE(inner, outer) {
            carve(&inner->space, 100);
            goto out;
        }
    }
    fail();
out:
    assert_int_equal(pol_watermark(&arena), 100);
    assert_all_closed();
}

static void block_is_left_by_break_and_no_more(void **state) /* F1 */
{
    (void)state;
    int after = 0, not_reached = 0;
    for (int i = 0; i < 3; i++) {
        POL_SCRATCHSPACE(frame, &arena) {
            carve(&frame->space, 100);
            if (i >= 0)
                break;
            not_reached++;
        }
        after++; /* the loop around goes on */
        assert_all_closed();
    }
    assert_int_equal(after, 3);
    assert_int_equal(not_reached, 0);
}

static void block_is_left_by_continue_and_no_more(void **state) /* F1 */
{
    (void)state;
    int after = 0, not_reached = 0;
    for (int i = 0; i < 3; i++) {
        POL_SCRATCHSPACE(frame, &arena) {
            carve(&frame->space, 100);
            if (i >= 0)
                continue;
            not_reached++;
        }
        after++;
        assert_all_closed();
    }
    assert_int_equal(after, 3);
    assert_int_equal(not_reached, 0);
}

static void break_in_a_nested_block_leaves_the_inner_one_alone(void **state) /* F1 */
{
    (void)state;
    int after = 0;
    POL_SCRATCHSPACE(outer, &arena) {
        carve(&outer->space, 16);
        POL_SCRATCHSPACE(inner, outer) {
            carve(&inner->space, 16);
            break;
        }
        assert_int_equal(pol_arena_offset(&arena), 16);
        assert_ptr_equal(pol_ambientspace(), &outer->space);
        carve(&outer->space, 16);
        after++;
    }
    assert_int_equal(after, 1);
    assert_all_closed();
}

static void block_evaluates_its_space_once(void **state) /* F1 */
{
    (void)state;
    pol_arena *arenas[2] = {&arena, &other}, **next = arenas;
    POL_SCRATCHSPACE(frame, *next++) {
        carve(&frame->space, 10);
    }
    assert_ptr_equal(next, arenas + 1);
    assert_int_equal(pol_watermark(&arena), 10);
}

static void block_with_a_frame_left_open_tells_the_handler(void **state) /* F4, E4, trap 19 */
{
    (void)state;
    POL_SCRATCHSPACE(frame, &arena) {
        pol_frame_begin(&left_open, frame);
        carve(&left_open.space, 10);
    }
    assert_misused(1, POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_null(ambient());
}

static void block_whose_frame_was_ended_tells_the_handler(void **state) /* F4, E4 */
{
    (void)state;
    POL_SCRATCHSPACE(frame, &arena) {
        assert_ok(pol_frame_end(frame));
    }
    assert_misused(1, POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_null(ambient());
}

static void block_on_null_runs(void **state) /* F1 */
{
    (void)state;
    int runs = 0;
    POL_SCRATCHSPACE(frame, (pol_space *)NULL) {
        runs++;
        assert_refused(&frame->space, POL_ENOAMBIENT);
    }
    assert_int_equal(runs, 1);
    assert_all_closed();
}

#endif /* POL_HAS_CLEANUP */

/* --- F2: marks and records ------------------------------------------------------------------- */

struct four {
    pol_array a, b, c, d;
};

static struct four four_of(int64_t n)
{
    const pol_array one = pol_undef(POL_U8, n);
    return (struct four){one, one, one, one};
}

static void frame_on_a_space_with_marks_is_one_mark(void **state) /* F2 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    test_marking_init(&marking);
    carve(&marking.space, 10);
    const size_t marks = marking.nmarks;
    pol_frame_begin(&f, &marking.space);
    assert_int_equal(marking.nmarks - marks, 1);
    for (int i = 0; i < 10; i++)
        carve(&f.space, 100);
    assert_int_equal(marking.used, 1010);
    const size_t retracts = marking.nretracts;
    assert_ok(pol_frame_end(&f));
    assert_int_equal(marking.nretracts - retracts, 1);
    assert_int_equal(marking.used, 10);
}

static void frame_on_a_space_with_marks_opens_without_heap(void **state) /* F1, F2 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    pol_array x;
    if (!test_heap_is_ours())
        skip();
    test_marking_init(&marking);
    carve(&marking.space, 10);
    test_heap_fail(1, true);
    pol_frame_begin(&f, &marking.space); /* cannot fail */
    const pol_status asked = pol_alloc(&f, &x, pol_undef(POL_U8, 100));
    const pol_status ended = pol_frame_end(&f);
    test_heap_fail(0, false);
    if (asked != POL_OK) /* it may, for want of a record, but says so */
        assert_status(asked, POL_ENOMEM);
    assert_ok(ended);
    assert_int_equal(marking.used, 10);
    assert_null(ambient());
}

static void end_answers_what_a_retract_found(void **state) /* F2, S1, E1 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    test_marking_init(&marking);
    carve(&marking.space, 10);
    pol_frame_begin(&f, &marking.space);
    carve(&f.space, 100);
    marking.found = POL_ECORRUPT;
    assert_status(pol_frame_end(&f), POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_int_equal(marking.used, 10);
    assert_null(ambient());
    assert_status(pol_frame_end(&f), POL_EORDER); /* it is closed */
    assert_int_equal(marking.nretracts, 1);
    assert_misused(0, POL_OK);
}

static void end_gives_a_text_to_a_retract_without_one(void **state) /* F2, E2 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    test_marking_init(&marking);
    assert_status(pol_fail(POL_EUSER, "before"), POL_EUSER);
    pol_frame_begin(&f, &marking.space);
    marking.found = POL_ECORRUPT;
    marking.silent = true;
    assert_status(pol_frame_end(&f), POL_ECORRUPT);
    assert_error_says("space marking space: its retract answered POL_ECORRUPT");
}

static void outer_end_answers_the_first_failing_retract(void **state) /* F4, S1 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f, g, h, in_the_arena;
    pol_array x;
    test_marking_init(&marking);
    pol_frame_begin(&f, &marking.space);
    pol_frame_begin(&in_the_arena, &arena);
    carve(&in_the_arena.space, 10);
    pol_frame_begin(&g, &marking.space);
    carve(&g.space, 100);
    pol_frame_begin(&h, &space.space);
    assert_ok(pol_alloc(&h, &x, pol_undef(POL_U8, 5)));
    marking.found = POL_ECORRUPT;
    assert_status(pol_frame_end(&f), POL_ECORRUPT); /* and not POL_EORDER: damage is worse */
    assert_error_says("retract 1 found damage");
    assert_int_equal(marking.nretracts, 2); /* everything is closed all the same */
    assert_int_equal(marking.used, 0);
    assert_int_equal(pol_arena_offset(&arena), 0);
    test_space_assert_clean(&space);
    assert_null(ambient());
    assert_status(pol_frame_end(&h), POL_EORDER);
    assert_status(pol_frame_end(&g), POL_EORDER);
    assert_status(pol_frame_end(&in_the_arena), POL_EORDER);
    assert_int_equal(marking.nretracts, 2);
}

static pol_status carve_and_answer(pol_frame *frame, void *ctx)
{
    const pol_status status = *(const pol_status *)ctx;
    carve(&frame->space, 10);
    return status == POL_OK ? status : pol_fail(status, "the function's own");
}

static void handler_is_told_what_the_later_retracts_found(void **state) /* F4, E4 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f, g, h;
    test_marking_init(&marking);
    pol_frame_begin(&f, &marking.space);
    pol_frame_begin(&g, &f);
    pol_frame_begin(&h, &g);
    marking.found = POL_ECORRUPT;
    assert_status(pol_frame_end(&f), POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_misused(2, POL_ECORRUPT);
    assert_int_equal(marking.nretracts, 3);
}

static void scratchspace_answers_what_a_retract_found(void **state) /* F1, F2 */
{
    (void)state;
    struct test_marking marking;
    pol_status status = POL_OK;
    test_marking_init(&marking);
    marking.found = POL_ECORRUPT;
    assert_status(pol_scratchspace(&marking.space, carve_and_answer, &status), POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_misused(0, POL_OK);
    assert_null(ambient());
}

static void scratchspace_tells_the_handler_of_damage_behind_a_failure(void **state) /* F1, E4 */
{
    (void)state;
    struct test_marking marking;
    pol_status status = POL_EUSER;
    test_marking_init(&marking);
    marking.found = POL_ECORRUPT;
    assert_status(pol_scratchspace(&marking.space, carve_and_answer, &status), POL_EUSER);
    assert_string_equal(pol_last_error(), "the function's own");
    assert_misused(1, POL_ECORRUPT);
    assert_int_equal(marking.used, 0);
}

static void recover_tells_the_handler_what_a_retract_found(void **state) /* F4, E4 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f, g;
    test_marking_init(&marking);
    pol_frame_begin(&f, &arena);
    pol_frame_begin(&g, &marking.space);
    carve(&g.space, 10);
    marking.found = POL_ECORRUPT;
    pol_frame_recover(&f);
    assert_misused(1, POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_int_equal(marking.used, 0);
    assert_ptr_equal(ambient(), &f.space);
    assert_ok(pol_frame_end(&f));
}

static void failed_bundle_tells_the_handler_what_a_retract_found(void **state) /* S2, E4 */
{
    (void)state;
    struct test_marking marking;
    struct four x;
    test_marking_init(&marking);
    marking.found = POL_ECORRUPT;
    marking.fail_at = 3;
    assert_status(pol_alloc(&marking.space, &x, four_of(5)), POL_ENOMEM);
    assert_error_says("request 3 refused");
    assert_misused(1, POL_ECORRUPT);
    assert_int_equal(marking.used, 0);
}

#if POL_HAS_CLEANUP
static void block_tells_the_handler_what_a_retract_found(void **state) /* F1, E4 */
{
    (void)state;
    struct test_marking marking;
    test_marking_init(&marking);
    POL_SCRATCHSPACE(frame, &marking.space) {
        carve(&frame->space, 10);
        marking.found = POL_ECORRUPT;
    }
    assert_misused(1, POL_ECORRUPT);
    assert_error_says("retract 1 found damage");
    assert_int_equal(marking.used, 0);
    assert_null(ambient());
}
#endif

/* F1, F3, A7: on an arena, frames need no heap up to 8; the deeper ones say that they do. */
static void frames_nest_40_deep_without_heap(void **state)
{
    (void)state;
    enum { TRACKED = 8 };
    static pol_frame frames[DEEP];
    bool asked = true, ended = true, beneath = true;
    if (!test_heap_is_ours())
        skip();
    test_heap_fail(1, true);
    for (int i = 0; i < DEEP; i++) {
        pol_frame_begin(&frames[i], &arena);
        asked = asked && (i < TRACKED) == !!pol_new(&frames[i], char, 8);
        if (i < TRACKED)
            beneath = beneath && !pol_new(i ? &frames[i - 1].space : POL_SPACE(&arena), char, 8);
    }
    pol_array a;
    const pol_status deepest = pol_alloc(&frames[DEEP - 1], &a, pol_undef(POL_U8, 8));
    for (int i = DEEP - 1; i >= 0; i--)
        ended = pol_frame_end(&frames[i]) == POL_OK &&
                pol_arena_offset(&arena) == start_of(i < TRACKED ? i : TRACKED) && ended;
    test_heap_fail(0, false);
    assert_true(asked);
    assert_true(beneath);
    assert_true(ended);
    assert_status(deepest, POL_ENOMEM);
    assert_null(ambient());
}

/* F4: a late end of a frame too deep for a record closes nobody. */
static void late_end_of_an_unrecorded_frame_closes_nobody(void **state)
{
    (void)state;
    static pol_frame frames[16], late, living;
    pol_array a;
    if (!test_heap_is_ours())
        skip();
    for (int i = 0; i < 16; i++)
        pol_frame_begin(&frames[i], &space.space);
    test_heap_fail(1, true);
    pol_frame_begin(&late, &space.space);
    test_heap_fail(0, false);
    pol_frame_recover(&frames[15]);
    pol_frame_begin(&living, &space.space);
    assert_ok(pol_alloc(&living, &a, pol_undef(POL_U8, 8)));
    const size_t live = space.live;
    assert_status(pol_frame_end(&late), POL_EORDER);
    assert_int_equal(space.live, live);
    assert_ok(pol_frame_end(&living));
    for (int i = 15; i >= 0; i--)
        assert_ok(pol_frame_end(&frames[i]));
    assert_int_equal(space.live, 0);
}

/* F4, A9: a frame that an outer one's end closed hands out nothing, on the fast path neither. */
static void new_from_a_closed_frame_is_refused(void **state)
{
    (void)state;
    pol_frame outer, inner;
    pol_frame_begin(&outer, &space.space);
    pol_frame_begin(&inner, &arena);
    assert_status(pol_frame_end(&outer), POL_EORDER);
    assert_null(pol_new(&inner, int, 4));
    assert_int_equal(pol_arena_offset(&arena), 0);
    pol_frame_begin(&inner, &arena);
    pol_withspace_clear();
    assert_null(pol_new(&inner, int, 4));
}

static void frame_elsewhere_releases_each_array_once_in_reverse(void **state) /* F2 */
{
    (void)state;
    pol_frame f;
    pol_array x;
    struct four y;
    pol_frame_begin(&f, &space.space);
    for (int i = 0; i < 50; i++)
        assert_ok(pol_alloc(&f, &x, pol_undef(POL_U8, i)));
    assert_ok(pol_alloc(&f, &y, four_of(7)));
    assert_non_null(pol_new(&f, double, 7));
    assert_int_equal(space.live, 55);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    assert_int_equal(space.nlog, 110);
}

static void frame_arrays_are_not_the_callers_to_release(void **state) /* F2, S4 */
{
    (void)state;
    pol_frame f;
    pol_array x, y;
    pol_frame_begin(&f, &space.space);
    assert_ok(pol_alloc(&f, &x, pol_undef(POL_U8, 10)));
    y = x;
    pol_release(&y);
    assert_ptr_equal(y.data, x.data);
    assert_int_equal(space.live, 1);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
}

static void frame_does_not_release_what_passed_through(void **state) /* F2, S2 */
{
    (void)state;
    pol_frame f;
    pol_array mine, x;
    assert_ok(pol_alloc(&space.space, &mine, pol_undef(POL_U8, 10)));
    pol_frame_begin(&f, &space.space);
    assert_ok(pol_alloc(&f, &x, mine));
    assert_ptr_equal(x.data, mine.data);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(space.live, 1);
    pol_release(&mine);
    test_space_assert_clean(&space);
}

static void frame_releases_arrays_of_no_bytes_at_most_once(void **state) /* F2, trap 11 */
{
    (void)state;
    pol_frame f;
    pol_array x, y;
    pol_frame_begin(&f, &space.space);
    assert_ok(pol_alloc(&f, &x, pol_undef(POL_U8, 0)));
    assert_ok(pol_alloc(&f, &y, pol_undef(POL_U8, 0)));
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
}

static void frame_releases_what_it_had_when_a_request_is_refused(void **state) /* F2, trap 14 */
{
    (void)state;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (size_t k = 1; k <= 7; k++) { /* two alone, a bundle of four, one more */
            pol_frame f;
            pol_array x, y, z;
            struct four b;
            test_space_init(&space);
            pol_frame_begin(&f, &space.space);
            test_space_fail(&space, k, for_ever);
            const size_t live[] = {pol_alloc(&f, &x, pol_undef(POL_U8, 10)) == POL_OK ? 1 : 0,
                                   pol_alloc(&f, &y, pol_undef(POL_U8, 10)) == POL_OK ? 1 : 0,
                                   pol_alloc(&f, &b, four_of(10)) == POL_OK ? 4 : 0,
                                   pol_alloc(&f, &z, pol_undef(POL_U8, 10)) == POL_OK ? 1 : 0};
            assert_int_equal(space.live, live[0] + live[1] + live[2] + live[3]);
            assert_ok(pol_frame_end(&f));
            test_space_assert_clean(&space);
            test_space_assert_reverse(&space);
        }
}

static void frame_releases_what_it_had_when_recording_fails(void **state) /* F2 */
{
    (void)state;
    if (!test_heap_is_ours())
        skip();
    int refusals = 0;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (size_t k = 1; k <= 20; k++) {
            pol_frame f;
            pol_array x;
            struct four b;
            const struct four description = four_of(10);
            test_space_init(&space);
            pol_frame_begin(&f, &space.space);
            test_heap_fail(k, for_ever);
            for (int i = 0; i < 4; i++) {
                const struct test_state before = test_state_of(NULL, &space);
                const pol_status one = pol_alloc(&f, &x, pol_undef(POL_U8, 10));
                if (one != POL_OK) {
                    refusals++;
                    assert_status(one, POL_ENOMEM);
                    assert_null(x.data);
                    test_assert_unchanged(&before, NULL, &space);
                }
                const struct test_state then = test_state_of(NULL, &space);
                const pol_status four = pol_alloc(&f, &b, description);
                if (four != POL_OK) {
                    refusals++;
                    assert_status(four, POL_ENOMEM);
                    assert_memory_equal(&b, &description, sizeof b);
                    test_assert_unchanged(&then, NULL, &space);
                }
            }
            test_heap_fail(0, false);
            assert_ok(pol_frame_end(&f));
            test_space_assert_clean(&space);
            test_space_assert_reverse(&space);
        }
    assert_true(refusals > 0);
}

static void frame_on_the_heap_gives_back_to_the_heap(void **state) /* F2 */
{
    (void)state;
    pol_frame f; /* leaks and double frees are for the tools to see */
    pol_frame_begin(&f, pol_heap());
    for (int i = 0; i < 100; i++)
        *(char *)carve(&f.space, 1 + i) = 'x';
    assert_ok(pol_frame_end(&f));
}

static void frame_on_a_space_that_takes_nothing_back_is_harmless(void **state) /* F2, S1 */
{
    (void)state;
    pol_frame f;
    test_space_init_keeping(&space);
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(space.live, 1);
    assert_int_equal(space.bad_releases, 0);
}

static void frame_whose_release_opens_a_frame_keeps_its_order(void **state) /* F2, trap 20 */
{
    (void)state;
    pol_frame f, g;
    test_space_init_reentrant(&space);
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    pol_frame_begin(&g, &f);
    carve(&g.space, 20);
    carve(&g.space, 30);
    assert_ok(pol_frame_end(&g));
    assert_int_equal(space.reentered, 2);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    carve(&f.space, 40);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(space.reentered, 4);
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    assert_null(ambient());
}

static void outer_end_with_a_release_that_opens_a_frame(void **state) /* F4, trap 20 */
{
    (void)state;
    pol_frame f;
    test_space_init_reentrant(&space);
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    pol_frame *const g = frame_on(&f.space), *const h = frame_on(&g->space);
    carve(&h->space, 20);
    carve(&h->space, 30);
    wreck(g);
    wreck(h);
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_int_equal(space.reentered, 3);
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    assert_null(ambient());
}

/* --- F3: ambient and nesting ----------------------------------------------------------------- */

static void frame_is_the_ambient_space_inside(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g;
    pol_scope scope;
    pol_withspace_begin(&scope, &other);
    pol_frame_begin(&f, &arena);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    pol_frame_begin(&g, &space.space);
    assert_ptr_equal(pol_ambientspace(), &g.space);
    assert_ok(pol_frame_end(&g));
    assert_ptr_equal(pol_ambientspace(), &f.space);
    assert_ok(pol_frame_end(&f));
    assert_ptr_equal(pol_ambientspace(), &other.space);
    pol_withspace_end(&scope);
}

static void frame_end_repairs_bindings_that_were_jumped_over(void **state) /* F3, F4, S6 */
{
    (void)state;
    pol_frame f;
    pol_scope scope;
    pol_frame_begin(&f, &arena);
    pol_withspace_begin(&scope, &other);
    assert_ok(pol_frame_end(&f));
    assert_null(ambient());
}

static void inner_frame_takes_back_only_its_own(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame_begin(&g, &f);
    carve(&g.space, 16);
    assert_ok(pol_frame_end(&g));
    assert_int_equal(pol_arena_offset(&arena), 16);
    assert_ptr_equal(carve(&f.space, 16), test_slab(16));
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void inner_frame_on_records_takes_back_only_its_own(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    pol_frame_begin(&g, &f);
    carve(&g.space, 20);
    carve(&g.space, 30);
    assert_int_equal(space.live, 3);
    assert_ok(pol_frame_end(&g));
    assert_int_equal(space.live, 1);
    assert_int_equal(space.live_bytes, 10);
    carve(&f.space, 40);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
}

static void outer_frame_elsewhere_may_be_asked_while_an_inner_is_open(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &space.space);
    pol_frame_begin(&g, &lender.space);
    carve(&g.space, 10);
    carve(&f.space, 20); /* is f's, though g is open */
    carve(&g.space, 30);
    assert_ok(pol_frame_end(&g));
    test_space_assert_clean(&lender);
    assert_int_equal(space.live, 1);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
}

static void outer_frame_on_the_same_records_keeps_its_own(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &space.space);
    pol_frame_begin(&g, &f);
    carve(&g.space, 10);
    carve(&f.space, 20);
    carve(&g.space, 30);
    assert_ok(pol_frame_end(&g));
    assert_int_equal(space.live, 1);
    assert_int_equal(space.live_bytes, 20);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
}

static void frames_on_different_spaces_nest(void **state) /* F3 */
{
    (void)state;
    pol_frame f, g, h;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame_begin(&g, &space.space);
    carve(&g.space, 16);
    pol_frame_begin(&h, &f);
    carve(&h.space, 16);
    assert_int_equal(pol_arena_offset(&arena), 32);
    assert_ok(pol_frame_end(&h));
    assert_int_equal(pol_arena_offset(&arena), 16);
    assert_int_equal(space.live, 1);
    assert_ok(pol_frame_end(&g));
    test_space_assert_clean(&space);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void frames_on_a_space_with_marks_nest(void **state) /* F2, F3 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f, g;
    test_marking_init(&marking);
    pol_frame_begin(&f, &marking.space);
    carve(&f.space, 10);
    pol_frame_begin(&g, &f);
    carve(&g.space, 10);
    assert_ok(pol_frame_end(&g));
    assert_int_equal(marking.used, 10);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(marking.used, 0);
}

static void frames_nest_40_deep(void **state) /* F3 */
{
    (void)state;
    pol_frame frames[DEEP];
    open_deep(frames, POL_SPACE(&arena));
    for (int i = DEEP - 1; i >= 0; i--) {
        assert_ptr_equal(pol_ambientspace(), &frames[i].space);
        assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(pol_arena_offset(&arena), start_of(i));
    }
    assert_null(ambient());
}

static void frames_on_records_nest_40_deep(void **state) /* F3 */
{
    (void)state;
    pol_frame frames[DEEP];
    open_deep(frames, &space.space);
    for (int i = DEEP - 1; i >= 0; i--) {
        assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(space.live, i);
    }
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
}

static void frames_nest_300_deep(void **state) /* F3 */
{
    (void)state;
    static pol_frame frames[300];
    assert_ok(pol_arena_init(&arena, test_slab(0), 8192, 16));
    for (int i = 0; i < 300; i++) {
        pol_frame_begin(&frames[i], i ? &frames[i - 1].space : POL_SPACE(&arena));
        assert_non_null(pol_new(&frames[i], char, 1));
        assert_refused(i ? &frames[i - 1].space : POL_SPACE(&arena), POL_EORDER); /* A7 */
        if (i % 20 == 19)
            pol_frame_recover(&frames[i]); /* of nothing skipped */
    }
    for (int i = 299; i >= 0; i--) {
        assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(pol_arena_offset(&arena), i ? 16 * (i - 1) + 1 : 0);
    }
    assert_misused(0, POL_OK);
}

/* --- F4: out of order ------------------------------------------------------------------------ */

static void outer_end_closes_those_above(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_frame f, g;
    carve(POL_SPACE(&arena), 10);
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame_begin(&g, &f);
    carve(&g.space, 16);
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 10);
    assert_null(ambient());
    carve(POL_SPACE(&arena), 16); /* no frame is open any more */
}

static void outer_end_releases_everything_once(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    pol_frame_begin(&g, &f);
    carve(&g.space, 20);
    carve(&g.space, 30);
    assert_status(pol_frame_end(&f), POL_EORDER);
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
}

static void late_end_is_a_reported_no_op(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space};
    for (int i = 0; i < 2; i++) {
        pol_frame f, g;
        pol_frame_begin(&f, roots[i]);
        pol_frame_begin(&g, &f);
        carve(&g.space, 16);
        assert_status(pol_frame_end(&f), POL_EORDER);
        carve(POL_SPACE(&arena), 16);
        const struct test_state before = test_state_of(&arena, &space);
        assert_int_equal(pol_fail(POL_EUSER, "before"), POL_EUSER);
        assert_status(pol_frame_end(&g), POL_EORDER);
        assert_string_not_equal(pol_last_error(), "before");
        test_assert_unchanged(&before, &arena, &space);
    }
}

static void late_end_leaves_a_frame_opened_since(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space, NULL};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            pol_frame f, g, h, since, above;
            pol_frame_begin(&f, roots[i]);
            pol_frame_begin(&g, &f);
            pol_frame_begin(&h, &g);
            assert_status(pol_frame_end(&f), POL_EORDER);
            pol_frame_begin(&since, roots[k]);
            pol_frame_begin(&above, roots[k]);
            if (roots[k])
                carve(&above.space, 16);
            const struct test_state before = test_state_of(&arena, &space);
            assert_status(pol_frame_end(&h), POL_EORDER);
            assert_status(pol_frame_end(&g), POL_EORDER);
            assert_status(pol_frame_end(&f), POL_EORDER);
            test_assert_unchanged(&before, &arena, &space);
            assert_ok(pol_frame_end(&above));
            assert_ok(pol_frame_end(&since));
        }
    test_space_assert_clean(&space);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void end_twice_is_a_reported_no_op(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space};
    for (int i = 0; i < 2; i++) {
        pol_frame f;
        pol_frame_begin(&f, roots[i]);
        carve(&f.space, 16);
        assert_ok(pol_frame_end(&f));
        carve(POL_SPACE(&arena), 16);
        const struct test_state before = test_state_of(&arena, &space);
        assert_int_equal(pol_fail(POL_EUSER, "before"), POL_EUSER);
        assert_status(pol_frame_end(&f), POL_EORDER);
        assert_string_not_equal(pol_last_error(), "before");
        test_assert_unchanged(&before, &arena, &space);
    }
    test_space_assert_clean(&space);
}

static void end_without_a_begin_is_a_reported_no_op(void **state) /* F4, trap 19 */
{
    (void)state;
    pol_frame never, f;
    memset((void *)&never, 0, sizeof never);
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    const struct test_state before = test_state_of(&arena, NULL);
    assert_int_equal(pol_fail(POL_EUSER, "before"), POL_EUSER);
    assert_status(pol_frame_end(&never), POL_EORDER);
    assert_string_not_equal(pol_last_error(), "before");
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_frame_end(&f));
}

static void end_of_null_is_einval(void **state) /* F4 */
{
    (void)state;
    assert_status(pol_frame_end(NULL), POL_EINVAL);
}

static void *end_elsewhere(void *frame)
{
    static pol_status status;
    status = pol_frame_end((pol_frame *)frame);
    return &status;
}

static void end_on_another_thread_is_refused(void **state) /* F4, E1 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), &space.space};
    for (int i = 0; i < 2; i++) {
        pol_frame f;
        pthread_t thread;
        void *status = NULL;
        pol_frame_begin(&f, roots[i]);
        carve(&f.space, 16);
        const struct test_state before = test_state_of(&arena, &space);
        assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &f), 0);
        assert_int_equal(pthread_join(thread, &status), 0);
        assert_status(*(pol_status *)status, POL_ETHREAD);
        test_assert_unchanged(&before, &arena, &space);
        assert_ok(pol_frame_end(&f));
    }
    test_space_assert_clean(&space);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void skipped_frames_are_not_read(void **state) /* F4 */
{
    (void)state;
    pol_space *const roots[] = {POL_SPACE(&arena), POL_SPACE(&other), &space.space, NULL};
    pol_frame f;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            pol_frame *const g = frame_on(roots[i]), *const h = frame_on(roots[k]);
            if (roots[k])
                carve(&h->space, 16);
            wreck(g);
            wreck(h);
            pol_frame_recover(&f);
            assert_int_equal(pol_arena_offset(&arena), 16);
            test_space_assert_clean(&space);
        }
    pol_frame *const g = frame_on(&f.space), *const h = frame_on(&space.space);
    carve(&h->space, 16);
    wreck(g);
    wreck(h);
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    test_space_assert_clean(&space);
}

static void outer_end_takes_back_from_other_arenas_too(void **state) /* F4 */
{
    (void)state;
    pol_frame f;
    carve(POL_SPACE(&other), 10);
    pol_frame_begin(&f, &arena);
    pol_frame *const g = frame_on(POL_SPACE(&other)), *const h = frame_on(&g->space);
    carve(&h->space, 100);
    wreck(g);
    wreck(h);
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_int_equal(pol_arena_offset(&other), 10);
    assert_int_equal(pol_watermark(&other), 116);
    assert_ptr_equal(carve(POL_SPACE(&other), 1), (char *)test_slab(4096) + 4096 + 16);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void outer_end_makes_other_arenas_usable_again(void **state) /* F4, A1, A4, A5, A7 */
{
    (void)state;
    for (int how = 0; how < 5; how++) {
        pol_frame f, again;
        pol_array x;
        assert_ok(pol_arena_init(&other, test_slab(4096) + 4096, 4096, 16));
        const struct pol_mark mark = pol_mark(&other);
        pol_frame_begin(&f, &arena);
        pol_frame *const g = frame_on(POL_SPACE(&other));
        carve(&g->space, 100);
        wreck(g);
        assert_status(pol_frame_end(&f), POL_EORDER);
        if (how == 0)
            assert_ok(pol_reset(&other));
        else if (how == 1)
            assert_ok(pol_retract(&other, mark));
        else if (how == 2)
            assert_ok(pol_alloc(&other, &x, pol_undef(POL_U8, 1)));
        else if (how == 3) {
            pol_frame_begin(&again, &other);
            assert_non_null(pol_new(&again, char, 1));
            assert_ok(pol_frame_end(&again));
        } else
            assert_non_null(pol_new(&other, char, 1));
        assert_int_equal(pol_arena_offset(&other), how == 2 || how == 4 ? 1 : 0);
        assert_ok(pol_arena_close(&other));
    }
}

static void outer_end_takes_back_from_a_space_with_marks(void **state) /* F2, F4 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    test_marking_init(&marking);
    carve(&marking.space, 10);
    pol_frame_begin(&f, &arena);
    pol_frame *const g = frame_on(&marking.space), *const h = frame_on(&g->space);
    carve(&h->space, 100);
    wreck(g);
    wreck(h);
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_int_equal(marking.used, 10);
}

static void outer_end_of_40_closes_all_above(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP];
    for (int keep = 0; keep < DEEP - 1; keep++) {
        open_deep(frames, POL_SPACE(&arena));
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(DEEP - keep - 1));
        assert_status(pol_frame_end(&frames[keep]), POL_EORDER);
        assert_int_equal(pol_arena_offset(&arena), start_of(keep));
        for (int i = keep - 1; i >= 0; i--) {
            assert_ptr_equal(pol_ambientspace(), &frames[i].space);
            assert_ok(pol_frame_end(&frames[i]));
            assert_int_equal(pol_arena_offset(&arena), start_of(i));
        }
    }
}

static void outer_end_of_40_on_records_closes_all_above(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP];
    for (int keep = 0; keep < DEEP - 1; keep++) {
        test_space_init(&space);
        open_deep(frames, &space.space);
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(DEEP - keep - 1));
        assert_status(pol_frame_end(&frames[keep]), POL_EORDER);
        assert_int_equal(space.live, keep);
        for (int i = keep - 1; i >= 0; i--)
            assert_ok(pol_frame_end(&frames[i]));
        test_space_assert_clean(&space);
        test_space_assert_reverse(&space);
    }
}

static void outer_end_deep_takes_back_from_other_arenas_too(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP]; /* the even ones on one arena, the odd ones on the other */
    for (int keep = 0; keep < DEEP - 2; keep++) {
        for (int i = 0; i < DEEP; i++) {
            pol_frame_begin(&frames[i], i % 2 ? &other : &arena);
            carve(&frames[i].space, 8);
        }
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(DEEP - keep - 1));
        assert_status(pol_frame_end(&frames[keep]), POL_EORDER);
        assert_int_equal(pol_arena_offset(&arena), start_of((keep + 1) / 2));
        assert_int_equal(pol_arena_offset(&other), start_of(keep / 2));
        for (int i = keep - 1; i >= 0; i--)
            assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(pol_arena_offset(&arena), 0);
        assert_int_equal(pol_arena_offset(&other), 0);
    }
}

static void late_end_deep_leaves_frames_opened_since(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP], since[DEEP];
    for (int keep = 0; keep < DEEP - 1; keep++) {
        open_deep(frames, POL_SPACE(&arena));
        assert_status(pol_frame_end(&frames[keep]), POL_EORDER);
        for (int i = keep; i < DEEP; i++) {
            pol_frame_begin(&since[i], &arena);
            carve(&since[i].space, 8);
        }
        const struct test_state before = test_state_of(&arena, NULL);
        for (int i = DEEP - 1; i >= keep; i--)
            assert_status(pol_frame_end(&frames[i]), POL_EORDER);
        test_assert_unchanged(&before, &arena, NULL);
        for (int i = DEEP - 1; i >= keep; i--)
            assert_ok(pol_frame_end(&since[i]));
        for (int i = keep - 1; i >= 0; i--)
            assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(pol_arena_offset(&arena), 0);
    }
}

/* --- F4: recover ----------------------------------------------------------------------------- */

static void recover_makes_the_frame_innermost_again(void **state) /* F4 */
{
    (void)state;
    pol_frame f;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame *const g = frame_on(&f.space), *const h = frame_on(&g->space);
    carve(&h->space, 100);
    wreck(g);
    wreck(h);
    pol_frame_recover(&f);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    assert_int_equal(pol_arena_offset(&arena), 16); /* its own stay */
    assert_ptr_equal(carve(&f.space, 16), test_slab(16));
    assert_misused(0, POL_OK);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void recover_is_as_when_the_first_of_the_skipped_began(void **state) /* F4 */
{
    (void)state;
    pol_frame f, before;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame_begin(&before, &f); /* one that ended orderly does not count */
    carve(&before.space, 16);
    assert_ok(pol_frame_end(&before));
    carve(&f.space, 48);
    pol_frame *const g = frame_on(&f.space);
    carve(&g->space, 16);
    pol_frame *const h = frame_on(&g->space);
    carve(&h->space, 16);
    wreck(g);
    wreck(h);
    pol_frame_recover(&f);
    assert_int_equal(pol_arena_offset(&arena), 64);
    assert_ok(pol_frame_end(&f));
}

static void recover_releases_what_was_skipped_once(void **state) /* F4 */
{
    (void)state;
    pol_frame f;
    pol_frame_begin(&f, &space.space);
    carve(&f.space, 10);
    pol_frame *const g = frame_on(&f.space);
    carve(&g->space, 20);
    pol_frame *const h = frame_on(&g->space);
    carve(&h->space, 30);
    wreck(g);
    wreck(h);
    pol_frame_recover(&f);
    assert_int_equal(space.live, 1);
    assert_int_equal(space.live_bytes, 10);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    carve(&f.space, 40);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
}

static void recover_takes_back_from_other_arenas_and_spaces(void **state) /* F4 */
{
    (void)state;
    struct test_marking marking;
    pol_frame f;
    test_marking_init(&marking);
    pol_frame_begin(&f, &space.space);
    pol_frame *const g = frame_on(POL_SPACE(&arena)), *const h = frame_on(POL_SPACE(&other)),
                     *const i = frame_on(&lender.space), *const k = frame_on(&marking.space);
    carve(&g->space, 10);
    carve(&h->space, 10);
    carve(&i->space, 10);
    carve(&k->space, 10);
    wreck(g);
    wreck(h);
    wreck(i);
    wreck(k);
    pol_frame_recover(&f);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_int_equal(pol_arena_offset(&other), 0);
    assert_int_equal(marking.used, 0);
    test_space_assert_clean(&lender);
    carve(POL_SPACE(&arena), 1);
    carve(POL_SPACE(&other), 1);
    assert_ok(pol_frame_end(&f));
}

static void recover_repairs_the_ambient_binding(void **state) /* F4, F3 */
{
    (void)state;
    pol_frame f;
    pol_scope scope;
    pol_frame_begin(&f, &arena);
    pol_withspace_begin(&scope, &other);
    pol_frame_recover(&f);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    assert_ok(pol_frame_end(&f));
    assert_null(ambient());
}

static void recover_of_nothing_skipped_changes_nothing(void **state) /* F4 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    pol_frame_begin(&g, &space.space);
    carve(&g.space, 16);
    const struct test_state before = test_state_of(&arena, &space);
    pol_frame_recover(&g);
    test_assert_unchanged(&before, &arena, &space);
    assert_misused(0, POL_OK);
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
}

static void recover_of_a_frame_that_is_not_open_is_a_reported_no_op(void **state) /* F4, E4 */
{
    (void)state;
    pol_frame never, ended, f;
    memset((void *)&never, 0, sizeof never);
    pol_frame_begin(&ended, &arena);
    assert_ok(pol_frame_end(&ended));
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    const struct test_state before = test_state_of(&arena, NULL);
    pol_frame_recover(&never);
    assert_misused(1, POL_EORDER);
    pol_frame_recover(&ended);
    assert_misused(2, POL_EORDER);
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_frame_end(&f));
}

static void recover_of_a_skipped_frame_is_a_reported_no_op(void **state) /* F4, E4 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &arena);
    pol_frame_begin(&g, &f);
    assert_status(pol_frame_end(&f), POL_EORDER);
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    const struct test_state before = test_state_of(&arena, NULL);
    pol_frame_recover(&g);
    assert_misused(1, POL_EORDER);
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_frame_end(&f));
}

static void recover_makes_the_late_end_of_the_skipped_a_no_op(void **state) /* F4 */
{
    (void)state;
    pol_frame f, g;
    pol_frame_begin(&f, &arena);
    pol_frame_begin(&g, &f);
    carve(&g.space, 16);
    pol_frame_recover(&f);
    carve(&f.space, 32);
    const struct test_state before = test_state_of(&arena, NULL);
    assert_status(pol_frame_end(&g), POL_EORDER);
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_frame_end(&f));
}

static void recover_many_times(void **state) /* F4 */
{
    (void)state;
    pol_frame f;
    pol_frame_begin(&f, &arena);
    carve(&f.space, 16);
    for (int i = 0; i < 1000; i++) {
        pol_frame *const g = frame_on(&f.space), *const h = frame_on(&space.space);
        carve(&g->space, 100);
        carve(&h->space, 100);
        wreck(g);
        wreck(h);
        pol_frame_recover(&f);
        assert_int_equal(pol_arena_offset(&arena), 16);
        assert_int_equal(space.live, 0);
    }
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
}

static void recover_from_40_to_any_of_them(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP];
    for (int keep = 0; keep < DEEP - 1; keep++) {
        open_deep(frames, POL_SPACE(&arena));
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(DEEP - keep - 1));
        pol_frame_recover(&frames[keep]);
        assert_misused(0, POL_OK);
        assert_int_equal(pol_arena_offset(&arena), start_of(keep + 1));
        assert_ptr_equal(pol_ambientspace(), &frames[keep].space);
        carve(&frames[keep].space, 8); /* it is the innermost */
        for (int i = keep; i >= 0; i--) {
            assert_ok(pol_frame_end(&frames[i]));
            assert_int_equal(pol_arena_offset(&arena), start_of(i));
        }
    }
}

static void recover_from_40_on_records_to_any_of_them(void **state) /* F4 */
{
    (void)state;
    static pol_frame frames[DEEP];
    for (int keep = 0; keep < DEEP - 1; keep++) {
        test_space_init(&space);
        open_deep(frames, &space.space);
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(DEEP - keep - 1));
        pol_frame_recover(&frames[keep]);
        assert_int_equal(space.live, keep + 1);
        carve(&frames[keep].space, 8);
        for (int i = keep; i >= 0; i--)
            assert_ok(pol_frame_end(&frames[i]));
        test_space_assert_clean(&space);
        test_space_assert_reverse(&space);
    }
}

/* --- F4: longjmp itself ---------------------------------------------------------------------- */

/* Overwrites the stack that was jumped over. */
static void scribble(void)
{
    volatile unsigned char dirt[4096];
    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 0xff;
}

static void jump_from_two_frames(pol_space *first, pol_space *second)
{
    pol_frame a, b;
    pol_scope scope;
    pol_frame_begin(&a, first);
    carve(&a.space, 20);
    pol_withspace_begin(&scope, &other);
    pol_frame_begin(&b, second ? second : &a.space);
    carve(&b.space, 30);
    carve(&b.space, 40);
    longjmp(back, 1);
}

static pol_frame around;

static void assert_jump_is_repaired_by_the_end(pol_space *root, pol_space *first, pol_space *second)
{
    const struct test_state before = test_state_of(&arena, &space);
    pol_frame_begin(&around, root);
    carve(&around.space, 10);
    if (setjmp(back) == 0)
        jump_from_two_frames(first, second);
    scribble();
    assert_status(pol_frame_end(&around), POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), before.offset);
    assert_ptr_equal(ambient(), before.ambient);
    assert_int_equal(pol_arena_offset(&other), 0);
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    test_space_assert_clean(&lender);
    test_space_assert_reverse(&lender);
    carve(POL_SPACE(&arena), 0); /* depth is as before: nothing is open */
    carve(POL_SPACE(&other), 0);
}

static void jump_over_frames_is_repaired_by_the_end_around_it(void **state) /* F4, trap 21 */
{
    (void)state;
    pol_space *const spaces[] = {POL_SPACE(&arena), POL_SPACE(&other), &space.space, &lender.space};
    carve(POL_SPACE(&arena), 10);
    for (int root = 0; root < 4; root++)
        for (int first = 0; first < 4; first++)
            for (int second = 0; second < 5; second++)
                assert_jump_is_repaired_by_the_end(
                    spaces[root], first == root ? &around.space : spaces[first],
                    second == 4 || second == first ? NULL : spaces[second]);
}

static void jump_over_frames_is_repaired_by_recover(void **state) /* F4 */
{
    (void)state;
    static int times;
    times = 0;
    pol_frame_begin(&around, &space.space);
    carve(&around.space, 10);
    while (times < 3) {
        if (setjmp(back) == 0)
            jump_from_two_frames(POL_SPACE(&arena), &around.space);
        scribble();
        pol_frame_recover(&around);
        assert_ptr_equal(pol_ambientspace(), &around.space);
        assert_int_equal(pol_arena_offset(&arena), 0);
        assert_int_equal(space.live, times + 1);
        carve(&around.space, 10);
        times++;
    }
    assert_ok(pol_frame_end(&around));
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    assert_misused(0, POL_OK);
}

static pol_status jump_out(pol_frame *frame, void *ctx)
{
    (void)ctx;
    carve(&frame->space, 100);
    longjmp(back, 1);
}

static void jump_over_a_scratchspace_is_repaired(void **state) /* F1, F4 */
{
    (void)state;
    pol_frame_begin(&around, &arena);
    carve(&around.space, 16);
    if (setjmp(back) == 0) {
        assert_ok(pol_scratchspace(&around, jump_out, NULL));
        fail();
    }
    scribble();
    pol_frame_recover(&around);
    assert_int_equal(pol_arena_offset(&arena), 16);
    assert_ok(pol_frame_end(&around));
    assert_int_equal(pol_arena_offset(&arena), 0);
}

static void jump_without_a_frame_around_is_forgotten_by_clear(void **state) /* F4, S6 */
{
    (void)state;
    if (setjmp(back) == 0) {
        pol_frame *const f = frame_on(POL_SPACE(&arena));
        carve(&f->space, 16);
        wreck(f);
        longjmp(back, 1);
    }
    pol_withspace_clear();
    assert_null(ambient());
    carve(POL_SPACE(&arena), 16); /* no frame is open */
    assert_ok(pol_reset(&arena));
    pol_frame f;
    pol_frame_begin(&f, &arena);
    assert_non_null(pol_new(&f, char, 1));
    assert_ok(pol_frame_end(&f));
}

#define T(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(frame_hands_out_its_spaces_memory),
        T(frame_end_gives_back_what_it_handed_out),
        T(frame_that_hands_out_nothing_changes_nothing),
        T(frame_on_null_answers_enoambient),
        T(frame_on_a_frame_on_null_answers_enoambient),
        T(frame_failure_changes_nothing),
        T(frame_that_has_ended_hands_out_nothing),
        T(scratchspace_runs_the_function_in_a_frame),
        T(scratchspace_returns_the_functions_status),
        T(scratchspace_reports_a_frame_that_was_left_open),
        T(scratchspace_nests_40_deep),
#if POL_HAS_CLEANUP
        T(block_is_left_at_its_end),
        T(block_is_left_by_return),
        T(block_is_left_by_try),
        T(block_is_left_by_goto),
        T(block_is_left_by_break_and_no_more),
        T(block_is_left_by_continue_and_no_more),
        T(break_in_a_nested_block_leaves_the_inner_one_alone),
        T(block_evaluates_its_space_once),
        T(block_with_a_frame_left_open_tells_the_handler),
        T(block_whose_frame_was_ended_tells_the_handler),
        T(block_on_null_runs),
#endif
        T(frame_on_a_space_with_marks_is_one_mark),
        T(frame_on_a_space_with_marks_opens_without_heap),
        T(end_answers_what_a_retract_found),
        T(end_gives_a_text_to_a_retract_without_one),
        T(outer_end_answers_the_first_failing_retract),
        T(handler_is_told_what_the_later_retracts_found),
        T(scratchspace_answers_what_a_retract_found),
        T(scratchspace_tells_the_handler_of_damage_behind_a_failure),
        T(recover_tells_the_handler_what_a_retract_found),
        T(failed_bundle_tells_the_handler_what_a_retract_found),
#if POL_HAS_CLEANUP
        T(block_tells_the_handler_what_a_retract_found),
#endif
        T(frames_nest_40_deep_without_heap),
        T(late_end_of_an_unrecorded_frame_closes_nobody),
        T(new_from_a_closed_frame_is_refused),
        T(frame_elsewhere_releases_each_array_once_in_reverse),
        T(frame_arrays_are_not_the_callers_to_release),
        T(frame_does_not_release_what_passed_through),
        T(frame_releases_arrays_of_no_bytes_at_most_once),
        T(frame_releases_what_it_had_when_a_request_is_refused),
        T(frame_releases_what_it_had_when_recording_fails),
        T(frame_on_the_heap_gives_back_to_the_heap),
        T(frame_on_a_space_that_takes_nothing_back_is_harmless),
        T(frame_whose_release_opens_a_frame_keeps_its_order),
        T(outer_end_with_a_release_that_opens_a_frame),
        T(frame_is_the_ambient_space_inside),
        T(frame_end_repairs_bindings_that_were_jumped_over),
        T(inner_frame_takes_back_only_its_own),
        T(inner_frame_on_records_takes_back_only_its_own),
        T(outer_frame_elsewhere_may_be_asked_while_an_inner_is_open),
        T(outer_frame_on_the_same_records_keeps_its_own),
        T(frames_on_different_spaces_nest),
        T(frames_on_a_space_with_marks_nest),
        T(frames_nest_40_deep),
        T(frames_on_records_nest_40_deep),
        T(frames_nest_300_deep),
        T(outer_end_closes_those_above),
        T(outer_end_releases_everything_once),
        T(late_end_is_a_reported_no_op),
        T(late_end_leaves_a_frame_opened_since),
        T(end_twice_is_a_reported_no_op),
        T(end_without_a_begin_is_a_reported_no_op),
        T(end_of_null_is_einval),
        T(end_on_another_thread_is_refused),
        T(skipped_frames_are_not_read),
        T(outer_end_takes_back_from_other_arenas_too),
        T(outer_end_makes_other_arenas_usable_again),
        T(outer_end_takes_back_from_a_space_with_marks),
        T(outer_end_of_40_closes_all_above),
        T(outer_end_of_40_on_records_closes_all_above),
        T(outer_end_deep_takes_back_from_other_arenas_too),
        T(late_end_deep_leaves_frames_opened_since),
        T(recover_makes_the_frame_innermost_again),
        T(recover_is_as_when_the_first_of_the_skipped_began),
        T(recover_releases_what_was_skipped_once),
        T(recover_takes_back_from_other_arenas_and_spaces),
        T(recover_repairs_the_ambient_binding),
        T(recover_of_nothing_skipped_changes_nothing),
        T(recover_of_a_frame_that_is_not_open_is_a_reported_no_op),
        T(recover_of_a_skipped_frame_is_a_reported_no_op),
        T(recover_makes_the_late_end_of_the_skipped_a_no_op),
        T(recover_many_times),
        T(recover_from_40_to_any_of_them),
        T(recover_from_40_on_records_to_any_of_them),
        T(jump_over_frames_is_repaired_by_the_end_around_it),
        T(jump_over_frames_is_repaired_by_recover),
        T(jump_over_a_scratchspace_is_repaired),
        T(jump_without_a_frame_around_is_forgotten_by_clear),
    };
    return cmocka_run_group_tests_name("scratchspace", tests, NULL, NULL);
}

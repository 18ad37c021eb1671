/* SPDX-License-Identifier: MIT */

/* Spaces, pol_alloc and the ambient space: rules S1, S2, S4 to S7. What all spaces owe alike is in
   conformance.c. */

#include "support.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    pol_array a, b;
};
struct nested {
    struct pair first;
    pol_array c;
    pol_shadowed d;
};

static const pol_array absent = {0};
static struct test_space one, other;

/* -- S1 --------------------------------------------------------------------------------------- */

/* S1: never a crash and never the ambient space. */
static void table_without_alloc_is_einval_and_not_the_ambient_space(void **state)
{
    (void)state;
    test_space_init_empty(&one);
    test_space_init(&other);
    pol_array a;
    const pol_array want = pol_undef(POL_F32, 2);
    POL_WITHSPACE(&other.space) {
        assert_status(pol_alloc(&one.space, &a, want), POL_EINVAL);
    }
    assert_memory_equal(&a, &want, sizeof a);
    assert_int_equal(other.requests, 0);
}

/* S1 */
static void space_without_a_table_is_einval(void **state)
{
    (void)state;
    pol_space empty = {NULL};
    pol_array a;
    assert_status(pol_alloc(&empty, &a, pol_undef(POL_F32, 2)), POL_EINVAL);
    assert_true(pol_is_undef(&a));
}

/* S1: through a frame, too. */
static void frame_on_a_table_without_alloc_is_einval(void **state)
{
    (void)state;
    test_space_init_empty(&one);
    POL_SCRATCHSPACE(frame, &one.space) {
        pol_array a;
        assert_status(pol_alloc(frame, &a, pol_undef(POL_F32, 2)), POL_EINVAL);
    }
}

/* S1: alloc is all that a space needs. */
static void one_operation_is_enough(void **state)
{
    (void)state;
    test_space_init_keeping(&one);
    struct pair p;
    pol_array a;
    assert_ok(
        pol_alloc(&one.space, &p, (struct pair){pol_undef(POL_F32, 2), pol_undef(POL_U8, 3)}));
    POL_SCRATCHSPACE(frame, &one.space) {
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_F64, 2)));
    }
    assert_int_equal(one.live, 3); /* nothing is owned, so nothing is taken back */
    assert_int_equal(pol_space_device(&one.space).type, 1);
    test_space_drop(&one);
}

/* S1: without release nothing is owned. */
static void without_release_pol_release_is_a_no_op(void **state)
{
    (void)state;
    test_space_init_keeping(&one);
    pol_array a;
    assert_ok(pol_alloc(&one.space, &a, pol_undef(POL_F32, 2)));
    const pol_array before = a;
    pol_release(&a);
    assert_memory_equal(&a, &before, sizeof a);
    test_space_drop(&one);
}

/* S1: "turns one valid description into an array, or fails": an answer that is neither is no
   success. */
static void ok_without_data_is_not_taken_for_success(void **state)
{
    (void)state;
    test_space_init_lying(&one);
    const struct pair want = {pol_undef(POL_F32, 2), pol_undef(POL_F32, 0)};
    struct pair p;
    assert_int_not_equal(pol_alloc(&one.space, &p, want), POL_OK);
    assert_memory_equal(&p, &want, sizeof p);
    assert_int_equal(one.bad_releases, 0);
}

/* S1: the device is the table's, or the host; arenas and frames have that of what lies below. */
static void device_is_that_of_the_memory(void **state)
{
    (void)state;
    test_space_init_device(&one);
    pol_arena arena;
    pol_frame f, g;
    assert_ok(pol_arena_open(&arena, &one.space, 1000, 0));
    pol_frame_begin(&f, &arena);
    pol_frame_begin(&g, &f);
    pol_space *const there[] = {&one.space, &arena.space, &f.space, &g.space};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pol_space_device(there[i]).type, 8);
        assert_int_equal(pol_space_device(there[i]).id, 3);
    }
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_arena_close(&arena));
    pol_space *const here[] = {pol_heap(), NULL};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pol_space_device(here[i]).type, 1);
        assert_int_equal(pol_space_device(here[i]).id, 0);
    }
}

/* -- S2 --------------------------------------------------------------------------------------- */

/* S2: the three pointers; that nothing else compiles is shown in compile_fail/. */
static void the_three_pointers_are_spaces(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_arena arena;
    pol_frame frame;
    pol_array a;
    assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 0));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_U8, 1)));
    pol_frame_begin(&frame, &arena);
    assert_ok(pol_alloc(&frame, &a, pol_undef(POL_U8, 1)));
    assert_ptr_equal(POL_SPACE(&frame), &frame.space);
    assert_ptr_equal(POL_SPACE(&arena), &arena.space);
    assert_ptr_equal(POL_SPACE(&one.space), &one.space);
    assert_null(POL_SPACE(NULL));
    assert_ok(pol_frame_end(&frame));
    assert_ok(pol_alloc(&one.space, &a, pol_undef(POL_U8, 1)));
    pol_release(&a);
}

/* S2: in order, also through nested structs, absent entries and those with data left out. */
static void bundle_is_materialized_in_order(void **state)
{
    (void)state;
    test_space_init(&one);
    unsigned char mine[8];
    struct nested n;
    const struct nested want = {{pol_undef(POL_U8, 1), pol_wrap(mine, POL_U8, 8)},
                                pol_undef(POL_U8, 2),
                                {absent, pol_undef(POL_U8, 3)}};
    memset(&n, 0xA5, sizeof n);
    assert_ok(pol_alloc(&one.space, &n, want));
    assert_int_equal(one.nlog, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(one.log[i].nbytes, i + 1);
    assert_ptr_equal(one.log[0].data, n.first.a.data);
    assert_ptr_equal(one.log[1].data, n.c.data);
    assert_ptr_equal(one.log[2].data, n.d.shadow.data);
    assert_ptr_equal(n.first.b.data, mine);
    assert_memory_equal(&n.d.primal, &absent, sizeof absent);
    pol_release(&n.first.a);
    pol_release(&n.c);
    pol_release(&n.d.shadow);
    test_space_assert_clean(&one);
}

/* S2: who owned it still does. */
static void an_owned_array_that_passes_through_is_borrowed(void **state)
{
    (void)state;
    test_space_init(&one);
    test_space_init(&other);
    pol_array owner;
    struct pair p;
    assert_ok(pol_alloc(&other.space, &owner, pol_undef(POL_F32, 2)));
    assert_ok(pol_alloc(&one.space, &p, (struct pair){owner, pol_undef(POL_F32, 2)}));
    assert_ptr_equal(p.a.data, owner.data);
    pol_release(&p.a);
    assert_ptr_equal(p.a.data, owner.data);
    assert_int_equal(other.live, 1);
    pol_release(&owner);
    pol_release(&p.b);
    test_space_assert_clean(&other);
    test_space_assert_clean(&one);
}

/* S2, E3: an entry that passes through survives the failure of a later one, unreleased. */
static void a_failure_leaves_what_passes_through_alone(void **state)
{
    (void)state;
    test_space_init(&one);
    test_space_init(&other);
    pol_array owner;
    struct pair p;
    assert_ok(pol_alloc(&other.space, &owner, pol_undef(POL_F32, 2)));
    test_space_fail(&one, 1, true);
    assert_status(pol_alloc(&one.space, &p, (struct pair){owner, pol_undef(POL_F32, 2)}),
                  POL_ENOMEM);
    assert_ptr_equal(p.a.data, owner.data);
    assert_true(pol_is_undef(&p.b));
    assert_int_equal(other.live, 1);
    pol_release(&owner);
    test_space_assert_clean(&other);
}

/* S2: what is given back is given back in reverse order. */
static void a_failed_bundle_is_given_back_in_reverse(void **state)
{
    (void)state;
    test_space_init(&one);
    struct nested n;
    const struct nested want = {{pol_undef(POL_U8, 1), pol_undef(POL_U8, 2)},
                                pol_undef(POL_U8, 3),
                                {pol_undef(POL_U8, 4), pol_undef(POL_U8, 5)}};
    test_space_fail(&one, 5, false);
    assert_status(pol_alloc(&one.space, &n, want), POL_ENOMEM);
    static const char what[] = "aaaaxrrrr";
    assert_int_equal(one.nlog, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(one.log[i].what, what[i]);
    test_space_assert_reverse(&one);
    test_space_assert_clean(&one);
    assert_memory_equal(&n, &want, sizeof n);
}

/* S2, trap 13: on an arena nothing shows that it was tried, the watermark included. */
static void a_failed_bundle_leaves_an_arena_untouched(void **state)
{
    (void)state;
    struct pair p;
    const struct pair want = {pol_undef(POL_U8, 60), pol_undef(POL_U8, 60)};
    for (size_t room = 1; room < 124; room++) {
        pol_arena arena;
        assert_ok(pol_arena_init(&arena, test_slab(0), room, 64));
        const struct test_state before = test_state_of(&arena, NULL);
        assert_status(pol_alloc(&arena, &p, want), POL_ECEILING);
        test_assert_unchanged(&before, &arena, NULL);
        assert_memory_equal(&p, &want, sizeof p);
    }
    pol_arena arena;
    assert_ok(pol_arena_init(&arena, test_slab(0), 124, 64));
    assert_ok(pol_alloc(&arena, &p, want));
    assert_ptr_equal(p.b.data, test_slab(64));
}

/* E3: nor does an element that was stricter than the arena leave a trace in the budget. */
static void a_failed_strict_element_leaves_the_budget(void **state)
{
    (void)state;
    const pol_type strict = {POL_CODE_OPAQUE, 0, 1, 1, 1024};
    pol_arena arena;
    struct pair p;
    assert_ok(pol_arena_init(&arena, test_slab(0), 2048, 64));
    const struct test_state before = test_state_of(&arena, NULL);
    assert_status(
        pol_alloc(&arena, &p, (struct pair){pol_undef(strict, 1), pol_undef(POL_U8, 4096)}),
        POL_ECEILING);
    test_assert_unchanged(&before, &arena, NULL);
}

/* S2: a marking space of the user's own is taken back to its mark. */
static void a_failed_bundle_leaves_a_marking_space_untouched(void **state)
{
    (void)state;
    static struct test_marking marking;
    struct pair p;
    test_marking_init(&marking);
    marking.fail_at = 2;
    assert_status(
        pol_alloc(&marking.space, &p, (struct pair){pol_undef(POL_U8, 60), pol_undef(POL_U8, 60)}),
        POL_ENOMEM);
    assert_int_equal(marking.used, 0);
    assert_null(p.a.data);
}

/* U4, trap 3: the sum counts, though each would fit; nothing is written. */
static void a_sum_that_no_address_space_holds_is_overflow(void **state)
{
    (void)state;
    test_space_init(&one);
    const struct pair sums[] = {
        {pol_undef(POL_F32, 64), pol_undef(POL_F32, 4, 1073741823, 1073741825, 1)},
        {pol_undef(POL_U8, PTRDIFF_MAX), pol_undef(POL_U8, 1)},
        {pol_undef(POL_U8, 1), pol_undef(POL_U8, PTRDIFF_MAX)},
        {pol_undef(POL_U8, PTRDIFF_MAX), pol_undef(POL_U8, PTRDIFF_MAX)}};
    for (size_t i = 0; i < 4; i++) {
        struct pair p;
        assert_status(pol_alloc(&one.space, &p, sums[i]), POL_EOVERFLOW);
        assert_memory_equal(&p, &sums[i], sizeof p);
        assert_int_equal(one.live, 0);
    }
}

/* S2: the macro evaluates its arguments once, as a function would. */
static void arguments_are_evaluated_once(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_space *spaces[2] = {&one.space, NULL}, **next_space = spaces;
    pol_array arrays[2] = {absent, absent}, *next = arrays;
    int64_t dim = 3;
    assert_ok(pol_alloc(*next_space++, next, pol_undef(POL_U8, dim)));
    assert_ptr_equal(next_space, spaces + 1);
    pol_release(&arrays[0]);
#if POL_HAS_CLEANUP
    assert_ok(pol_alloc(&one.space, next++, pol_undef(POL_U8, dim)));
    assert_ptr_equal(next, arrays + 1);
    pol_release(&arrays[0]);
#endif
    test_space_assert_clean(&one);
}

/* S2: the description may be the destination itself. */
static void the_destination_may_describe_itself(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array a = pol_undef(POL_U8, 3);
    assert_ok(pol_alloc(&one.space, &a, a));
    assert_non_null(a.data);
    pol_release(&a);
}

/* S2 */
static void a_null_destination_is_einval(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array *none = NULL;
    assert_status(pol_alloc(&one.space, none, pol_undef(POL_U8, 3)), POL_EINVAL);
    assert_status(pol_alloc_arrays(&one.space, NULL, 1), POL_EINVAL);
    assert_int_equal(one.requests, 0);
}

/* S2: pol_alloc_arrays, what pol_alloc reduces to, serves arrays of any count. */
static void alloc_arrays_serves_any_count(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array many[100];
    for (size_t i = 0; i < 100; i++)
        many[i] = i % 3 ? pol_undef(POL_U8, (int64_t)i) : absent;
    assert_ok(pol_alloc_arrays(&one.space, many, 100));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(pol_is_array(&many[i]), i % 3 != 0);
    assert_int_equal(one.live, 66);
    for (size_t i = 100; i-- > 0;)
        pol_release(&many[i]);
    test_space_assert_clean(&one);
    assert_ok(pol_alloc_arrays(&one.space, many, 0));
}

/* -- S4 --------------------------------------------------------------------------------------- */

static void released_arrays_are_descriptions_again(void **state)
{
    (void)state;
    test_space_init(&one);
    const pol_array want = pol_undef(POL_F32, 3, 4);
    pol_array a;
    assert_ok(pol_alloc(&one.space, &a, want));
    pol_release(&a);
    assert_memory_equal(&a, &want, sizeof a);
    pol_release(&a);
    test_space_assert_clean(&one);
}

static void release_of_what_is_not_owned_is_a_no_op(void **state)
{
    (void)state;
    int mine = 7;
    pol_arena arena;
    pol_array arrays[4] = {absent, pol_undef(POL_F32, 3), pol_wrap(&mine, POL_I32, 1), absent};
    assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 0));
    assert_ok(pol_alloc(&arena, &arrays[3], pol_undef(POL_F32, 3)));
    const struct test_state before = test_state_of(&arena, NULL);
    for (size_t i = 0; i < 4; i++) {
        const pol_array same = arrays[i];
        pol_release(&arrays[i]);
        assert_memory_equal(&arrays[i], &same, sizeof same);
    }
    pol_release(NULL);
    test_assert_unchanged(&before, &arena, NULL);
}

/* U5, S4: a view owns nothing. */
static void a_reshaped_view_owns_nothing(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array a;
    assert_ok(pol_alloc(&one.space, &a, pol_undef(POL_F32, 3, 4)));
    pol_array view = pol_reshape(&a, 12);
    pol_release(&view);
    assert_int_equal(one.live, 1);
    pol_release(&a);
    test_space_assert_clean(&one);
}

/* -- S5 --------------------------------------------------------------------------------------- */

/* S5: before the space is asked, naming type and shape and pointing to an arena. */
static void capturing_refuses_before_the_space_is_asked(void **state)
{
    (void)state;
    test_space_init(&one);
    one.capturing = true;
    const struct test_state before = test_state_of(NULL, &one);
    const pol_array want = pol_undef(POL_BF16, 37, 5);
    pol_array a;
    assert_status(pol_alloc(&one.space, &a, want), POL_ECAPTURE);
    assert_int_equal(one.requests, 0);
    assert_memory_equal(&a, &want, sizeof a);
    test_assert_unchanged(&before, NULL, &one);
    assert_error_says("bf16");
    assert_error_says("37");
    assert_error_says("5");
    assert_error_says("arena");
}

/* S5: a frame is no way around it. */
static void a_frame_on_a_capturing_space_refuses_too(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array a;
    POL_SCRATCHSPACE(frame, &one.space) {
        one.capturing = true;
        assert_status(pol_alloc(frame, &a, pol_undef(POL_F32, 2)), POL_ECAPTURE);
        POL_SCRATCHSPACE(inner, frame) {
            assert_status(pol_alloc(inner, &a, pol_undef(POL_F32, 2)), POL_ECAPTURE);
        }
        assert_int_equal(one.requests, 0);
        one.capturing = false;
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_F32, 2)));
        one.capturing = true; /* what is out can still be given back */
    }
    test_space_assert_clean(&one);
}

/* S5: arenas carve regardless, whatever their slab came from. */
static void an_arena_over_a_capturing_space_carves(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_arena arena, sub;
    pol_array a;
    assert_ok(pol_arena_open(&arena, &one.space, 4096, 0));
    one.capturing = true;
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_F32, 2)));
    assert_ok(pol_arena_open(&sub, &arena, 100, 0));
    assert_ok(pol_alloc(&sub, &a, pol_undef(POL_F32, 2)));
    assert_ok(pol_arena_close(&sub));
    assert_status(pol_arena_open(&sub, &one.space, 100, 0), POL_ECAPTURE);
    assert_ok(pol_arena_close(&arena));
    test_space_assert_clean(&one);
}

/* S5, S2: what takes nothing from the device is not refused. */
static void capturing_does_not_refuse_what_already_has_memory(void **state)
{
    (void)state;
    test_space_init(&one);
    one.capturing = true;
    int mine = 1;
    struct pair p;
    assert_ok(pol_alloc(&one.space, &p, (struct pair){absent, pol_wrap(&mine, POL_I32, 1)}));
    assert_ptr_equal(p.b.data, &mine);
}

/* -- S6 --------------------------------------------------------------------------------------- */

static void no_binding_is_null_with_enoambient(void **state)
{
    (void)state;
    pol_array a;
    assert_status(pol_fail(POL_EUSER, "another failure"), POL_EUSER);
    assert_null(pol_ambientspace());
    assert_error_says("ambient");
    assert_status(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_F32, 2)), POL_ENOAMBIENT);
    assert_true(pol_is_undef(&a));
}

/* S6, trap 24: bytes land in the inner, then in the outer. */
static void bindings_nest(void **state)
{
    (void)state;
    test_space_init(&one);
    test_space_init(&other);
    pol_array a, b;
    POL_WITHSPACE(&one.space) {
        POL_WITHSPACE(&other.space) {
            assert_ptr_equal(pol_ambientspace(), &other.space);
            assert_ok(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)));
            assert_int_equal(other.live, 1);
        }
        assert_ptr_equal(pol_ambientspace(), &one.space);
        assert_ok(pol_alloc(pol_ambientspace(), &b, pol_undef(POL_U8, 1)));
        assert_int_equal(one.live, 1);
    }
    assert_null(pol_ambientspace());
    pol_release(&a);
    pol_release(&b);
}

static void ambientspace_or_falls_back_only_without_a_binding(void **state)
{
    (void)state;
    pol_arena arena;
    assert_ok(pol_arena_init(&arena, test_slab(0), 64, 1));
    assert_ptr_equal(pol_ambientspace_or(&arena), &arena.space);
    assert_ptr_equal(pol_ambientspace_or(pol_heap()), pol_heap());
    assert_null(pol_ambientspace_or(NULL));
    POL_WITHSPACE(pol_pages()) {
        assert_ptr_equal(pol_ambientspace_or(&arena), pol_pages());
    }
}

/* S6: NULL binds none, whatever is bound outside. */
static void a_null_binding_hides_the_outer_one(void **state)
{
    (void)state;
    POL_WITHSPACE(pol_heap()) {
        POL_WITHSPACE(NULL) {
            assert_null(pol_ambientspace());
            assert_ptr_equal(pol_ambientspace_or(pol_pages()), pol_pages());
        }
        assert_ptr_equal(pol_ambientspace(), pol_heap());
    }
}

static int leave_by_return(void)
{
    POL_WITHSPACE(pol_heap()) {
        POL_WITHSPACE(pol_pages()) {
            return 1;
        }
    }
    return 0;
}

/* S6: return, goto, break and continue. */
static void every_exit_of_the_block_restores_the_binding(void **state)
{
    (void)state;
    assert_int_equal(leave_by_return(), 1);
    assert_null(pol_ambientspace_or(NULL));
    POL_WITHSPACE(pol_heap()) {
        goto out;
    }
out:
    assert_null(pol_ambientspace_or(NULL));
    int after = 0;
    POL_WITHSPACE(pol_heap()) {
        POL_WITHSPACE(pol_pages()) {
            break;
        }
        after++;
        assert_ptr_equal(pol_ambientspace(), pol_heap());
        continue;
    }
    assert_int_equal(after, 1);
    assert_null(pol_ambientspace_or(NULL));
}

/* S6: an outer end repairs inner ones that were jumped over. */
static void an_outer_end_repairs_inner_ones(void **state)
{
    (void)state;
    pol_scope outer, inner;
    pol_withspace_begin(&outer, pol_heap());
    jmp_buf here;
    if (setjmp(here) == 0) {
        pol_withspace_begin(&inner, pol_pages());
        longjmp(here, 1);
    }
    assert_ptr_equal(pol_ambientspace(), pol_pages());
    pol_withspace_end(&outer);
    assert_null(pol_ambientspace_or(NULL));
}

/* S6: no limit; the begin and the end are values on the caller's stack. */
static void bindings_have_no_limit(void **state)
{
    (void)state;
    enum { N = 20000 };
    static pol_scope scopes[N];
    pol_space *const spaces[] = {pol_heap(), pol_pages()};
    for (size_t i = 0; i < N; i++)
        pol_withspace_begin(&scopes[i], spaces[i % 2]);
    for (size_t i = N; i-- > 0;) {
        assert_ptr_equal(pol_ambientspace(), spaces[i % 2]);
        pol_withspace_end(&scopes[i]);
    }
    assert_null(pol_ambientspace_or(NULL));
}

/* S6: for test runners that unwind by longjmp. The frame forgotten here is on a stack that is gone:
   nothing of it may be read. */
static void clear_forgets_every_binding_and_frame(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_arena arena;
    pol_scope scope;
    pol_array a;
    assert_ok(pol_arena_init(&arena, test_slab(0), 1024, 0));
    pol_frame *gone = (pol_frame *)malloc(2 * sizeof *gone);
    assert_non_null(gone);
    pol_withspace_begin(&scope, pol_heap());
    pol_frame_begin(&gone[0], &arena);
    pol_frame_begin(&gone[1], &one.space);
    free(gone);
    pol_withspace_clear();
    assert_null(pol_ambientspace_or(NULL));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_U8, 9))); /* no frame is open on it */
    assert_ok(pol_reset(&arena));
    pol_frame fresh;
    pol_frame_begin(&fresh, &one.space);
    assert_ok(pol_alloc(&fresh, &a, pol_undef(POL_U8, 9)));
    assert_ok(pol_frame_end(&fresh));
    assert_null(pol_ambientspace_or(NULL));
    test_space_assert_clean(&one);
}

/* F3, S6: the frame is the ambient space, and its end restores the binding. */
static void a_frame_is_the_ambient_space_until_it_ends(void **state)
{
    (void)state;
    POL_WITHSPACE(pol_heap()) {
        POL_SCRATCHSPACE(frame, pol_ambientspace()) {
            assert_ptr_equal(pol_ambientspace(), &frame->space);
            POL_WITHSPACE(pol_pages()) {
                assert_ptr_equal(pol_ambientspace(), pol_pages());
            }
            assert_ptr_equal(pol_ambientspace(), &frame->space);
        }
        assert_ptr_equal(pol_ambientspace(), pol_heap());
    }
}

/* -- S7 --------------------------------------------------------------------------------------- */

struct sum_args {
    pol_array x;
};
struct sum_outputs {
    pol_array y;
};
struct sum_scratch {
    pol_array t;
};
static struct sum_outputs sum_outputs(const struct sum_args *a)
{
    return (struct sum_outputs){pol_undef_like(&a->x)};
}
static struct sum_scratch sum_scratch(const struct sum_args *a)
{
    return (struct sum_scratch){pol_undef_like(&a->x)};
}
static int sum_ran;
static pol_status sum(const struct sum_outputs *out, const struct sum_args *a,
                      const struct sum_scratch *s)
{
    (void)out;
    (void)a;
    (void)s;
    sum_ran++;
    return POL_OK;
}
POL_ALLOCATING(sum, outputs, scratch);

static pol_status in_a_null_frame(pol_frame *frame, void *ctx)
{
    pol_array a;
    (*(int *)ctx)++;
    return pol_alloc(frame, &a, pol_undef(POL_U8, 1));
}

/* S7: and never the ambient space instead. */
static void null_is_taken_everywhere_and_answers_enoambient(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_space *const none = NULL;
    pol_arena *const no_arena = NULL;
    pol_frame *const no_frame = NULL;
    const struct sum_args args = {pol_undef(POL_F32, 4)};
    struct sum_outputs out;
    struct sum_scratch s;
    pol_array a = pol_undef(POL_U8, 1);
    pol_arena sub;
    pol_frame frame;
    int ran = 0;
    pol_scope scope;
    pol_withspace_begin(&scope, &one.space);
    assert_status(pol_alloc(none, &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_status(pol_alloc(no_arena, &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_status(pol_alloc(no_frame, &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_status(pol_alloc(NULL, &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_status(pol_alloc_arrays(NULL, &a, 1), POL_ENOAMBIENT);
    assert_null(pol_new(none, int, 1));
    assert_null(pol_new(no_arena, int, 1));
    assert_null(pol_new(no_frame, int, 1));
    assert_status(pol_arena_open(&sub, none, 100, 0), POL_ENOAMBIENT);
    assert_status(pol_outputs(none, sum, &args, &out), POL_ENOAMBIENT);
    assert_status(pol_scratch(no_frame, sum, &args, &s), POL_ENOAMBIENT);
    assert_status(pol_call(sum, none, &args, &out), POL_ENOAMBIENT);
    assert_true(pol_is_undef(&out.y));
    assert_status(pol_call_into(sum, none, &args, &out, (struct sum_outputs){absent}),
                  POL_ENOAMBIENT);
    assert_status(pol_verb_call(&sum_verb, none, &args, &out.y), POL_ENOAMBIENT);
    assert_status(pol_scratchspace(none, in_a_null_frame, &ran), POL_ENOAMBIENT);
    pol_frame_begin(&frame, none);
    assert_status(pol_alloc(&frame, &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_status(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
    assert_null(pol_new(&frame, int, 1));
    assert_ok(pol_frame_end(&frame));
    assert_false(pol_is_measuring(none));
    assert_ptr_equal(pol_ambientspace(), &one.space);
    pol_withspace_end(&scope);
    assert_int_equal(ran, 1);
    assert_int_equal(sum_ran, 0);
    assert_int_equal(one.requests, 0);
}

/* S7: pol_alloc(pol_ambientspace(), ...) is the whole ambient form. */
static void the_ambient_form_is_pol_alloc_on_the_ambient_space(void **state)
{
    (void)state;
    test_space_init(&one);
    pol_array a;
    POL_WITHSPACE(&one.space) {
        assert_ok(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)));
    }
    assert_int_equal(one.live, 1);
    pol_release(&a);
    assert_status(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)), POL_ENOAMBIENT);
}

/* E3: failures of pol_alloc do not move the binding either. */
static void failures_leave_the_ambient_binding(void **state)
{
    (void)state;
    test_space_init(&one);
    test_space_fail(&one, 1, true);
    pol_array a;
    POL_WITHSPACE(&one.space) {
        assert_status(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, 1)), POL_ENOMEM);
        assert_status(pol_alloc(pol_ambientspace(), &a, pol_undef(POL_U8, -1)), POL_EINVAL);
        assert_ptr_equal(pol_ambientspace(), &one.space);
    }
    test_space_assert_clean(&one);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(table_without_alloc_is_einval_and_not_the_ambient_space),
        TEST(space_without_a_table_is_einval),
        TEST(frame_on_a_table_without_alloc_is_einval),
        TEST(one_operation_is_enough),
        TEST(without_release_pol_release_is_a_no_op),
        TEST(ok_without_data_is_not_taken_for_success),
        TEST(device_is_that_of_the_memory),
        TEST(the_three_pointers_are_spaces),
        TEST(bundle_is_materialized_in_order),
        TEST(an_owned_array_that_passes_through_is_borrowed),
        TEST(a_failure_leaves_what_passes_through_alone),
        TEST(a_failed_bundle_is_given_back_in_reverse),
        TEST(a_failed_bundle_leaves_an_arena_untouched),
        TEST(a_failed_strict_element_leaves_the_budget),
        TEST(a_failed_bundle_leaves_a_marking_space_untouched),
        TEST(a_sum_that_no_address_space_holds_is_overflow),
        TEST(arguments_are_evaluated_once),
        TEST(the_destination_may_describe_itself),
        TEST(a_null_destination_is_einval),
        TEST(alloc_arrays_serves_any_count),
        TEST(released_arrays_are_descriptions_again),
        TEST(release_of_what_is_not_owned_is_a_no_op),
        TEST(a_reshaped_view_owns_nothing),
        TEST(capturing_refuses_before_the_space_is_asked),
        TEST(a_frame_on_a_capturing_space_refuses_too),
        TEST(an_arena_over_a_capturing_space_carves),
        TEST(capturing_does_not_refuse_what_already_has_memory),
        TEST(no_binding_is_null_with_enoambient),
        TEST(bindings_nest),
        TEST(ambientspace_or_falls_back_only_without_a_binding),
        TEST(a_null_binding_hides_the_outer_one),
        TEST(every_exit_of_the_block_restores_the_binding),
        TEST(an_outer_end_repairs_inner_ones),
        TEST(bindings_have_no_limit),
        TEST(clear_forgets_every_binding_and_frame),
        TEST(a_frame_is_the_ambient_space_until_it_ends),
        TEST(null_is_taken_everywhere_and_answers_enoambient),
        TEST(the_ambient_form_is_pol_alloc_on_the_ambient_space),
        TEST(failures_leave_the_ambient_binding),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

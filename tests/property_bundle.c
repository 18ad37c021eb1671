/* SPDX-License-Identifier: MIT */

/*
 * Failure at every place: traps 12 to 15.
 *
 * One program of twenty steps runs on every capacity from nothing to more than enough, and on a
 * space that refuses its k-th request, for every k, once and from then on. It ends with success or
 * with the first clean error: the step that failed changed nothing, and once the frames have ended
 * nothing is left over.
 */

#include <string.h>

#include "support.h"

enum { ALIGNMENT = 16, MOST_NEED = 4096, STEPS = 20 };

struct pair {
    pol_array x, y;
};
struct nested {
    struct pair first;
    pol_array alone;
    struct pair last;
};
struct four {
    pol_array a, b, c, d;
};

static pol_array bytes(int64_t n)
{
    return pol_undef(POL_U8, n);
}

static struct four four_of(int64_t n)
{
    return (struct four){bytes(n), bytes(n), bytes(n), bytes(n)};
}

/* -- the program ------------------------------------------------------------------------------ */

struct run {
    pol_space *root;
    pol_arena *arena;         /* what root is, or NULL */
    struct test_space *space; /* likewise */
    int step;                 /* the one that is under way, 1 to STEPS */
    bool dry;                 /* memory must not be touched */
    uintptr_t seen[64];       /* addresses in order */
    size_t nseen;
};

/* Runs one request; a failure must have changed nothing, success must not share memory. */
static pol_status check(struct run *r, pol_status status, const struct test_state *before,
                        const pol_array *x, size_t count)
{
    if (status != POL_OK) {
        test_assert_unchanged(before, r->arena, r->space);
        for (size_t i = 0; i < count; i++)
            assert_true(pol_is_undef(&x[i]) && !x[i].home && !x[i].flags);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(pol_is_array(&x[i]));
        assert_true(r->nseen < sizeof r->seen / sizeof r->seen[0]);
        r->seen[r->nseen++] = (uintptr_t)x[i].data;
        if (!r->dry)
            test_fill(&x[i], (unsigned char)r->nseen);
    }
    return status;
}

#define ALLOC(from, dst, ...)                                                                      \
    do {                                                                                           \
        const struct test_state before_ = test_state_of(r->arena, r->space);                       \
        r->step++;                                                                                 \
        POL_TRY(check(r, pol_alloc(from, dst, __VA_ARGS__), &before_, (pol_array *)(void *)(dst),  \
                      sizeof *(dst) / sizeof(pol_array)));                                         \
    } while (0)

static pol_status in_a_callback(pol_frame *frame, void *ctx)
{
    struct run *const r = (struct run *)ctx;
    pol_array x;
    ALLOC(frame, &x, bytes(77));
    return POL_OK;
}

/* The steps on a frame of their own, with frames above it. */
static pol_status in_a_frame(struct run *r, pol_frame *f)
{
    pol_array x;
    struct pair p;
    pol_frame g;
    ALLOC(f, &x, pol_undef(POL_F64, 9));
    ALLOC(f, &p, (struct pair){bytes(33), pol_undef(POL_F32, 5, 2)});
    pol_frame_begin(&g, f);
    r->step++;
    const struct test_state before = test_state_of(r->arena, r->space);
    if (!pol_new(&g, double, 20)) {
        test_assert_unchanged(&before, r->arena, r->space);
        assert_ok(pol_frame_end(&g));
        return POL_ECEILING;
    }
    const pol_status status = in_a_callback(&g, r);
    assert_ok(pol_frame_end(&g));
    POL_TRY(status);
    ALLOC(f, &x, bytes(100));
    return pol_scratchspace(f, in_a_callback, r);
}

/* An arena out of the root, with a frame on it. */
static pol_status in_a_sub_arena(struct run *r)
{
    pol_arena sub;
    pol_frame f;
    pol_array x;
    const struct test_state before = test_state_of(r->arena, r->space);
    r->step++;
    const pol_status opened = pol_arena_open(&sub, r->root, 200, ALIGNMENT);
    if (opened != POL_OK) {
        test_assert_unchanged(&before, r->arena, r->space);
        return opened;
    }
    r->step += 3;
    assert_ok(pol_alloc(&sub, &x, bytes(100))); /* in its own slab it cannot fail */
    pol_frame_begin(&f, &sub);
    assert_ok(pol_alloc(&f, &x, bytes(88)));
    assert_status(pol_alloc(&f, &x, bytes(1)), POL_ECEILING);
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_arena_close(&sub));
    return POL_OK;
}

static pol_status program(struct run *r)
{
    pol_array x;
    struct pair p;
    struct nested n;
    r->step = 0;
    r->nseen = 0;
    ALLOC(r->root, &x, bytes(10));
    ALLOC(r->root, &p, (struct pair){pol_undef(POL_F32, 3, 3), bytes(1)});
    ALLOC(r->root, &x, pol_undef_scalar(POL_F64));
    ALLOC(r->root, &n,
          (struct nested){{bytes(5), bytes(17)}, pol_undef(POL_I4, 7), {bytes(0), bytes(16)}});
    if (r->arena) {
        const struct pol_mark mark = pol_mark(r->arena);
        ALLOC(r->root, &x, bytes(300));
        assert_ok(pol_retract(r->arena, mark));
    }
    pol_frame f;
    pol_frame_begin(&f, r->root);
    const pol_status status = in_a_frame(r, &f);
    assert_ok(pol_frame_end(&f));
    POL_TRY(status);
    ALLOC(r->root, &x, bytes(0));
    POL_TRY(in_a_sub_arena(r));
    ALLOC(r->root, &x, bytes(2));
    struct four y;
    ALLOC(r->root, &y, four_of(32));
    ALLOC(r->root, &p, (struct pair){bytes(64), bytes(3)});
    pol_shadowed s;
    ALLOC(r->root, &s, pol_shadowed_of(bytes(3), pol_undef(POL_F64, 3)));
    return POL_OK;
}

static size_t need_of_the_program(void)
{
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, ALIGNMENT));
    struct run r = {.root = POL_SPACE(&dry), .arena = &dry, .dry = true};
    assert_ok(program(&r));
    const size_t need = pol_watermark(&dry);
    assert_true(0 < need && need < MOST_NEED);
    return need;
}

static void on_every_capacity_success_or_the_first_clean_error(void **state) /* trap 12, A3, E3 */
{
    (void)state;
    const size_t need = need_of_the_program();
    const size_t by = test_under_valgrind() ? 31 : 1;
    for (size_t shift = 0; shift < 2; shift++) { /* an aligned base, and the worst one */
        const size_t pad = shift ? ALIGNMENT - 1 : 0;
        int last = 0;
        for (size_t capacity = 1; capacity <= need + 64; capacity += by) {
            unsigned char *const end = test_slab(shift) + pad + capacity;
            pol_arena a;
            pol_frame f;
            assert_ok(pol_arena_init(&a, test_slab(shift), pad + capacity, ALIGNMENT));
            memset(end, 0xc5, 64);
            struct run r = {.root = POL_SPACE(&a), .arena = &a};
            const pol_status status = program(&r);
            if (shift == 0) /* it lies as the dry run's does */
                assert_status(status, capacity >= need ? POL_OK : POL_ECEILING);
            else if (status != POL_OK)
                assert_status(status, POL_ECEILING);
            assert_true(r.step >= last); /* more room never fails earlier */
            last = r.step;
            for (int i = 0; i < 64; i++)
                assert_int_equal(end[i], 0xc5);
            assert_null(pol_ambientspace_or((pol_space *)NULL));
            pol_frame_begin(&f, &a); /* no frame was left open: it works on */
            assert_non_null(pol_new(&f, char, 0));
            assert_ok(pol_frame_end(&f));
            assert_ok(pol_reset(&a));
            assert_ok(pol_arena_close(&a));
        }
        assert_int_equal(last, STEPS);
    }
}

static void on_no_capacity_there_is_no_arena(void **state) /* trap 12, A1 */
{
    (void)state;
    pol_arena a;
    for (size_t nbytes = 0; nbytes < ALIGNMENT; nbytes++)
        assert_status(pol_arena_init(&a, test_slab(1), nbytes, ALIGNMENT), POL_ECEILING);
}

static void the_budget_is_enough_at_every_base(void **state) /* trap 12, A5, A6 */
{
    (void)state;
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, ALIGNMENT));
    struct run r = {.root = POL_SPACE(&dry), .arena = &dry, .dry = true};
    assert_ok(program(&r));
    for (size_t skew = 0; skew < 256; skew++) {
        pol_arena a;
        assert_ok(pol_arena_init(&a, test_slab(skew), pol_arena_budget(&dry), ALIGNMENT));
        struct run real = {.root = POL_SPACE(&a), .arena = &a};
        assert_ok(program(&real));
    }
}

static void the_watermark_is_enough_at_the_same_base_and_one_less_is_not(void **state) /* trap 12 */
{
    (void)state;
    for (size_t skew = 0; skew < 256; skew++) {
        pol_arena a;
        assert_ok(pol_arena_init(&a, test_slab(skew), 8192, ALIGNMENT));
        const size_t pad = 8192 - pol_arena_capacity(&a);
        struct run r = {.root = POL_SPACE(&a), .arena = &a};
        assert_ok(program(&r));
        const size_t watermark = pol_watermark(&a);
        struct run again = {.root = POL_SPACE(&a), .arena = &a};
        assert_ok(pol_arena_init(&a, test_slab(skew), pad + watermark, ALIGNMENT));
        assert_ok(program(&again));
        assert_int_equal(again.nseen, r.nseen); /* A2: the same addresses */
        assert_memory_equal(again.seen, r.seen, r.nseen * sizeof r.seen[0]);
        assert_ok(pol_arena_init(&a, test_slab(skew), pad + watermark - 1, ALIGNMENT));
        assert_status(program(&again), POL_ECEILING);
    }
}

/* Runs the program in a frame on the failing space; returns whether it came to its end. */
static bool sweep_once(size_t k, bool for_ever, bool framed_twice)
{
    struct test_space space;
    pol_frame f, g;
    test_space_init(&space);
    pol_frame_begin(&f, &space.space);
    if (framed_twice)
        pol_frame_begin(&g, &f);
    struct run r = {.root = framed_twice ? &g.space : &f.space, .space = &space};
    test_space_fail(&space, k, for_ever);
    const pol_status status = program(&r);
    if (framed_twice)
        assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    test_space_assert_reverse(&space);
    assert_null(pol_ambientspace_or((pol_space *)NULL));
    return status == POL_OK;
}

static void on_every_refused_request_everything_is_released_once(void **state) /* trap 14, F2 */
{
    (void)state;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (int twice = 0; twice < 2; twice++) {
            size_t k = 1;
            while (!sweep_once(k, for_ever, twice))
                k++;
            assert_true(k > 20); /* it did refuse on the way */
        }
}

/* -- bundles ---------------------------------------------------------------------------------- */

static void assert_bundle(pol_space *from, pol_arena *a, struct test_space *space, size_t room,
                          uintptr_t untried)
{
    const struct test_state before = test_state_of(a, space);
    const struct four description = four_of(32);
    struct four x;
    memset(&x, 0x5a, sizeof x);
    const pol_status status = pol_alloc(from, &x, description);
    if (room < 4) {
        assert_true(status == POL_ECEILING || status == POL_ENOMEM);
        assert_memory_equal(&x, &description, sizeof x);
        test_assert_unchanged(&before, a, space);
        return;
    }
    assert_ok(status);
    if (untried)
        assert_int_equal((uintptr_t)x.a.data, untried);
    if (untried)
        assert_int_equal((uintptr_t)x.d.data, untried + 96);
    if (!a) { /* owned: give them back */
        pol_release(&x.d);
        pol_release(&x.c);
        pol_release(&x.b);
        pol_release(&x.a);
    }
}

static void bundle_with_room_for_k_entries(void **state) /* trap 13, S2, E3 */
{
    (void)state;
    for (size_t k = 0; k <= 4; k++)
        for (int depth = 0; depth < 4; depth++) { /* on the arena, and on frames on it */
            pol_arena a;
            pol_frame frames[3];
            pol_array x;
            const size_t nbytes = 32 + 32 * k + (k < 4 ? 31 : 0);
            assert_ok(pol_arena_init(&a, test_slab(0), nbytes, ALIGNMENT));
            assert_ok(pol_alloc(&a, &x, bytes(32)));
            for (int i = 0; i < depth; i++)
                pol_frame_begin(&frames[i], i ? &frames[i - 1].space : POL_SPACE(&a));
            assert_bundle(depth ? &frames[depth - 1].space : POL_SPACE(&a), &a, NULL, k,
                          (uintptr_t)test_slab(32));
            for (int i = depth - 1; i >= 0; i--)
                assert_ok(pol_frame_end(&frames[i]));
        }
}

static void bundle_tried_in_vain_first(void **state) /* trap 13: as in an untried arena */
{
    (void)state;
    pol_arena a;
    pol_array x;
    assert_ok(pol_arena_init(&a, test_slab(0), 32 + 128, ALIGNMENT));
    assert_ok(pol_alloc(&a, &x, bytes(32)));
    for (int64_t big = 33; big < 200; big++) {
        struct four y = four_of(32);
        const struct test_state before = test_state_of(&a, NULL);
        y.d = bytes(big);
        assert_status(pol_alloc(&a, &y, y), POL_ECEILING);
        test_assert_unchanged(&before, &a, NULL);
    }
    assert_bundle(POL_SPACE(&a), &a, NULL, 4, (uintptr_t)test_slab(32));
}

static void bundle_of_a_space_that_grants_k_requests(void **state) /* trap 13, S2 */
{
    (void)state;
    for (size_t k = 0; k <= 4; k++)
        for (int framed = 0; framed < 2; framed++) {
            struct test_space space;
            pol_frame f;
            pol_array x;
            test_space_init(&space);
            assert_ok(pol_alloc(&space.space, &x, bytes(5)));
            if (framed)
                pol_frame_begin(&f, &space.space);
            test_space_fail(&space, k < 4 ? k + 1 : 0, true);
            assert_bundle(framed ? &f.space : &space.space, NULL, &space, k, 0);
            if (k < 4)
                test_space_assert_reverse(&space);
            test_space_fail(&space, 0, false);
            if (framed)
                assert_ok(pol_frame_end(&f));
            assert_int_equal(space.live, 1);
            pol_release(&x);
            test_space_assert_clean(&space);
        }
}

/* -- very often ------------------------------------------------------------------------------ */

static pol_status fail_in_a_frame(pol_frame *frame, void *ctx)
{
    (void)ctx;
    return pol_new(frame, char, 100) && !pol_new(frame, char, 8192) ? POL_EUSER : POL_OK;
}

static void failing_in_a_frame_very_often_leaves_nothing(void **state) /* trap 15 */
{
    (void)state;
    const int times = test_under_valgrind() || TEST_SANITIZED ? 10000 : 200000;
    struct test_space space;
    pol_arena a;
    size_t resident = 0;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 4096, ALIGNMENT));
    const struct test_state before = test_state_of(&a, &space);
    for (int i = 0; i < times; i++) {
        const pol_status status = pol_scratchspace(&a, fail_in_a_frame, NULL);
        assert_true(status == POL_EUSER);
        if (i == times / 10)
            resident = test_resident();
    }
    if (!TEST_SANITIZED)
        assert_true(test_resident() <= resident + (1 << 20)); /* 6 bytes each time are more */
    assert_int_equal(pol_watermark(&a), 100);
    assert_int_equal(pol_arena_offset(&a), before.offset);
    assert_int_equal(space.live, 1);
    assert_int_equal(space.requests, 1);
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&space);
}

#define T(test) cmocka_unit_test_teardown(test, test_clear_ambient)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(on_every_capacity_success_or_the_first_clean_error),
        T(on_no_capacity_there_is_no_arena),
        T(the_budget_is_enough_at_every_base),
        T(the_watermark_is_enough_at_the_same_base_and_one_less_is_not),
        T(on_every_refused_request_everything_is_released_once),
        T(bundle_with_room_for_k_entries),
        T(bundle_tried_in_vain_first),
        T(bundle_of_a_space_that_grants_k_requests),
        T(failing_in_a_frame_very_often_leaves_nothing),
    };
    return cmocka_run_group_tests_name("property: bundle", tests, NULL, NULL);
}

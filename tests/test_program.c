/* SPDX-License-Identifier: MIT */

/*
 * Rule V8: the dry run of a program is the program.
 *
 * Two programs of verb calls, frames and sub-arenas are run once on a measuring arena and then in a
 * slab of exactly pol_arena_budget() bytes at the worst base address: a fixed one of twelve verbs,
 * and random ones grown from a seed. Every buffer is filled by the kernel that it is given to and
 * looked at again when its block ends, so memory that is handed out twice is seen.
 */

#include "support.h"

static int leaf_runs; /* kernels run; none of them may in a dry run */

/* -- twelve verbs ----------------------------------------------------------------------------- */

/* What all leaf verbs do: fill what they were given with their own byte. */
static pol_status fill_with(const pol_array *arrays, size_t count, unsigned char byte)
{
    for (size_t i = 0; i < count; i++)
        if (pol_is_array(&arrays[i]))
            test_fill(&arrays[i], byte);
    return POL_OK;
}

/* A leaf of one output of n elements, and one with scratch of its own shape beside it. */
#define LEAF(V, byte, type, factor)                                                                \
    struct V##_args {                                                                              \
        int64_t n;                                                                                 \
    };                                                                                             \
    struct V##_outputs {                                                                           \
        pol_array y;                                                                               \
    };                                                                                             \
    static struct V##_outputs V##_outputs(const struct V##_args *a)                                \
    {                                                                                              \
        return (struct V##_outputs){pol_undef(type, factor, a->n)};                                \
    }                                                                                              \
    static pol_status V(const struct V##_outputs *out, const struct V##_args *a)                   \
    {                                                                                              \
        (void)a;                                                                                   \
        leaf_runs++;                                                                               \
        return fill_with(&out->y, 1, byte);                                                        \
    }                                                                                              \
    POL_ALLOCATING(V, outputs)

#define LEAF_WITH_SCRATCH(V, byte, type, factor, type1, factor1, type2, factor2)                   \
    struct V##_args {                                                                              \
        int64_t n;                                                                                 \
    };                                                                                             \
    struct V##_outputs {                                                                           \
        pol_array y;                                                                               \
    };                                                                                             \
    struct V##_scratch {                                                                           \
        pol_array s, t;                                                                            \
    };                                                                                             \
    static struct V##_outputs V##_outputs(const struct V##_args *a)                                \
    {                                                                                              \
        return (struct V##_outputs){pol_undef(type, factor, a->n)};                                \
    }                                                                                              \
    static struct V##_scratch V##_scratch(const struct V##_args *a)                                \
    {                                                                                              \
        return (struct V##_scratch){pol_undef(type1, factor1, a->n), pol_undef(type2, factor2)};   \
    }                                                                                              \
    static pol_status V(const struct V##_outputs *out, const struct V##_args *a,                   \
                        const struct V##_scratch *s)                                               \
    {                                                                                              \
        (void)a;                                                                                   \
        leaf_runs++;                                                                               \
        POL_TRY(fill_with(&s->s, 2, 0xDD));                                                        \
        return fill_with(&out->y, 1, byte);                                                        \
    }                                                                                              \
    POL_ALLOCATING(V, outputs, scratch)

LEAF(embed, 1, POL_F32, 3);
LEAF(add, 2, POL_BF16, 1);
LEAF(gelu, 3, POL_U8, 7);
LEAF(rope, 4, POL_C64, 2);
LEAF(mask, 5, POL_I4, 3);
LEAF_WITH_SCRATCH(norm, 6, POL_F32, 1, POL_F64, 1, POL_F32, 1);
LEAF_WITH_SCRATCH(dense, 7, POL_F16, 5, POL_U8, 33, POL_I64, 0);
LEAF_WITH_SCRATCH(softmax, 8, POL_F32, 2, POL_F32, 2, POL_U8, 1);
LEAF_WITH_SCRATCH(loss, 9, POL_F64, 1, POL_F8_E4M3FN, 9, POL_F64, 11);

/* attention: a space verb over leaves, two frames deep. */
struct attention_args {
    int64_t n;
};
struct attention_outputs {
    pol_array y;
};
static struct attention_outputs attention_outputs(const struct attention_args *a)
{
    return (struct attention_outputs){pol_undef(POL_F32, 4, a->n)};
}
static pol_status attention(const struct attention_outputs *out, const struct attention_args *a,
                            pol_frame *frame)
{
    struct dense_outputs q, k;
    struct rope_outputs r;
    struct mask_outputs m;
    POL_TRY(pol_call(dense, frame, (&(struct dense_args){a->n}), &q));
    POL_TRY(pol_call(mask, frame, (&(struct mask_args){a->n}), &m));
    POL_SCRATCHSPACE(inner, frame) {
        POL_TRY(pol_call(dense, inner, (&(struct dense_args){a->n * 2}), &k));
        POL_TRY(pol_call(rope, inner, (&(struct rope_args){a->n}), &r));
        struct softmax_outputs s;
        POL_TRY(pol_call(softmax, inner, (&(struct softmax_args){a->n}), &s));
        if (!pol_is_measuring(inner) && !(test_holds(&k.y, 7) && test_holds(&r.y, 4)))
            return POL_ECORRUPT;
    }
    if (pol_is_measuring(frame))
        return POL_OK;
    if (!test_holds(&q.y, 7) || !test_holds(&m.y, 5))
        return POL_ECORRUPT;
    return fill_with(&out->y, 1, 10);
}
POL_ALLOCATING(attention, outputs, space);

/* block: a space verb over a space verb, with a sub-arena of its own. */
struct block_args {
    int64_t n;
};
struct block_outputs {
    pol_array y, extra;
};
static struct block_outputs block_outputs(const struct block_args *a)
{
    return (struct block_outputs){pol_undef(POL_F32, a->n), pol_undef(POL_U8, 5)};
}
static pol_status block_in_sub_arena(pol_frame *frame, const struct block_args *a)
{
    pol_arena sub;
    struct gelu_outputs g;
    struct norm_outputs n;
    POL_TRY(pol_arena_open(&sub, frame, 4000, 64));
    pol_status status = pol_call(gelu, &sub, (&(struct gelu_args){a->n}), &g);
    if (status == POL_OK)
        status = pol_call(norm, &sub, (&(struct norm_args){a->n}), &n);
    const bool measuring = pol_is_measuring(&sub);
    if (measuring != pol_is_measuring(frame))
        status = POL_EUSER;
    if (status == POL_OK && !measuring && !(test_holds(&g.y, 3) && test_holds(&n.y, 6)))
        status = POL_ECORRUPT;
    const pol_status closed = pol_arena_close(&sub);
    return status == POL_OK ? closed : status;
}
static pol_status block(const struct block_outputs *out, const struct block_args *a,
                        pol_frame *frame)
{
    struct attention_outputs first, second;
    POL_TRY(pol_call(attention, frame, (&(struct attention_args){a->n}), &first));
    POL_TRY(block_in_sub_arena(frame, a));
    POL_TRY(pol_call(attention, frame, (&(struct attention_args){a->n + 3}), &second));
    if (pol_is_measuring(frame))
        return POL_OK;
    if (!test_holds(&first.y, 10) || !test_holds(&second.y, 10))
        return POL_ECORRUPT;
    return fill_with(&out->y, 2, 11);
}
POL_ALLOCATING(block, outputs, space);

/* step: the whole program; the twelfth verb. Runs on an arena or in a frame, real or measuring. */
struct step_args {
    int64_t n;
};
struct step_outputs {
    pol_array y;
};
static struct step_outputs step_outputs(const struct step_args *a)
{
    return (struct step_outputs){pol_undef(POL_F32, a->n)};
}
static pol_status step(const struct step_outputs *out, const struct step_args *a, pol_frame *frame)
{
    struct embed_outputs e;
    POL_TRY(pol_call(embed, frame, (&(struct embed_args){a->n}), &e));
    for (int64_t layer = 0; layer < 3; layer++) {
        POL_SCRATCHSPACE(inner, frame) {
            struct block_outputs b;
            struct add_outputs s;
            POL_TRY(pol_call(block, inner, (&(struct block_args){a->n + layer}), &b));
            POL_TRY(pol_call(add, pol_ambientspace(), (&(struct add_args){a->n}), &s));
            if (!pol_is_measuring(inner) && !(test_holds(&b.y, 11) && test_holds(&s.y, 2)))
                return POL_ECORRUPT;
        }
    }
    struct loss_outputs l;
    POL_TRY(pol_call(loss, frame, (&(struct loss_args){a->n}), &l));
    if (pol_is_measuring(frame))
        return POL_OK;
    if (!test_holds(&e.y, 1) || !test_holds(&l.y, 9))
        return POL_ECORRUPT;
    return fill_with(&out->y, 1, 12);
}
POL_ALLOCATING(step, outputs, space);

/* -- random programs -------------------------------------------------------------------------- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t strictest; /* element alignment that random descriptions reach */

static pol_array random_array(uint32_t *seed)
{
    const pol_array absent = {0};
    const uint32_t kind = next(seed) % 8, n = next(seed) % 90;
    const pol_type strict = {POL_CODE_OPAQUE, 0, 1, 1, strictest};
    switch (kind) {
    case 0:
        return absent;
    case 1:
        return pol_undef(POL_F64, n % 12);
    case 2:
        return pol_undef(POL_I4, n, 3);
    case 3:
        return pol_undef(strict, n);
    case 4:
        return pol_undef_scalar(POL_C128);
    default:
        return pol_undef(POL_U8, n);
    }
}

struct twig_args {
    uint32_t seed;
};
struct twig_outputs {
    pol_array a, b;
};
struct twig_scratch {
    pol_array a, b, c;
};
static struct twig_outputs twig_outputs(const struct twig_args *a)
{
    uint32_t seed = a->seed;
    struct twig_outputs out;
    out.a = random_array(&seed);
    out.b = random_array(&seed);
    return out;
}
static struct twig_scratch twig_scratch(const struct twig_args *a)
{
    uint32_t seed = a->seed ^ 0xABCDEFu;
    struct twig_scratch s;
    s.a = random_array(&seed);
    s.b = random_array(&seed);
    s.c = random_array(&seed);
    return s;
}
static pol_status twig(const struct twig_outputs *out, const struct twig_args *a,
                       const struct twig_scratch *s)
{
    (void)a;
    leaf_runs++;
    POL_TRY(fill_with(&s->a, 3, 0xDD));
    return fill_with(&out->a, 2, (unsigned char)a->seed);
}
POL_ALLOCATING(twig, outputs, scratch);

static pol_status grow(pol_space *space, uint32_t seed, int depth);

struct tree_args {
    uint32_t seed;
    int depth;
};
struct tree_outputs {
    pol_array a;
};
static struct tree_outputs tree_outputs(const struct tree_args *a)
{
    uint32_t seed = a->seed;
    return (struct tree_outputs){random_array(&seed)};
}
static pol_status tree(const struct tree_outputs *out, const struct tree_args *a, pol_frame *frame)
{
    POL_TRY(grow(&frame->space, a->seed, a->depth - 1));
    return pol_is_measuring(frame) ? POL_OK : fill_with(&out->a, 1, (unsigned char)a->seed);
}
POL_ALLOCATING(tree, outputs, space);

static bool still_holds(const pol_array *a, uint32_t seed)
{
    return !pol_is_array(a) || test_holds(a, (unsigned char)seed);
}

static pol_status grow_in_frame(pol_frame *frame, void *ctx)
{
    const struct tree_args *a = (const struct tree_args *)ctx;
    return grow(&frame->space, a->seed, a->depth);
}

static pol_status grow_in_sub_arena(pol_space *space, const struct tree_args *a)
{
    pol_arena sub;
    POL_TRY(pol_arena_open(&sub, space, 6000, (size_t)1 << (a->seed % 9)));
    struct twig_outputs out;
    struct twig_args args = {a->seed};
    pol_status status = POL_OK;
    for (int i = 0; status == POL_OK && i < 3; i++, args.seed += 77)
        status = pol_call(twig, &sub, &args, &out);
    const pol_status closed = pol_arena_close(&sub);
    return status == POL_OK ? closed : status;
}

static pol_status grow(pol_space *space, uint32_t seed, int depth)
{
    enum { STEPS = 6 };
    struct twig_outputs twigs[STEPS];
    struct tree_outputs trees[STEPS];
    uint32_t seeds[STEPS];
    memset(twigs, 0, sizeof twigs);
    memset(trees, 0, sizeof trees);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t what = next(&seed) % 8;
        struct tree_args branch = {seeds[i] = next(&seed), depth - 1};
        if (depth <= 0 || what < 3)
            POL_TRY(pol_call(twig, space, (&(struct twig_args){branch.seed}), &twigs[i]));
        else if (what < 5)
            POL_TRY(pol_call(tree, space, &branch, &trees[i]));
        else if (what < 7)
            POL_TRY(pol_scratchspace(space, grow_in_frame, &branch));
        else
            POL_TRY(grow_in_sub_arena(space, &branch));
    }
    for (int i = 0; i < STEPS && !pol_is_measuring(space); i++)
        if (!still_holds(&twigs[i].a, seeds[i]) || !still_holds(&twigs[i].b, seeds[i]) ||
            !still_holds(&trees[i].a, seeds[i]))
            return POL_ECORRUPT;
    return POL_OK;
}

/* -- the tests -------------------------------------------------------------------------------- */

static size_t dry_watermark, dry_budget;

static void dry_step(size_t alignment, int64_t n)
{
    pol_arena dry;
    struct step_outputs out;
    const struct step_args args = {n};
    assert_ok(pol_arena_measure(&dry, alignment));
    leaf_runs = 0;
    assert_ok(pol_call(step, &dry, &args, &out));
    assert_int_equal(leaf_runs, 0);
    assert_true(pol_is_measuring(&dry));
    dry_watermark = pol_watermark(&dry);
    dry_budget = pol_arena_budget(&dry);
}

/* V8: leaves are not run, and the real run reaches the dry one's watermark. */
static void a_program_runs_in_the_slab_that_its_dry_run_asked_for(void **state)
{
    (void)state;
    for (size_t alignment = 128; alignment <= 1024; alignment *= 2) {
        for (int64_t n = 1; n < 60; n += 6) {
            pol_arena arena;
            struct step_outputs out;
            const struct step_args args = {n};
            dry_step(alignment, n);
            assert_int_equal(dry_budget, dry_watermark + alignment - 1);
            const size_t shifts[] = {1, 0, alignment / 2, alignment - 1};
            for (size_t i = 0; i < 4; i++) { /* the worst base first */
                assert_ok(pol_arena_init(&arena, test_slab(shifts[i]), dry_budget, alignment));
                assert_ok(pol_call(step, &arena, &args, &out));
                assert_true(test_holds(&out.y, 12));
                assert_int_equal(pol_watermark(&arena), dry_watermark);
                assert_int_equal(pol_arena_budget(&arena), dry_budget);
            }
            assert_true(leaf_runs > 0);
        }
    }
}

/* Trap 12: one byte less is refused at the worst base, and changes nothing. */
static void a_slab_of_one_byte_less_is_refused(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 60; n += 6) {
        pol_arena arena;
        struct step_outputs out;
        const struct step_args args = {n};
        dry_step(256, n);
        assert_ok(pol_arena_init(&arena, test_slab(1), dry_budget - 1, 256));
        const struct test_state before = test_state_of(&arena, NULL);
        assert_status(pol_call(step, &arena, &args, &out), POL_ECEILING);
        assert_true(pol_is_undef(&out.y));
        test_assert_unchanged(&before, &arena, NULL);
        /* a slab of exactly the watermark at an aligned base runs it, of a byte less does not */
        assert_ok(pol_arena_init(&arena, test_slab(0), dry_watermark, 256));
        assert_ok(pol_call(step, &arena, &args, &out));
        assert_ok(pol_arena_init(&arena, test_slab(0), dry_watermark - 1, 256));
        assert_status(pol_call(step, &arena, &args, &out), POL_ECEILING);
    }
}

/* Trap 12: one fixed program on every capacity: success or the first clean error. */
static void on_every_capacity_the_program_runs_or_changes_nothing(void **state)
{
    (void)state;
    dry_step(128, 2);
    const struct step_args args = {2};
    for (size_t nbytes = 1; nbytes <= dry_watermark + 64; nbytes += 1 + nbytes / 400) {
        pol_arena arena;
        struct step_outputs out;
        assert_ok(pol_arena_init(&arena, test_slab(0), nbytes, 128));
        const struct test_state before = test_state_of(&arena, NULL);
        const pol_status got = pol_call(step, &arena, &args, &out);
        if (nbytes < dry_watermark) {
            assert_status(got, POL_ECEILING);
            test_assert_unchanged(&before, &arena, NULL);
        } else {
            assert_ok(got);
            assert_int_equal(pol_watermark(&arena), dry_watermark);
        }
    }
}

/* V8: a frame or a sub-arena on a measuring arena measures as the arena does. */
static void frames_and_sub_arenas_of_a_measuring_arena_measure(void **state)
{
    (void)state;
    dry_step(256, 9);
    const size_t alone = dry_watermark;
    pol_arena dry, sub;
    const struct step_args args = {9};
    struct step_outputs out;
    assert_ok(pol_arena_measure(&dry, 256));
    POL_SCRATCHSPACE(frame, &dry) {
        assert_true(pol_is_measuring(frame));
        leaf_runs = 0;
        assert_ok(pol_call(step, frame, &args, &out));
        assert_int_equal(leaf_runs, 0);
    }
    assert_int_equal(pol_watermark(&dry), alone);
    assert_int_equal(pol_arena_offset(&dry), 0);
    assert_ok(pol_arena_measure(&dry, 256));
    assert_ok(pol_arena_open(&sub, &dry, 100000, 256));
    assert_true(pol_is_measuring(&sub));
    assert_ok(pol_call(step, &sub, &args, &out));
    assert_int_equal(leaf_runs, 0);
    assert_int_equal(pol_watermark(&sub), alone);
    assert_ok(pol_arena_close(&sub));
    assert_int_equal(pol_watermark(&dry), 100000);

    pol_arena real;
    assert_ok(pol_arena_init(&real, test_slab(0), 4096, 0));
    assert_false(pol_is_measuring(&real));
    assert_false(pol_is_measuring(pol_heap()));
    POL_SCRATCHSPACE(frame, &real) {
        assert_false(pol_is_measuring(frame));
    }
}

/* V8: a sub-arena that is too small says so in the dry run already. */
static void a_dry_sub_arena_has_its_ceiling(void **state)
{
    (void)state;
    pol_arena dry, sub;
    pol_array a;
    assert_ok(pol_arena_measure(&dry, 256));
    assert_ok(pol_arena_open(&sub, &dry, 100, 0));
    assert_status(pol_alloc(&sub, &a, pol_undef(POL_U8, 101)), POL_ECEILING);
    assert_ok(pol_alloc(&sub, &a, pol_undef(POL_U8, 100)));
    assert_ok(pol_arena_close(&sub));
}

/* V8: as many steps as you like, the watermark is that of one. */
static void steps_in_frames_of_their_own_need_no_more_than_one(void **state)
{
    (void)state;
    dry_step(256, 13);
    pol_arena arena;
    const struct step_args args = {13};
    assert_ok(pol_arena_init(&arena, test_slab(1), dry_budget, 256));
    void *first = NULL;
    for (int i = 0; i < 50; i++) {
        POL_SCRATCHSPACE(frame, &arena) {
            struct step_outputs out;
            assert_ok(pol_call(step, frame, &args, &out));
            if (!first)
                first = out.y.data;
            assert_ptr_equal(out.y.data, first); /* A2: graph replay needs equal addresses */
        }
    }
    assert_int_equal(pol_watermark(&arena), dry_watermark);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

/* never: a verb with scratch that always fails. */
struct never_args {
    int64_t n;
};
struct never_outputs {
    pol_array y;
};
struct never_scratch {
    pol_array s;
};
static struct never_outputs never_outputs(const struct never_args *a)
{
    return (struct never_outputs){pol_undef(POL_F32, a->n)};
}
static struct never_scratch never_scratch(const struct never_args *a)
{
    return (struct never_scratch){pol_undef(POL_F64, a->n)};
}
static pol_status never(const struct never_outputs *out, const struct never_args *a,
                        const struct never_scratch *s)
{
    return out->y.data && s->s.data && a ? pol_fail(POL_EUSER, "never: fails") : POL_OK;
}
POL_ALLOCATING(never, outputs, scratch);

/* Trap 15: a million times a frame, a failing verb, an end: nothing piles up. */
static void a_million_failing_calls_leave_everything_flat(void **state)
{
    (void)state;
    const struct never_args args = {5};
    const int times = TEST_SANITIZED || test_under_valgrind() ? 10000 : 1000000;
    pol_arena arena;
    assert_ok(pol_arena_init(&arena, test_slab(1), 4096, 64));
    const struct test_state before = test_state_of(&arena, NULL);
    const size_t resident = test_resident();
    for (int i = 0; i < times; i++) {
        POL_SCRATCHSPACE(frame, &arena) {
            struct never_outputs out;
            if (pol_call(never, frame, &args, &out) != POL_EUSER)
                fail();
        }
    }
    test_assert_unchanged(&before, &arena, NULL);
    assert_ok(pol_reset(&arena)); /* no frame is open */
    if (!TEST_SANITIZED && !test_under_valgrind())
        assert_true(test_resident() < resident + (1u << 20));
}

/* V8 */
static void random_programs_run_in_the_slab_that_their_dry_run_asked_for(void **state)
{
    (void)state;
    strictest = 64;
    for (uint32_t seed = 1; seed <= 150; seed++) {
        pol_arena dry, real;
        const size_t alignment = seed % 2 ? 256 : 512;
        assert_ok(pol_arena_measure(&dry, alignment));
        leaf_runs = 0;
        assert_ok(grow(&dry.space, seed, 4));
        assert_int_equal(leaf_runs, 0);
        const size_t budget = pol_arena_budget(&dry);
        assert_ok(pol_arena_init(&real, test_slab(1), budget, alignment));
        assert_ok(grow(&real.space, seed, 4));
        assert_int_equal(pol_watermark(&real), pol_watermark(&dry));
        assert_int_equal(pol_arena_offset(&real), pol_arena_offset(&dry));
        assert_int_equal(pol_arena_budget(&real), budget);
        assert_ok(pol_arena_init(&real, test_slab(1), budget - 1, alignment));
        assert_status(grow(&real.space, seed, 4), POL_ECEILING);
    }
}

/* A2, V8: with elements stricter than the arena, the budget is enough wherever the slab lies. */
static void the_budget_suffices_at_any_base_for_strict_elements(void **state)
{
    (void)state;
    for (strictest = 1; strictest <= 1024; strictest *= 4) {
        for (uint32_t seed = 1; seed <= 12; seed++) {
            pol_arena dry, real;
            const size_t alignment = (size_t)1 << (seed % 9);
            assert_ok(pol_arena_measure(&dry, alignment));
            assert_ok(grow(&dry.space, seed, 3));
            const size_t budget = pol_arena_budget(&dry);
            for (size_t shift = 0; shift < 1024; shift += 1 + shift / 2) {
                assert_ok(pol_arena_init(&real, test_slab(shift), budget, alignment));
                assert_ok(grow(&real.space, seed, 3));
            }
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(a_program_runs_in_the_slab_that_its_dry_run_asked_for),
        TEST(a_slab_of_one_byte_less_is_refused),
        TEST(on_every_capacity_the_program_runs_or_changes_nothing),
        TEST(frames_and_sub_arenas_of_a_measuring_arena_measure),
        TEST(a_dry_sub_arena_has_its_ceiling),
        TEST(steps_in_frames_of_their_own_need_no_more_than_one),
        TEST(a_million_failing_calls_leave_everything_flat),
        TEST(random_programs_run_in_the_slab_that_their_dry_run_asked_for),
        TEST(the_budget_suffices_at_any_base_for_strict_elements),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

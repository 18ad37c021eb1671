/* SPDX-License-Identifier: MIT */

/*
 * The conformance suite over every space there is, then the spaces that fail on purpose. Issue 2
 * lists them: heap, pages, arena, an arena inside an arena, a frame on each, a failing space for
 * every k, once and for ever, a space whose device records a graph, the example's space.
 */

#include "conformance.h"
#include "fixed_space.h" /* of examples/ */

#include <string.h>

enum { ARENA_BYTES = 8192, ARENA_ALIGNMENT = 64, INNER_BYTES = 5000 };

static void nothing(struct conformance_world *w)
{
    (void)w;
}
static pol_space *heap(struct conformance_world *w)
{
    return (void)w, pol_heap();
}
static pol_space *pages(struct conformance_world *w)
{
    return (void)w, pol_pages();
}

static const struct conformance_space on_heap = {
    .name = "heap", .open = heap, .close = nothing, .home = heap, .alignment = 256, .owns = true};
static const struct conformance_space on_pages = {.name = "pages",
                                                  .open = pages,
                                                  .close = nothing,
                                                  .home = pages,
                                                  .alignment = 4096,
                                                  .owns = true};

/* -- a counting space ------------------------------------------------------------------------- */

static pol_space *counting_open(struct conformance_world *w)
{
    test_space_init(&w->counting);
    return &w->counting.space;
}
static void counting_close(struct conformance_world *w)
{
    test_space_assert_clean(&w->counting);
}
static size_t counting_used(struct conformance_world *w)
{
    return w->counting.live;
}
static pol_space *counting_home(struct conformance_world *w)
{
    return &w->counting.space;
}

static const struct conformance_space on_counting = {.name = "counting space",
                                                     .open = counting_open,
                                                     .close = counting_close,
                                                     .used = counting_used,
                                                     .home = counting_home,
                                                     .alignment = 256,
                                                     .owns = true};

/* -- one whose release opens frames: trap 20 -------------------------------------------------- */

static pol_space *reentrant_open(struct conformance_world *w)
{
    test_space_init_reentrant(&w->counting);
    return &w->counting.space;
}
static void reentrant_close(struct conformance_world *w)
{
    size_t taken = 0;
    for (size_t i = 0; i < w->counting.nlog; i++)
        taken += w->counting.log[i].what == 'r';
    assert_int_equal(w->counting.reentered, taken);
    test_space_assert_clean(&w->counting);
}

static const struct conformance_space on_reentrant = {.name = "reentrant space",
                                                      .open = reentrant_open,
                                                      .close = reentrant_close,
                                                      .used = counting_used,
                                                      .home = counting_home,
                                                      .alignment = 256,
                                                      .owns = true};

/* -- a marking space ------------------------------------------------------------------------- */

static pol_space *marking_open(struct conformance_world *w)
{
    test_marking_init(&w->marking);
    return &w->marking.space;
}
static size_t marking_used(struct conformance_world *w)
{
    return w->marking.used;
}

static const struct conformance_space on_marking = {.name = "marking space",
                                                    .open = marking_open,
                                                    .close = nothing,
                                                    .used = marking_used,
                                                    .alignment = 1,
                                                    .capacity = TEST_MARKING_BYTES};

/* -- arenas ---------------------------------------------------------------------------------- */

static pol_space *arena_open(struct conformance_world *w)
{
    assert_ok(pol_arena_init(&w->arena, test_slab(0), ARENA_BYTES, ARENA_ALIGNMENT));
    return &w->arena.space;
}
static void arena_close(struct conformance_world *w)
{
    assert_ok(pol_arena_close(&w->arena));
}
static size_t arena_used(struct conformance_world *w)
{
    return pol_arena_offset(&w->arena);
}

static const struct conformance_space on_arena = {.name = "arena",
                                                  .open = arena_open,
                                                  .close = arena_close,
                                                  .used = arena_used,
                                                  .home = heap,
                                                  .alignment = ARENA_ALIGNMENT,
                                                  .capacity = ARENA_BYTES};

static pol_space *shifted_open(struct conformance_world *w)
{
    assert_ok(pol_arena_init(&w->arena, test_slab(1), ARENA_BYTES + ARENA_ALIGNMENT - 1,
                             ARENA_ALIGNMENT));
    return &w->arena.space;
}

static const struct conformance_space on_shifted = {.name = "arena at the worst base",
                                                    .open = shifted_open,
                                                    .close = arena_close,
                                                    .used = arena_used,
                                                    .home = heap,
                                                    .alignment = ARENA_ALIGNMENT,
                                                    .capacity = ARENA_BYTES};

static pol_space *opened_open(struct conformance_world *w)
{
    test_space_init(&w->counting);
    assert_ok(pol_arena_open(&w->arena, &w->counting.space, ARENA_BYTES, ARENA_ALIGNMENT));
    return &w->arena.space;
}
static void opened_close(struct conformance_world *w)
{
    assert_ok(pol_arena_close(&w->arena));
    test_space_assert_clean(&w->counting);
}

static const struct conformance_space on_opened = {.name = "arena opened from a space",
                                                   .open = opened_open,
                                                   .close = opened_close,
                                                   .used = arena_used,
                                                   .home = counting_home,
                                                   .alignment = ARENA_ALIGNMENT,
                                                   .capacity = ARENA_BYTES};

static pol_space *inner_open(struct conformance_world *w)
{
    pol_array before;
    arena_open(w);
    assert_ok(pol_alloc(&w->arena, &before, pol_undef(POL_U8, 3)));
    assert_ok(pol_arena_open(&w->inner, &w->arena, INNER_BYTES, 32));
    return &w->inner.space;
}
static void inner_close(struct conformance_world *w)
{
    assert_ok(pol_arena_close(&w->inner));
    arena_close(w);
}
static size_t inner_used(struct conformance_world *w)
{
    return pol_arena_offset(&w->inner);
}

static const struct conformance_space on_inner = {.name = "arena inside an arena",
                                                  .open = inner_open,
                                                  .close = inner_close,
                                                  .used = inner_used,
                                                  .home = heap,
                                                  .alignment = 32,
                                                  .capacity = INNER_BYTES};

/* -- the example's space: one operation, and nothing is ever taken back ----------------------- */

enum { FIXED_BYTES = 4096 };

static struct fixed_space fixed;

static pol_space *fixed_open(struct conformance_world *w)
{
    (void)w;
    fixed_space_init(&fixed, test_slab(0), FIXED_BYTES);
    return &fixed.space;
}
static size_t fixed_used(struct conformance_world *w)
{
    return (void)w, fixed.used;
}

static const struct conformance_space on_fixed = {.name = "the example's space",
                                                  .open = fixed_open,
                                                  .close = nothing,
                                                  .used = fixed_used,
                                                  .alignment = 1,
                                                  .capacity = FIXED_BYTES,
                                                  .keeps = true};

/* -- a frame on each, and a frame on a frame ------------------------------------------------- */

#define FRAME_ON(id, title, sees, finds, aligns, holds, never)                                     \
    static pol_space *framed_##id##_open(struct conformance_world *w)                              \
    {                                                                                              \
        pol_space *below = on_##id.open(w);                                                        \
        pol_frame_begin(&w->frame, below);                                                         \
        return &w->frame.space;                                                                    \
    }                                                                                              \
    static void framed_##id##_close(struct conformance_world *w)                                   \
    {                                                                                              \
        assert_ok(pol_frame_end(&w->frame));                                                       \
        on_##id.close(w);                                                                          \
    }                                                                                              \
    static const struct conformance_space framed_##id = {.name = "frame on " title,                \
                                                         .open = framed_##id##_open,               \
                                                         .close = framed_##id##_close,             \
                                                         .used = sees,                             \
                                                         .home = finds,                            \
                                                         .alignment = aligns,                      \
                                                         .capacity = holds,                        \
                                                         .keeps = never}

FRAME_ON(heap, "heap", NULL, heap, 256, 0, false);
FRAME_ON(pages, "pages", NULL, pages, 4096, 0, false);
FRAME_ON(counting, "counting space", counting_used, counting_home, 256, 0, false);
FRAME_ON(reentrant, "reentrant space", counting_used, counting_home, 256, 0, false);
FRAME_ON(marking, "marking space", marking_used, NULL, 1, TEST_MARKING_BYTES, false);
FRAME_ON(arena, "arena", arena_used, heap, ARENA_ALIGNMENT, ARENA_BYTES, false);
FRAME_ON(opened, "arena opened from a space", arena_used, counting_home, ARENA_ALIGNMENT,
         ARENA_BYTES, false);
FRAME_ON(inner, "arena inside an arena", inner_used, heap, 32, INNER_BYTES, false);
FRAME_ON(fixed, "the example's space", fixed_used, NULL, 1, FIXED_BYTES, true);

#define FRAME_ABOVE(id, title)                                                                     \
    static pol_space *above_##id##_open(struct conformance_world *w)                               \
    {                                                                                              \
        pol_frame_begin(&w->above, framed_##id.open(w));                                           \
        return &w->above.space;                                                                    \
    }                                                                                              \
    static void above_##id##_close(struct conformance_world *w)                                    \
    {                                                                                              \
        assert_ok(pol_frame_end(&w->above));                                                       \
        framed_##id.close(w);                                                                      \
    }                                                                                              \
    static const struct conformance_space above_##id = {.name = "frame on a frame on " title,      \
                                                        .open = above_##id##_open,                 \
                                                        .close = above_##id##_close,               \
                                                        .used = id##_used,                         \
                                                        .home = id##_home,                         \
                                                        .alignment = 1}
#define arena_home heap
FRAME_ABOVE(counting, "counting space");
FRAME_ABOVE(arena, "arena");

/* -- spaces that fail on purpose -------------------------------------------------------------- */

static struct test_space failing;

struct four {
    pol_array a, b, c, d;
};

static struct four four_described(void)
{
    return (struct four){pol_undef(POL_F32, 3), pol_undef(POL_U8, 5), pol_undef(POL_F64, 2),
                         pol_undef(POL_U8, 0)};
}

/* S2, E3, traps 13 and 14: on the space itself and through a frame on it. */
static void every_refused_request_of_a_bundle_gives_back_the_rest(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        for (size_t k = 1; k <= 4; k++) {
            test_space_init(&failing);
            pol_frame f;
            pol_space *s = &failing.space;
            if (variant & 1) {
                pol_frame_begin(&f, s);
                s = &f.space;
            }
            const struct test_state before = test_state_of(NULL, &failing);
            const struct four want = four_described();
            struct four got;
            memset(&got, 0xA5, sizeof got);
            test_space_fail(&failing, k, variant & 2);
            assert_status(pol_alloc(s, &got, want), POL_ENOMEM);
            assert_memory_equal(&got, &want, sizeof got);
            assert_int_equal(failing.requests, k);
            test_assert_unchanged(&before, NULL, &failing);
            test_space_assert_reverse(&failing);
            test_space_fail(&failing, 0, false);
            assert_ok(pol_alloc(s, &got, want));
            assert_int_equal(failing.live, 4);
            if (variant & 1) {
                assert_ok(pol_frame_end(&f));
            } else {
                pol_release(&got.d);
                pol_release(&got.c);
                pol_release(&got.b);
                pol_release(&got.a);
            }
            test_space_assert_clean(&failing);
            test_space_assert_reverse(&failing);
        }
    }
}

/* F2, trap 14: a longer life of a frame, with a refusal at any point of it. */
static void a_frame_survives_every_refused_request(void **state)
{
    (void)state;
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (size_t k = 1; k <= 9; k++) {
            test_space_init(&failing);
            test_space_fail(&failing, k, for_ever);
            size_t refused = 0;
            pol_frame outer, inner;
            pol_array a;
            struct four four;
            pol_frame_begin(&outer, &failing.space);
            refused += pol_alloc(&outer, &a, pol_undef(POL_U8, 11)) != POL_OK;
            refused += pol_alloc(&outer, &four, four_described()) != POL_OK;
            pol_frame_begin(&inner, &outer);
            refused += pol_alloc(&inner, &a, pol_undef(POL_U8, 12)) != POL_OK;
            refused += pol_alloc(&inner, &a, pol_undef(POL_U8, 13)) != POL_OK;
            assert_ok(pol_frame_end(&inner));
            refused += pol_alloc(&outer, &a, pol_undef(POL_U8, 14)) != POL_OK;
            assert_ok(pol_frame_end(&outer));
            assert_true(refused >= (k <= 8 ? 1u : 0u));
            test_space_assert_clean(&failing);
            test_space_assert_reverse(&failing);
        }
    }
}

/* A1, trap 14 */
static void an_arena_that_gets_no_slab_is_not_open(void **state)
{
    (void)state;
    test_space_init(&failing);
    const struct test_state before = test_state_of(NULL, &failing);
    pol_arena a;
    memset(&a, 0, sizeof a);
    test_space_fail(&failing, 1, true);
    assert_status(pol_arena_open(&a, &failing.space, 1000, 0), POL_ENOMEM);
    test_assert_unchanged(&before, NULL, &failing);
    assert_status(pol_arena_close(&a), POL_EINVAL);
    test_space_fail(&failing, 0, false);
    assert_ok(pol_arena_open(&a, &failing.space, 1000, 0));
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&failing);
}

/* A1, trap 14: an arena as the parent. What aligns as the parent does needs its own bytes alone. */
static void an_arena_inside_a_full_arena_changes_nothing(void **state)
{
    (void)state;
    for (size_t room = 0; room <= 128; room++) {
        pol_arena parent, sub;
        assert_ok(pol_arena_init(&parent, test_slab(0), 512 + room, 256));
        pol_array a;
        assert_ok(pol_alloc(&parent, &a, pol_undef(POL_U8, 512)));
        const struct test_state before = test_state_of(&parent, NULL);
        if (room < 100) {
            assert_status(pol_arena_open(&sub, &parent, 100, 256), POL_ECEILING);
            test_assert_unchanged(&before, &parent, NULL);
        } else {
            assert_ok(pol_arena_open(&sub, &parent, 100, 256));
            assert_ok(pol_arena_close(&sub));
        }
    }
}

/* S5 */
static void a_capturing_space_refuses_and_an_arena_over_it_carves(void **state)
{
    (void)state;
    test_space_init(&failing);
    pol_arena arena;
    pol_array a;
    assert_ok(pol_arena_open(&arena, &failing.space, 4096, 0));
    failing.capturing = true;
    const size_t requests = failing.requests;
    const struct test_state before = test_state_of(NULL, &failing);
    assert_status(pol_alloc(&failing.space, &a, pol_undef(POL_F32, 4)), POL_ECAPTURE);
    test_assert_unchanged(&before, NULL, &failing);
    assert_int_equal(failing.requests, requests);
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_F32, 4)));
    POL_SCRATCHSPACE(frame, &arena) {
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_F32, 4)));
    }
    assert_ok(pol_arena_close(&arena)); /* giving back is allowed */
    test_space_assert_clean(&failing);
}

int main(void)
{
    static const struct conformance_space *const spaces[] = {
        &on_heap,       &on_pages,        &on_counting,      &on_reentrant,   &on_marking,
        &on_arena,      &on_shifted,      &on_opened,        &on_inner,       &framed_heap,
        &framed_pages,  &framed_counting, &framed_reentrant, &framed_marking, &framed_arena,
        &framed_opened, &framed_inner,    &above_counting,   &above_arena,    &on_fixed,
        &framed_fixed,
    };
    static struct CMUnitTest suite[512];
    const struct CMUnitTest on_purpose[] = {
        cmocka_unit_test(every_refused_request_of_a_bundle_gives_back_the_rest),
        cmocka_unit_test(a_frame_survives_every_refused_request),
        cmocka_unit_test(an_arena_that_gets_no_slab_is_not_open),
        cmocka_unit_test(an_arena_inside_a_full_arena_changes_nothing),
        cmocka_unit_test(a_capturing_space_refuses_and_an_arena_over_it_carves),
    };
    const size_t n = conformance_tests(spaces, sizeof spaces / sizeof *spaces, suite,
                                       sizeof suite / sizeof *suite);
    const int failed = _cmocka_run_group_tests("conformance", suite, n, NULL, test_clear_ambient);
    return failed +
           cmocka_run_group_tests_name("failing on purpose", on_purpose, NULL, test_clear_ambient);
}

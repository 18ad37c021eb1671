/* SPDX-License-Identifier: MIT */

/* Shadows: rules H1 and H2. */

#include "support.h"

static const pol_array absent = {0};
static struct test_space counting;

struct layer {
    pol_shadowed weights, bias;
};

/* H1 */
static void shadowed_of_pairs_two_arrays(void **state)
{
    (void)state;
    float x[2], dx[2];
    const pol_array a = pol_wrap(x, POL_F32, 2), b = pol_wrap(dx, POL_F32, 2);
    const pol_shadowed s = pol_shadowed_of(a, b);
    assert_memory_equal(&s.primal, &a, sizeof a);
    assert_memory_equal(&s.shadow, &b, sizeof b);
}

/* H1: the shape is the primal's, the type may be wider. */
static void shadowed_like_describes_a_shadow_of_another_type(void **state)
{
    (void)state;
    uint16_t x[6];
    const pol_array a = pol_wrap(x, POL_BF16, 2, 3), want = pol_undef(POL_F32, 2, 3);
    const pol_shadowed s = pol_shadowed_like(&a, POL_F32);
    assert_memory_equal(&s.primal, &a, sizeof a);
    assert_memory_equal(&s.shadow, &want, sizeof want);
}

/* H1: itself a bundle; a primal with data passes through. */
static void alloc_materializes_the_shadow_and_borrows_the_primal(void **state)
{
    (void)state;
    test_space_init(&counting);
    uint16_t x[6];
    const pol_array a = pol_wrap(x, POL_BF16, 2, 3);
    pol_shadowed s;
    assert_ok(pol_alloc(&counting.space, &s, pol_shadowed_like(&a, POL_F32)));
    assert_ptr_equal(s.primal.data, x);
    assert_int_equal(counting.live, 1);
    assert_int_equal(test_nbytes(&s.shadow), 24);
    pol_release(&s.primal);
    pol_release(&s.shadow);
    test_space_assert_clean(&counting);
}

/* H1: both are described, both are materialized. */
static void alloc_materializes_both_when_neither_has_data(void **state)
{
    (void)state;
    test_space_init(&counting);
    const pol_array a = pol_undef(POL_F16, 5);
    pol_shadowed s;
    assert_ok(pol_alloc(&counting.space, &s, pol_shadowed_like(&a, POL_F64)));
    assert_int_equal(test_nbytes(&s.primal), 10);
    assert_int_equal(test_nbytes(&s.shadow), 40);
    assert_false(test_overlap(&s.primal, &s.shadow));
    pol_release(&s.shadow);
    pol_release(&s.primal);
    test_space_assert_clean(&counting);
}

/* H1: no gradient is asked for. */
static void a_constant_has_an_absent_shadow_that_stays_absent(void **state)
{
    (void)state;
    test_space_init(&counting);
    pol_shadowed s;
    assert_ok(pol_alloc(&counting.space, &s, pol_constant(pol_undef(POL_F32, 3))));
    assert_memory_equal(&s.shadow, &absent, sizeof absent);
    assert_true(pol_is_absent(pol_shadow(&s)));
    assert_int_equal(counting.live, 1);
    pol_release(&s.primal);
    test_space_assert_clean(&counting);
}

/* H1: structs of them are bundles too, materialized in order. */
static void structs_of_shadowed_are_bundles(void **state)
{
    (void)state;
    test_space_init(&counting);
    const pol_array w = pol_undef(POL_F32, 4, 2), b = pol_undef(POL_F32, 2);
    struct layer layer;
    assert_ok(pol_alloc(&counting.space, &layer,
                        (struct layer){pol_shadowed_like(&w, POL_F32), pol_constant(b)}));
    assert_int_equal(counting.live, 3);
    assert_ptr_equal(counting.log[1].data, layer.weights.shadow.data);
    assert_ptr_equal(counting.log[2].data, layer.bias.primal.data);
    pol_release(&layer.bias.primal);
    pol_release(&layer.weights.shadow);
    pol_release(&layer.weights.primal);
    test_space_assert_clean(&counting);
}

/* E3, trap 14: every refused request leaves descriptions, and the borrowed primal alone. */
static void every_refused_request_of_a_shadow_changes_nothing(void **state)
{
    (void)state;
    float x[4] = {1, 2, 3, 4};
    const pol_array w = pol_undef(POL_F32, 4, 2), b = pol_wrap(x, POL_F32, 4);
    const struct layer want = {pol_shadowed_like(&w, POL_F64), pol_shadowed_like(&b, POL_F64)};
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (size_t k = 1; k <= 3; k++) {
            test_space_init(&counting);
            const struct test_state before = test_state_of(NULL, &counting);
            struct layer layer;
            test_space_fail(&counting, k, for_ever);
            assert_status(pol_alloc(&counting.space, &layer, want), POL_ENOMEM);
            test_assert_unchanged(&before, NULL, &counting);
            test_space_assert_reverse(&counting);
            assert_true(pol_is_undef(&layer.weights.primal));
            assert_true(pol_is_undef(&layer.weights.shadow));
            assert_true(pol_is_undef(&layer.bias.shadow));
            assert_ptr_equal(layer.bias.primal.data, x);
        }
    }
    pol_arena arena;
    for (size_t nbytes = 1; nbytes < 128 + 64 + 32; nbytes++) { /* 32 | 64 | 32 at 0, 64, 128 */
        struct layer layer;
        assert_ok(pol_arena_init(&arena, test_slab(0), nbytes, 64));
        const struct test_state before = test_state_of(&arena, NULL);
        if (nbytes < 128 + 32) {
            assert_status(pol_alloc(&arena, &layer, want), POL_ECEILING);
            test_assert_unchanged(&before, &arena, NULL);
        } else {
            assert_ok(pol_alloc(&arena, &layer, want));
        }
    }
}

/* H1: the shadow of nothing is nothing. */
static void a_shadow_like_an_absent_array_is_absent(void **state)
{
    (void)state;
    const pol_shadowed s = pol_shadowed_like(&absent, POL_F32);
    assert_memory_equal(&s.primal, &absent, sizeof absent);
    assert_memory_equal(&s.shadow, &absent, sizeof absent);
}

/* H2 */
static void primal_and_shadow_take_an_array_or_a_pair(void **state)
{
    (void)state;
    pol_array a = pol_undef(POL_F32, 2);
    pol_shadowed s = pol_shadowed_like(&a, POL_F64);
    const pol_array *const ca = &a;
    const pol_shadowed *const cs = &s;
    pol_array *const primal = pol_primal(&s), *const shadow = pol_shadow(&s);
    assert_ptr_equal(primal, &s.primal);
    assert_ptr_equal(shadow, &s.shadow);
    assert_ptr_equal(pol_primal(cs), &s.primal);
    assert_ptr_equal(pol_shadow(cs), &s.shadow);
    assert_ptr_equal(pol_primal(&a), &a);
    assert_ptr_equal(pol_primal(ca), &a);
    assert_null(pol_shadow(&a));
    assert_null(pol_shadow(ca));
}

/* H1, H2: what a backward kernel does: overwrite the shadow that is asked for, or write none. */
static void square_backward(pol_shadowed *x, const pol_array *dy)
{
    const float *value = pol_data(pol_primal(x), float), *up = pol_data(dy, float);
    if (!pol_is_array(pol_shadow(x)))
        return;
    double *grad = pol_data(pol_shadow(x), double);
    for (int64_t i = 0; i < dy->dims[0]; i++)
        grad[i] = 2.0 * (double)value[i] * (double)up[i];
}

static void a_kernel_overwrites_the_shadow_that_is_asked_for(void **state)
{
    (void)state;
    test_space_init(&counting);
    float values[3] = {1, 2, 3}, ups[3] = {1, 1, 2};
    const pol_array x = pol_wrap(values, POL_F32, 3), dy = pol_wrap(ups, POL_F32, 3);
    pol_shadowed pair, constant = pol_constant(x);
    assert_ok(pol_alloc(&counting.space, &pair, pol_shadowed_like(&x, POL_F64)));
    for (int twice = 0; twice < 2; twice++)
        square_backward(&pair, &dy);
    assert_true(pol_data(&pair.shadow, double)[2] == 12);
    square_backward(&constant, &dy);
    assert_true(pol_is_absent(&constant.shadow));
    pol_release(&pair.shadow);
    test_space_assert_clean(&counting);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(shadowed_of_pairs_two_arrays),
        TEST(shadowed_like_describes_a_shadow_of_another_type),
        TEST(alloc_materializes_the_shadow_and_borrows_the_primal),
        TEST(alloc_materializes_both_when_neither_has_data),
        TEST(a_constant_has_an_absent_shadow_that_stays_absent),
        TEST(structs_of_shadowed_are_bundles),
        TEST(every_refused_request_of_a_shadow_changes_nothing),
        TEST(a_shadow_like_an_absent_array_is_absent),
        TEST(primal_and_shadow_take_an_array_or_a_pair),
        TEST(a_kernel_overwrites_the_shadow_that_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

/* SPDX-License-Identifier: MIT */

/* The owning spaces and pol_similar(): rule S3. What they owe as spaces is in conformance.c. */

#include "support.h"

#include <string.h>

static const pol_array absent = {0};

/* S3 */
static void heap_memory_is_aligned_to_256_bytes(void **state)
{
    (void)state;
    pol_array a[64];
    for (size_t i = 0; i < 64; i++) {
        assert_ok(pol_alloc(pol_heap(), &a[i], pol_undef(POL_U8, (int64_t)(i * i))));
        assert_int_equal((uintptr_t)a[i].data % 256, 0);
        test_fill(&a[i], (unsigned char)i);
    }
    for (size_t i = 0; i < 64; i++) {
        assert_true(test_holds(&a[i], (unsigned char)i));
        pol_release(&a[i]);
    }
}

/* S3 */
static void pages_are_page_aligned_and_zero_also_the_second_time(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        pol_array a;
        assert_ok(pol_alloc(pol_pages(), &a, pol_undef(POL_U8, 3 * 4096 + 5)));
        assert_int_equal((uintptr_t)a.data % 4096, 0);
        assert_true(test_holds(&a, 0));
        test_fill(&a, 0xFF);
        pol_release(&a);
    }
}

/* A sanitizer's shadow leaves less of the address space. */
#define A_TERABYTE (UINT64_C(1) << (TEST_SANITIZED ? 34 : 40))

/* S3: a slab of a terabyte costs only what is touched. */
static void a_terabyte_of_pages_costs_what_is_touched(void **state)
{
    (void)state;
    if (sizeof(size_t) < 8 || test_under_valgrind())
        skip();
    const int64_t terabyte = (int64_t)A_TERABYTE;
    pol_array a;
    const size_t before = test_resident();
    assert_ok(pol_alloc(pol_pages(), &a, pol_undef(POL_U8, terabyte)));
    for (int64_t i = 0; i < 16; i++)
        ((unsigned char *)a.data)[i * (terabyte / 16)] = 1;
    ((unsigned char *)a.data)[terabyte - 1] = 1;
#if !TEST_SANITIZED /* shadow memory counts as resident */
    assert_true(test_resident() < before + (1u << 20));
#else
    (void)before;
#endif
    pol_release(&a);
    assert_true(pol_is_undef(&a));
}

/* S3, A1: as the slab of an arena. */
static void an_arena_over_a_terabyte_costs_what_is_touched(void **state)
{
    (void)state;
    if (sizeof(size_t) < 8 || test_under_valgrind())
        skip();
    pol_arena arena;
    pol_array a;
    const size_t before = test_resident();
    assert_ok(pol_arena_open(&arena, pol_pages(), (size_t)A_TERABYTE, 0));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_F32, 1000)));
    test_fill(&a, 7);
    assert_ptr_equal(pol_similar(&a), pol_pages());
#if !TEST_SANITIZED
    assert_true(test_resident() < before + (1u << 20));
#else
    (void)before;
#endif
    assert_ok(pol_arena_close(&arena));
}

/* S3: released pages go back to the system. */
static void released_pages_are_not_resident(void **state)
{
    (void)state;
    if (TEST_SANITIZED || test_under_valgrind() || !test_resident())
        skip();
    const size_t before = test_resident();
    for (int i = 0; i < 64; i++) {
        pol_array a;
        assert_ok(pol_alloc(pol_pages(), &a, pol_undef(POL_U8, 4 << 20)));
        for (size_t at = 0; at < (4u << 20); at += 4096)
            ((unsigned char *)a.data)[at] = 1;
        pol_release(&a);
    }
    assert_true(test_resident() < before + (16u << 20));
}

/* E1, E3: what the system refuses. */
static void what_the_system_refuses_is_enomem_and_changes_nothing(void **state)
{
    (void)state;
    pol_space *const spaces[] = {pol_heap(), pol_pages()};
    for (size_t i = 0; i < 2; i++) {
        const pol_array want = pol_undef(POL_U8, PTRDIFF_MAX - 100000);
        pol_array a;
        assert_status(pol_alloc(spaces[i], &a, want), POL_ENOMEM);
        assert_memory_equal(&a, &want, sizeof a);
        assert_string_not_equal(pol_last_error(), "");
    }
}

/* U4: nothing that fits a PTRDIFF_MAX wraps on its way to the system. */
static void the_largest_sizes_are_refused_cleanly(void **state)
{
    (void)state;
    pol_space *const spaces[] = {pol_heap(), pol_pages()};
    const pol_type strict = {POL_CODE_OPAQUE, 0, 1, 1, 1u << 20};
    for (size_t i = 0; i < 2; i++) {
        for (int64_t less = 0; less < 520; less += 13) {
            pol_array a;
            assert_status(pol_alloc(spaces[i], &a, pol_undef(POL_U8, PTRDIFF_MAX - less)),
                          POL_ENOMEM);
            assert_status(pol_alloc(spaces[i], &a, pol_undef(strict, PTRDIFF_MAX - less)),
                          POL_ENOMEM);
        }
    }
}

/* S1: an element type stricter than a page. */
static void an_element_stricter_than_a_page_is_aligned(void **state)
{
    (void)state;
    pol_space *const spaces[] = {pol_heap(), pol_pages()};
    const pol_type strict = {POL_CODE_OPAQUE, 0, 1, 1u << 16, 1u << 16};
    for (size_t i = 0; i < 2; i++) {
        pol_array a;
        assert_ok(pol_alloc(spaces[i], &a, pol_undef(strict, 2)));
        assert_int_equal((uintptr_t)a.data % (1u << 16), 0);
        test_fill(&a, 3);
        pol_release(&a);
    }
}

/* S3 */
static void the_owning_spaces_are_two_and_stay_the_same(void **state)
{
    (void)state;
    assert_non_null(pol_heap());
    assert_non_null(pol_pages());
    assert_ptr_equal(pol_heap(), pol_heap());
    assert_ptr_equal(pol_pages(), pol_pages());
    assert_ptr_not_equal(pol_heap(), pol_pages());
}

/* S3 */
static void similar_of_an_owned_array_is_its_space(void **state)
{
    (void)state;
    static struct test_space space;
    test_space_init(&space);
    pol_space *const spaces[] = {pol_heap(), pol_pages(), &space.space};
    for (size_t i = 0; i < 3; i++) {
        pol_array a;
        assert_ok(pol_alloc(spaces[i], &a, pol_undef(POL_U8, 1)));
        assert_ptr_equal(pol_similar(&a), spaces[i]);
        pol_release(&a);
    }
}

/* S3: the space its slab came from, through any depth of arenas and frames. */
static void similar_of_an_arenas_array_is_where_the_slab_came_from(void **state)
{
    (void)state;
    pol_arena arena, sub;
    pol_array a;
    assert_ok(pol_arena_open(&arena, pol_pages(), 8192, 0));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_U8, 1)));
    assert_ptr_equal(pol_similar(&a), pol_pages());
    assert_ok(pol_arena_open(&sub, &arena, 1024, 0));
    assert_ok(pol_alloc(&sub, &a, pol_undef(POL_U8, 1)));
    assert_ptr_equal(pol_similar(&a), pol_pages());
    POL_SCRATCHSPACE(outer, &sub) {
        POL_SCRATCHSPACE(inner, outer) {
            assert_ok(pol_alloc(inner, &a, pol_undef(POL_U8, 1)));
            assert_ptr_equal(pol_similar(&a), pol_pages());
        }
    }
    assert_ok(pol_arena_close(&sub));
    assert_ok(pol_arena_close(&arena));
}

/* A1: arrays of an arena inherit the slab's home. */
static void similar_of_an_arena_over_an_array_is_the_arrays(void **state)
{
    (void)state;
    pol_arena arena;
    pol_array slab, a;
    assert_ok(pol_alloc(pol_pages(), &slab, pol_undef(POL_F32, 1000)));
    assert_ok(pol_arena_over(&arena, &slab, 0));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_U8, 1)));
    assert_ptr_equal(pol_similar(&a), pol_pages());
    assert_ok(pol_arena_close(&arena)); /* gives back what it drew, which is nothing */
    test_fill(&slab, 1);
    pol_release(&slab);
}

/* A1, S4: an arena over an owned array leaves it to its owner. */
static void an_arena_over_an_owned_array_does_not_release_it(void **state)
{
    (void)state;
    static struct test_space space;
    test_space_init(&space);
    pol_arena arena;
    pol_array slab;
    assert_ok(pol_alloc(&space.space, &slab, pol_undef(POL_F32, 1000)));
    assert_ok(pol_arena_over(&arena, &slab, 0));
    assert_ok(pol_arena_close(&arena));
    assert_int_equal(space.live, 1);
    pol_release(&slab);
    test_space_assert_clean(&space);
}

/* S3: a frame's array is of the kind of what lies beneath. */
static void similar_of_a_frames_array_is_the_space_beneath(void **state)
{
    (void)state;
    POL_SCRATCHSPACE(frame, pol_pages()) {
        pol_array a;
        assert_ok(pol_alloc(frame, &a, pol_undef(POL_U8, 1)));
        assert_ptr_equal(pol_similar(&a), pol_pages());
    }
}

/* S3: never NULL. */
static void similar_of_borrowed_described_absent_or_null_is_the_heap(void **state)
{
    (void)state;
    int mine = 0;
    const pol_array arrays[] = {absent, pol_undef(POL_F32, 2), pol_wrap(&mine, POL_I32, 1)};
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(pol_similar(&arrays[i]), pol_heap());
    assert_ptr_equal(pol_similar(NULL), pol_heap());
    pol_arena arena;
    pol_array a;
    assert_ok(pol_arena_init(&arena, test_slab(0), 100, 1));
    assert_ok(pol_alloc(&arena, &a, pol_undef(POL_U8, 1)));
    assert_ptr_equal(pol_similar(&a), pol_heap());
}

/* S3: so a kernel can ask for more of it without being told. */
static void a_kernel_asks_for_more_of_the_same_kind(void **state)
{
    (void)state;
    static struct test_space space;
    test_space_init(&space);
    pol_array x, more;
    assert_ok(pol_alloc(&space.space, &x, pol_undef(POL_F32, 4)));
    assert_ok(pol_alloc(pol_similar(&x), &more, pol_undef_like(&x)));
    assert_int_equal(space.live, 2);
    pol_release(&more);
    pol_release(&x);
    test_space_assert_clean(&space);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, test_clear_ambient)
    const struct CMUnitTest tests[] = {
        TEST(heap_memory_is_aligned_to_256_bytes),
        TEST(pages_are_page_aligned_and_zero_also_the_second_time),
        TEST(a_terabyte_of_pages_costs_what_is_touched),
        TEST(an_arena_over_a_terabyte_costs_what_is_touched),
        TEST(released_pages_are_not_resident),
        TEST(what_the_system_refuses_is_enomem_and_changes_nothing),
        TEST(the_largest_sizes_are_refused_cleanly),
        TEST(an_element_stricter_than_a_page_is_aligned),
        TEST(the_owning_spaces_are_two_and_stay_the_same),
        TEST(similar_of_an_owned_array_is_its_space),
        TEST(similar_of_an_arenas_array_is_where_the_slab_came_from),
        TEST(similar_of_an_arena_over_an_array_is_the_arrays),
        TEST(an_arena_over_an_owned_array_does_not_release_it),
        TEST(similar_of_a_frames_array_is_the_space_beneath),
        TEST(similar_of_borrowed_described_absent_or_null_is_the_heap),
        TEST(a_kernel_asks_for_more_of_the_same_kind),
    };
    return cmocka_run_group_tests(tests, NULL, test_clear_ambient);
}

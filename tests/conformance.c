/* SPDX-License-Identifier: MIT */

/*
 * The properties. Each gets its space and its world through the test's initial state, opens the
 * space, and closes it. What a space cannot show (how much is out) is left out for that one alone.
 */

#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct conformance_world world;

static const struct conformance_space *the_space(void **state)
{
    return *(const struct conformance_space *const *)state;
}

static size_t used(const struct conformance_space *c)
{
    return c->used ? c->used(&world) : 0;
}

static pol_type opaque(uint32_t size, uint32_t align)
{
    return (pol_type){POL_CODE_OPAQUE, 0, 1, size, align};
}

static void give_back(const struct conformance_space *c, pol_array *arrays, size_t n)
{
    for (size_t i = n; c->owns && i-- > 0;)
        pol_release(&arrays[i]);
}

/* A2, S1: also element types that are stricter than the space. */
static void addresses_are_aligned_for_the_space_and_the_element(void **state)
{
    const struct conformance_space *c = the_space(state);
    for (uint32_t align = 1; align <= 1024; align *= 2) {
        pol_space *s = c->open(&world);
        pol_array a[3];
        assert_ok(pol_alloc(s, &a[0], pol_undef(POL_U8, 3)));
        assert_ok(pol_alloc(s, &a[1], pol_undef(opaque(align, align), 1)));
        assert_ok(pol_alloc(s, &a[2], pol_undef(POL_F64, 1)));
        assert_int_equal((uintptr_t)a[0].data % c->alignment, 0);
        assert_int_equal((uintptr_t)a[1].data % align, 0);
        assert_int_equal((uintptr_t)a[1].data % c->alignment, 0);
        assert_int_equal((uintptr_t)a[2].data % POL_F64.align, 0);
        give_back(c, a, 3);
        c->close(&world);
    }
}

static void arrays_do_not_overlap_and_keep_their_bytes(void **state)
{
    static const int64_t sizes[] = {1, 7, 64, 3, 0, 100, 33, 8, 1, 129};
    enum { N = sizeof sizes / sizeof *sizes };
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    pol_array a[N];
    for (size_t i = 0; i < N; i++) {
        assert_ok(pol_alloc(s, &a[i], pol_undef(POL_U8, sizes[i])));
        test_fill(&a[i], (unsigned char)(i + 1));
    }
    for (size_t i = 0; i < N; i++) {
        assert_true(test_holds(&a[i], (unsigned char)(i + 1)));
        for (size_t j = 0; j < i; j++)
            assert_false(test_overlap(&a[i], &a[j]));
    }
    give_back(c, a, N);
    c->close(&world);
}

/* S2 */
static void the_array_is_the_description_with_memory(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    const pol_array description = pol_undef(POL_F32, 3, 5);
    pol_array a;
    memset(&a, 0xA5, sizeof a);
    assert_ok(pol_alloc(s, &a, description));
    assert_true(pol_is_array(&a));
    assert_true(pol_undef_equal(&a, &description));
    give_back(c, &a, 1);
    c->close(&world);
}

/* U1, A3, trap 11 */
static void zero_bytes_succeed_with_an_aligned_address(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    pol_array a[3];
    assert_ok(pol_alloc(s, &a[0], pol_undef(POL_F64, 4, 0)));
    assert_ok(pol_alloc(s, &a[1], pol_undef(POL_U8, 1)));
    assert_ok(pol_alloc(s, &a[2], pol_undef(POL_F64, 0)));
    for (size_t i = 0; i < 3; i += 2) {
        assert_non_null(a[i].data);
        assert_int_equal((uintptr_t)a[i].data % c->alignment, 0);
        assert_int_equal((uintptr_t)a[i].data % POL_F64.align, 0);
    }
    give_back(c, a, 3);
    c->close(&world);
}

/* A3 */
static void what_fits_exactly_fits_and_a_byte_more_does_not(void **state)
{
    const struct conformance_space *c = the_space(state);
    const int64_t capacity = (int64_t)c->capacity;
    pol_array a = {0}, b;
    if (!capacity)
        skip();
    pol_space *s = c->open(&world);
    assert_status(pol_alloc(s, &a, pol_undef(POL_U8, capacity + 1)), POL_ECEILING);
    assert_ok(pol_alloc(s, &a, pol_undef(POL_U8, capacity)));
    test_fill(&a, 0x5A);
    const size_t full = used(c);
    assert_ok(pol_alloc(s, &b, pol_undef(POL_U8, 0)));
    assert_status(pol_alloc(s, &b, pol_undef(POL_U8, 1)), POL_ECEILING);
    assert_int_equal(used(c), full);
    assert_true(test_holds(&a, 0x5A));
    c->close(&world);
}

static void refuse(const struct conformance_space *c, pol_space *s, pol_array description,
                   pol_status status)
{
    pol_space *ambient = pol_ambientspace_or((pol_space *)NULL);
    const size_t before = used(c);
    pol_array a;
    memset(&a, 0xA5, sizeof a);
    const pol_status got = pol_alloc(s, &a, description);
    if (status == POL_OK)
        assert_int_not_equal(got, POL_OK);
    else
        assert_status(got, status);
    assert_memory_equal(&a, &description, sizeof a);
    assert_int_equal(used(c), before);
    assert_ptr_equal(pol_ambientspace_or((pol_space *)NULL), ambient);
    assert_string_not_equal(pol_last_error(), "");
}

/* E3, U4 */
static void a_failure_changes_nothing_and_leaves_the_description(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    pol_array first;
    assert_ok(pol_alloc(s, &first, pol_undef(POL_U8, 5)));
    test_fill(&first, 0x3C);
    refuse(c, s, pol_undef(POL_F32, -1), POL_EINVAL);
    refuse(c, s, pol_undef(POL_F32, 0, -1), POL_EINVAL);
    refuse(c, s, pol_undef(POL_F32, (INT64_C(1) << 62) + 2), POL_EOVERFLOW);
    refuse(c, s, pol_undef(POL_I32, INT64_C(1) << 32, INT64_C(1) << 32, 16), POL_EOVERFLOW);
    refuse(c, s, pol_undef(POL_U8, PTRDIFF_MAX), POL_OK);
    refuse(c, s, pol_undef(POL_U8, PTRDIFF_MAX - 64), POL_OK);
    assert_true(test_holds(&first, 0x3C));
    give_back(c, &first, 1);
    c->close(&world);
}

struct three {
    pol_array a, b, c;
};

/* S2, trap 3 */
static void a_bundle_is_all_or_nothing(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    const size_t before = used(c);
    const pol_array bad[] = {pol_undef(POL_U8, -1),
                             pol_undef(POL_F32, 4, 1073741823, 1073741825, 1),
                             pol_undef(POL_U8, PTRDIFF_MAX - 300)};
    for (size_t i = 0; i < 3; i++) {
        const struct three want = {pol_undef(POL_F32, 8), pol_undef(POL_U8, 3), bad[i]};
        struct three got;
        memset(&got, 0xA5, sizeof got);
        assert_int_not_equal(pol_alloc(s, &got, want), POL_OK);
        assert_memory_equal(&got, &want, sizeof got);
        if (!c->keeps)
            assert_int_equal(used(c), before);
    }
    c->close(&world);
}

/* S2 */
static void absent_stays_absent_and_data_passes_through(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    float borrowed[4] = {1, 2, 3, 4};
    const pol_array absent = {0};
    struct three got;
    assert_ok(pol_alloc(
        s, &got, (struct three){absent, pol_wrap(borrowed, POL_F32, 4), pol_undef(POL_U8, 9)}));
    assert_memory_equal(&got.a, &absent, sizeof absent);
    assert_ptr_equal(got.b.data, borrowed);
    assert_true(pol_is_array(&got.c));
    const size_t before = used(c);
    pol_release(&got.b); /* borrowed: a no-op */
    assert_ptr_equal(got.b.data, borrowed);
    assert_int_equal(used(c), before);
    give_back(c, &got.c, 1);
    c->close(&world);
}

/* S4 */
static void release_gives_back_exactly_once_what_is_owned_and_nothing_else(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    const size_t empty = used(c);
    const pol_array description = pol_undef(POL_F64, 6);
    pol_array a;
    assert_ok(pol_alloc(s, &a, description));
    const size_t before = used(c);
    void *const data = a.data;
    for (int i = 0; i < 2; i++) {
        pol_release(&a);
        assert_true(pol_undef_equal(&a, &description));
        assert_true(c->owns ? pol_is_undef(&a) : a.data == data);
        assert_int_equal(used(c), c->owns ? empty : before);
    }
    c->close(&world);
}

/* S4: becomes a description again, so it can be asked for again. */
static void what_was_released_can_be_asked_for_again(void **state)
{
    const struct conformance_space *c = the_space(state);
    if (!c->owns)
        skip();
    pol_space *s = c->open(&world);
    pol_array a;
    assert_ok(pol_alloc(s, &a, pol_undef(POL_F64, 6)));
    const size_t before = used(c);
    pol_release(&a);
    assert_ok(pol_alloc(s, &a, a));
    assert_int_equal(used(c), before);
    test_fill(&a, 1);
    pol_release(&a);
    c->close(&world);
}

/* S3 */
static void similar_finds_the_owning_space(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    pol_array a, b;
    assert_ok(pol_alloc(s, &a, pol_undef(POL_U8, 4)));
    assert_non_null(pol_similar(&a));
    if (c->home) {
        assert_ptr_equal(pol_similar(&a), c->home(&world));
        const pol_array part = pol_reshape(&a, 2, 2);
        assert_ptr_equal(pol_similar(&part), c->home(&world));
    }
    b = pol_undef_like(&a);
    assert_ptr_equal(pol_similar(&b), pol_heap());
    give_back(c, &a, 1);
    c->close(&world);
}

/* F1, F2, F3: whatever the space, a frame on it takes back its own and no more. */
static void a_frame_on_it_takes_back_its_own_and_no_more(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    pol_space *ambient = pol_ambientspace_or((pol_space *)NULL);
    pol_array kept, gone[3];
    pol_frame f;
    assert_ok(pol_alloc(s, &kept, pol_undef(POL_U8, 10)));
    test_fill(&kept, 0x77);
    const size_t before = used(c);
    pol_frame_begin(&f, s);
    assert_ptr_equal(pol_ambientspace(), &f.space);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(pol_alloc(&f, &gone[i], pol_undef(POL_U8, 20)));
        assert_false(test_overlap(&kept, &gone[i]));
        test_fill(&gone[i], 1);
        pol_release(&gone[i]); /* a frame's: a no-op */
        assert_non_null(gone[i].data);
    }
    assert_ok(pol_frame_end(&f));
    if (!c->keeps)
        assert_int_equal(used(c), before);
    assert_ptr_equal(pol_ambientspace_or((pol_space *)NULL), ambient);
    assert_true(test_holds(&kept, 0x77));
    give_back(c, &kept, 1);
    c->close(&world);
}

/* A1: an arena may be drawn from any space. */
static void an_arena_is_drawn_from_it_and_given_back(void **state)
{
    const struct conformance_space *c = the_space(state);
    pol_space *s = c->open(&world);
    const size_t before = used(c);
    pol_arena sub;
    pol_array a;
    assert_ok(pol_arena_open(&sub, s, 300, 64));
    assert_int_equal(pol_arena_capacity(&sub), 300);
    assert_ok(pol_alloc(&sub, &a, pol_undef(POL_U8, 300)));
    assert_int_equal((uintptr_t)a.data % 64, 0);
    test_fill(&a, 9);
    if (c->home)
        assert_ptr_equal(pol_similar(&a), c->home(&world));
    assert_ok(pol_arena_close(&sub));
    if (c->owns)
        assert_int_equal(used(c), before);
    c->close(&world);
}

static const struct {
    const char *name;
    CMUnitTestFunction run;
} properties[] = {
#define PROPERTY(name)                                                                             \
    {                                                                                              \
#name, name                                                                                \
    }
    PROPERTY(addresses_are_aligned_for_the_space_and_the_element),
    PROPERTY(arrays_do_not_overlap_and_keep_their_bytes),
    PROPERTY(the_array_is_the_description_with_memory),
    PROPERTY(zero_bytes_succeed_with_an_aligned_address),
    PROPERTY(what_fits_exactly_fits_and_a_byte_more_does_not),
    PROPERTY(a_failure_changes_nothing_and_leaves_the_description),
    PROPERTY(a_bundle_is_all_or_nothing),
    PROPERTY(absent_stays_absent_and_data_passes_through),
    PROPERTY(release_gives_back_exactly_once_what_is_owned_and_nothing_else),
    PROPERTY(what_was_released_can_be_asked_for_again),
    PROPERTY(similar_finds_the_owning_space),
    PROPERTY(a_frame_on_it_takes_back_its_own_and_no_more),
    PROPERTY(an_arena_is_drawn_from_it_and_given_back),
};

size_t conformance_tests(const struct conformance_space *const *spaces, size_t count,
                         struct CMUnitTest *tests, size_t room)
{
    const size_t nproperties = sizeof properties / sizeof *properties;
    static char names[1024][96];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < nproperties; j++, n++) {
            if (n == room || n == sizeof names / sizeof *names) {
                fprintf(stderr, "conformance: more than %zu tests\n", n);
                exit(1);
            }
            snprintf(names[n], sizeof names[n], "%s: %s", spaces[i]->name, properties[j].name);
            tests[n] = (struct CMUnitTest){names[n], properties[j].run, NULL, test_clear_ambient,
                                           (void *)(uintptr_t)spaces[i]};
        }
    }
    return n;
}

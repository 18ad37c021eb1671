/* SPDX-License-Identifier: MIT */

/*
 * The fast paths decide nothing by themselves: an arena that sends everything to the library, by a
 * limit of 0, answers the same. And what levels must withstand: skipped frames whose place is used
 * again, frames that were forgotten, an arena made anew beneath its frames. Rules A2, A3, A7, A9,
 * F1, F4, S3, S6.
 */

#include <stdlib.h>
#include <string.h>

#include "support.h"

static pol_arena arena, other;

static int fresh(void **state)
{
    (void)state;
    assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 16));
    assert_ok(pol_arena_init(&other, test_slab(4096) + 4096, 4096, 16));
    return 0;
}

static void assert_same(const pol_arena *fast, const pol_arena *slow)
{
    assert_int_equal(pol_arena_offset(fast), pol_arena_offset(slow));
    assert_int_equal(pol_watermark(fast), pol_watermark(slow));
    assert_int_equal(pol_arena_budget(fast), pol_arena_budget(slow));
}

/* Two arenas over the same slab, of which one has no fast path. */
static void make_twins(pol_arena *fast, pol_arena *slow, size_t nbytes, size_t alignment)
{
    assert_ok(pol_arena_init(fast, test_slab(0), nbytes, alignment));
    assert_ok(pol_arena_init(slow, test_slab(0), nbytes, alignment));
    slow->limit_ = 0;
}

static void ask_both(pol_arena *fast, pol_arena *slow, size_t n)
{
    char *const p = pol_new(fast, char, n), *const q = pol_new(slow, char, n);
    assert_ptr_equal(p, q);
    assert_same(fast, slow);
}

static void what_fits_exactly_fits_whatever_the_capacity(void **state) /* A3 */
{
    (void)state;
    for (size_t alignment = 1; alignment <= 64; alignment *= 2)
        for (size_t nbytes = 97; nbytes < 200; nbytes += 17)
            for (size_t first = 1; first < nbytes; first += 7) {
                pol_arena fast, slow;
                make_twins(&fast, &slow, nbytes, alignment);
                const size_t capacity = pol_arena_capacity(&fast);
                const size_t next = (first + alignment - 1) / alignment * alignment;
                ask_both(&fast, &slow, first);
                if (next > capacity) { /* the start is past the end */
                    assert_null(pol_new(&fast, char, 1));
                    ask_both(&fast, &slow, 1);
                    continue;
                }
                ask_both(&fast, &slow, capacity - next + 1);
                ask_both(&fast, &slow, capacity - next);
                assert_int_equal(pol_arena_offset(&fast), next < capacity ? capacity : first);
                ask_both(&fast, &slow, 1);
            }
}

static void no_size_wraps(void **state) /* A3, U4 */
{
    (void)state;
    static const size_t sizes[] = {PTRDIFF_MAX,     PTRDIFF_MAX - 1, (size_t)PTRDIFF_MAX + 1,
                                   PTRDIFF_MAX / 8, SIZE_MAX,        SIZE_MAX - 15,
                                   SIZE_MAX / 8,    SIZE_MAX / 8 + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t used = 0; used <= 4096; used += 4095) {
            pol_arena fast, slow, dry;
            make_twins(&fast, &slow, 4096, 16);
            ask_both(&fast, &slow, used);
            ask_both(&fast, &slow, sizes[i]);
            assert_null(pol_new(&fast, double, sizes[i]));
            assert_same(&fast, &slow);
            assert_ok(pol_arena_measure(&dry, 16));
            assert_non_null(pol_new(&dry, char, PTRDIFF_MAX)); /* it begins at 0 */
            assert_null(pol_new(&dry, char, sizes[i]));
            assert_null(pol_new(&dry, char, 1));
        }
}

/* One of few sizes, so that most of the interesting sums occur. */
static size_t some_size(void)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 255, 256, 257, 4000, PTRDIFF_MAX};
    return sizes[(size_t)rand() % (sizeof sizes / sizeof *sizes)];
}

static pol_array some_array(void)
{
    static char byte;
    pol_type type = rand() % 4 ? POL_U8 : POL_I4;
    type.align = 1u << rand() % 7;
    switch (rand() % 8) {
    case 0:
        return pol_wrap(&byte, POL_U8, 1);
    case 1:
        return pol_undef_like(NULL);
    case 2:
        return pol_undef(type, 0, (int64_t)some_size());
    case 3:
        return pol_undef(type, 3, -1);
    default:
        return pol_undef(type, (int64_t)some_size(), rand() % 3 + 1);
    }
}

static void bundles_are_placed_as_without_a_fast_path(void **state) /* A2, A3, E3, S2 */
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        static pol_arena fast, slow;
        pol_array x[5], y[5];
        const size_t count = 1 + (size_t)rand() % 5;
        if (i % 16 == 0)
            make_twins(&fast, &slow, 4000 + (size_t)rand() % 50, (size_t)1 << rand() % 9);
        for (size_t k = 0; k < count; k++)
            x[k] = y[k] = some_array();
        const pol_status status = pol_alloc_arrays(&fast.space, x, count);
        assert_status(pol_alloc_arrays(&slow.space, y, count), status);
        assert_memory_equal(x, y, count * sizeof *x);
        assert_same(&fast, &slow);
    }
}

static void sizes_are_the_same_by_either_way(void **state) /* U4 */
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        pol_array x = some_array();
        size_t small = 7, general = 7;
        if (rand() % 2)
            x.dims[1] = (int64_t)1 << rand() % 63;
        const bool is_small = pol_nbytes_small_(&x, &small);
        const pol_status status = pol_nbytes(&x, &general);
        if (is_small) {
            assert_ok(status);
            assert_int_equal(small, general);
        } else
            assert_int_equal(small, 7);
    }
}

static void frames_work_without_a_fast_path(void **state) /* A7, F3 */
{
    (void)state;
    pol_frame f, g;
    arena.limit_ = 0;
    pol_frame_begin(&f, &arena);
    assert_non_null(pol_new(&f, char, 100));
    pol_frame_begin(&g, &f);
    assert_ptr_equal(pol_new(&g, char, 1), test_slab(112));
    assert_null(pol_new(&f, char, 1));
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_watermark(&arena), 113);
    assert_int_equal(pol_arena_offset(&arena), 0);
}

/* F4: a frame where a skipped one was, ended, and ended again: the skipped one stays open. */
static void a_place_used_again_is_another_frame(void **state)
{
    (void)state;
    pol_space *const spaces[] = {&arena.space, &other.space, pol_heap(), NULL};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            pol_frame outer, f;
            pol_frame_begin(&outer, &arena);
            assert_non_null(pol_new(&outer, char, 10));
            pol_frame_begin(&f, spaces[i]);
            memset((void *)&f, 0xff, sizeof f);
            pol_frame_begin(&f, spaces[k]);
            if (spaces[k])
                assert_non_null(pol_new(&f, char, 10));
            assert_ok(pol_frame_end(&f));
            assert_null(pol_new(&f, char, 10));
            assert_status(pol_frame_end(&f), POL_EORDER);
            assert_status(pol_frame_end(&outer), POL_EORDER); /* closes the skipped one */
            assert_int_equal(pol_arena_offset(&arena), 0);
            assert_int_equal(pol_arena_offset(&other), 0);
            assert_null(pol_ambientspace_or((pol_space *)NULL));
        }
}

/* F4: skipped frames alternate between two arenas, and go on deeper than either has levels for. */
static void interleaved_frames_are_closed_on_both_arenas(void **state)
{
    (void)state;
    enum { N = 30 };
    static pol_frame frames[N];
    for (int keep = 0; keep < N - 1; keep++) {
        for (int i = 0; i < N; i++) {
            pol_frame_begin(&frames[i], i % 3 ? &other : &arena);
            assert_non_null(pol_new(&frames[i], char, 16));
        }
        memset((void *)&frames[keep + 1], 0xff, sizeof frames[0] * (size_t)(N - keep - 1));
        pol_frame_recover(&frames[keep]);
        assert_int_equal(pol_arena_offset(&arena) + pol_arena_offset(&other), 16 * (keep + 1));
        assert_non_null(pol_new(&frames[keep], char, 16));
        for (int i = keep; i >= 0; i--)
            assert_ok(pol_frame_end(&frames[i]));
        assert_int_equal(pol_arena_offset(&arena) + pol_arena_offset(&other), 0);
    }
}

static void forgotten_frames_hand_out_nothing(void **state) /* S6, A9 */
{
    (void)state;
    pol_frame f, since;
    pol_frame_begin(&f, &arena);
    assert_non_null(pol_new(&f, char, 100));
    pol_withspace_clear();
    pol_frame_begin(&since, &other);
    assert_null(pol_new(&f, char, 1));
    pol_array x;
    assert_status(pol_alloc(&f, &x, pol_undef(POL_U8, 1)), POL_EORDER);
    assert_int_equal(pol_arena_offset(&arena), 0);
    assert_non_null(pol_new(&since, char, 1));
    assert_status(pol_frame_end(&f), POL_EORDER);
    assert_ok(pol_frame_end(&since));
    assert_ptr_equal(pol_new(&arena, char, 1), test_slab(0));
    assert_int_equal(pol_watermark(&arena), 100);
}

static void a_frame_on_an_arena_with_forgotten_ones_is_the_first(void **state) /* S6 */
{
    (void)state;
    static pol_frame frames[12];
    for (int i = 0; i < 12; i++)
        pol_frame_begin(&frames[i], &arena);
    assert_non_null(pol_new(&frames[11], char, 100));
    pol_withspace_clear();
    pol_frame f;
    pol_frame_begin(&f, &arena);
    assert_ptr_equal(pol_new(&f, char, 1), test_slab(0));
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_reset(&arena));
}

/* F4: an arena made anew is one without frames; those that were open on it are not open any more. */
static void an_arena_made_anew_has_no_frames(void **state)
{
    (void)state;
    static pol_frame frames[12];
    pol_frame outer;
    pol_frame_begin(&outer, &other);
    for (int n = 1; n <= 12; n += 11) {
        for (int i = 0; i < n; i++)
            pol_frame_begin(&frames[i], &arena);
        assert_ok(pol_arena_init(&arena, test_slab(0), 4096, 16));
        assert_null(pol_new(&frames[n - 1], char, 1));
        assert_non_null(pol_new(&arena, char, 1));
        for (int i = n - 1; i >= 0; i--)
            assert_status(pol_frame_end(&frames[i]), POL_EORDER);
        assert_ptr_equal(pol_ambientspace(), &outer.space);
        assert_int_equal(pol_arena_offset(&arena), 1);
    }
    assert_ok(pol_frame_end(&outer));
    assert_null(pol_ambientspace_or((pol_space *)NULL));
}

#if POL_HAS_CLEANUP
static void a_block_on_a_closed_arena_answers_einval(void **state) /* F1, S1 */
{
    (void)state;
    pol_array x;
    assert_ok(pol_arena_close(&arena));
    POL_SCRATCHSPACE(frame, &arena) {
        assert_ptr_equal(pol_ambientspace(), &frame->space);
        assert_status(pol_alloc(frame, &x, pol_undef(POL_U8, 1)), POL_EINVAL);
        assert_null(pol_new(frame, char, 1));
    }
    assert_null(pol_ambientspace_or((pol_space *)NULL));
}

static void a_block_in_a_block_on_a_closed_frame_answers_eorder(void **state) /* F1 */
{
    (void)state;
    pol_frame f;
    pol_array x;
    pol_frame_begin(&f, &arena);
    assert_ok(pol_frame_end(&f));
    POL_SCRATCHSPACE(frame, &f)
        assert_status(pol_alloc(frame, &x, pol_undef(POL_U8, 1)), POL_EORDER);
    assert_null(pol_ambientspace_or((pol_space *)NULL));
}
#endif

static void prefault_keeps_the_contents(void **state) /* A1 */
{
    (void)state;
    pol_arena a;
    assert_ok(pol_arena_open(&a, pol_pages(), (3 << 20) + 5, 0));
    unsigned char *const p = pol_new(&a, unsigned char, (3 << 20) + 5);
    assert_non_null(p);
    for (size_t i = 0; i < (3 << 20) + 5; i += 999)
        p[i] = (unsigned char)i;
    assert_ok(pol_arena_prefault(&a));
    for (size_t i = 0; i < (3 << 20) + 5; i += 999)
        assert_int_equal(p[i], (unsigned char)i);
    assert_int_equal(pol_arena_offset(&a), (3 << 20) + 5);
    assert_ok(pol_arena_close(&a));
    assert_ok(pol_arena_prefault(&arena)); /* of borrowed memory */
}

static void prefault_of_what_cannot_be_touched(void **state) /* A1, A6 */
{
    (void)state;
    struct test_space device;
    pol_arena a;
    assert_ok(pol_arena_measure(&a, 0));
    assert_ok(pol_arena_prefault(&a));
    test_space_init_device(&device);
    assert_ok(pol_arena_open(&a, &device.space, 5000, 0));
    assert_status(pol_arena_prefault(&a), POL_ENOTSUP);
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&device);
    assert_status(pol_arena_prefault(&a), POL_EINVAL);
    assert_status(pol_arena_prefault(NULL), POL_EINVAL);
}

static void many_pages_start_at_2_mib(void **state) /* S3 */
{
    (void)state;
    const size_t huge = (size_t)2 << 20;
    for (size_t nbytes = huge - 1; nbytes <= 2 * huge + 1; nbytes += huge / 2 + 1) {
        pol_array x;
        const pol_status status = pol_alloc(pol_pages(), &x, pol_undef(POL_U8, (int64_t)nbytes));
        if (status == POL_ENOTSUP)
            skip();
        assert_ok(status);
        if (nbytes >= huge)
            assert_int_equal((uintptr_t)x.data % huge, 0);
        memset(x.data, 1, nbytes);
        pol_release(&x);
    }
}

#define T(test) cmocka_unit_test_setup_teardown(test, fresh, test_clear_ambient)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_fits_exactly_fits_whatever_the_capacity),
        T(no_size_wraps),
        T(bundles_are_placed_as_without_a_fast_path),
        T(sizes_are_the_same_by_either_way),
        T(frames_work_without_a_fast_path),
        T(a_place_used_again_is_another_frame),
        T(interleaved_frames_are_closed_on_both_arenas),
        T(forgotten_frames_hand_out_nothing),
        T(a_frame_on_an_arena_with_forgotten_ones_is_the_first),
        T(an_arena_made_anew_has_no_frames),
#if POL_HAS_CLEANUP
        T(a_block_on_a_closed_arena_answers_einval),
        T(a_block_in_a_block_on_a_closed_frame_answers_eorder),
#endif
        T(prefault_keeps_the_contents),
        T(prefault_of_what_cannot_be_touched),
        T(many_pages_start_at_2_mib),
    };
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */

/*
 * The arena, rules A1 to A9.
 *
 * S is test_slab(0), a multiple of 4096, and S+k lies k bytes after it. Whatever fails is asked
 * whether it left offset, watermark, budget, capacity, position and ambient binding as they were.
 */

#define _DEFAULT_SOURCE

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

#include "support.h"

#define WIDE (PTRDIFF_MAX > 0x7fffffff) /* pointers of 64 bits */

/* n bytes whose address is divisible by `align`. */
static pol_array bytes_at(int64_t n, uint32_t align)
{
    pol_type type = POL_U8;
    type.align = align;
    return pol_undef(type, n);
}

static pol_arena arena_at(size_t shift, size_t nbytes, size_t alignment)
{
    pol_arena a;
    assert_ok(pol_arena_init(&a, test_slab(shift), nbytes, alignment));
    return a;
}

static char *carve(pol_arena *a, int64_t n, uint32_t align)
{
    pol_array x;
    assert_ok(pol_alloc(a, &x, bytes_at(n, align)));
    return (char *)x.data;
}

/* Asks for what must fail: a failure changes nothing, and the description is all there is. */
static void assert_refused(pol_arena *a, pol_array description, pol_status status)
{
    const struct test_state before = test_state_of(a, NULL);
    pol_array x;
    memset(&x, 0x5a, sizeof x);
    assert_status(pol_alloc(a, &x, description), status);
    assert_memory_equal(&x, &description, sizeof x);
    test_assert_unchanged(&before, a, NULL);
}

/* What the functions that make an arena do when they fail. */
#define assert_not_made(status, call)                                                              \
    do {                                                                                           \
        pol_arena made, before_;                                                                   \
        memset(&made, 0x5a, sizeof made);                                                          \
        memcpy(&before_, &made, sizeof made);                                                      \
        assert_status(call, status);                                                               \
        assert_memory_equal(&made, &before_, sizeof made);                                         \
    } while (0)

/* --- A1: making and closing ------------------------------------------------------------------ */

static void arena_init_takes_borrowed_memory(void **state) /* A1 */
{
    (void)state;
    pol_arena a;
    assert_ok(pol_arena_init(&a, test_slab(0), 1000, 64));
    assert_int_equal(pol_arena_offset(&a), 0);
    assert_int_equal(pol_arena_capacity(&a), 1000);
    assert_int_equal(pol_arena_alignment(&a), 64);
    assert_int_equal(pol_watermark(&a), 0);
    assert_ptr_equal(carve(&a, 1000, 1), test_slab(0));
    assert_ok(pol_arena_close(&a));
}

static void arena_alignment_0_means_256(void **state) /* A1 */
{
    (void)state;
    pol_arena a, dry, over, opened;
    pol_array slab = pol_wrap(test_slab(0), POL_U8, 4096);
    assert_ok(pol_arena_init(&a, test_slab(0), 4096, 0));
    assert_int_equal(pol_arena_alignment(&a), 256);
    assert_ok(pol_arena_measure(&dry, 0));
    assert_int_equal(pol_arena_alignment(&dry), 256);
    assert_ok(pol_arena_over(&over, &slab, 0));
    assert_int_equal(pol_arena_alignment(&over), 256);
    assert_ok(pol_arena_open(&opened, pol_heap(), 1000, 0));
    assert_int_equal(pol_arena_alignment(&opened), 256);
    assert_ok(pol_arena_close(&opened));
}

static void arena_alignment_that_is_no_power_of_two_is_refused(void **state) /* A1, trap 10 */
{
    (void)state;
    const size_t bad[] = {3, 24, 48, 255, SIZE_MAX, SIZE_MAX / 2};
    const pol_array slab = pol_wrap(test_slab(0), POL_U8, 4096);
    struct test_space space;
    test_space_init(&space);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_not_made(POL_EINVAL, pol_arena_init(&made, test_slab(0), 4096, bad[i]));
        assert_not_made(POL_EINVAL, pol_arena_over(&made, &slab, bad[i]));
        assert_not_made(POL_EINVAL, pol_arena_open(&made, &space.space, 4096, bad[i]));
        assert_not_made(POL_EINVAL, pol_arena_measure(&made, bad[i]));
    }
    assert_int_equal(space.live, 0);
}

static void arena_alignment_of_half_the_address_space_is_legal_and_full(void **state) /* trap 10 */
{
    (void)state;
    const size_t half = SIZE_MAX / 2 + 1;
    const pol_array slab = pol_wrap(test_slab(0), POL_U8, 4096);
    assert_not_made(POL_ECEILING, pol_arena_init(&made, test_slab(0), 4096, half));
    assert_not_made(POL_ECEILING, pol_arena_over(&made, &slab, half));
    pol_arena parent = arena_at(0, 8192, 16);
    const struct test_state before = test_state_of(&parent, NULL);
    assert_not_made(POL_ECEILING, pol_arena_open(&made, &parent, 4096, half / 2));
    assert_not_made(POL_EOVERFLOW, pol_arena_open(&made, &parent, 4096, half)); /* with its pad */
    test_assert_unchanged(&before, &parent, NULL);
}

static void arena_over_null_is_refused(void **state) /* A1 */
{
    (void)state;
    const pol_array described = pol_undef(POL_U8, 4096);
    assert_not_made(POL_EINVAL, pol_arena_init(&made, NULL, 4096, 64));
    assert_not_made(POL_EINVAL, pol_arena_over(&made, &described, 64));
    assert_not_made(POL_EINVAL, pol_arena_over(&made, NULL, 64));
}

static void arena_that_is_null_is_refused(void **state) /* A1 */
{
    (void)state;
    const pol_array slab = pol_wrap(test_slab(0), POL_U8, 4096);
    struct test_space space;
    const struct pol_mark none = {0, 0, 0};
    test_space_init(&space);
    assert_status(pol_arena_init(NULL, test_slab(0), 4096, 64), POL_EINVAL);
    assert_status(pol_arena_over(NULL, &slab, 64), POL_EINVAL);
    assert_status(pol_arena_open(NULL, &space.space, 4096, 64), POL_EINVAL);
    assert_status(pol_arena_measure(NULL, 64), POL_EINVAL);
    assert_status(pol_arena_close(NULL), POL_EINVAL);
    assert_status(pol_retract(NULL, none), POL_EINVAL);
    assert_status(pol_reset(NULL), POL_EINVAL);
    assert_int_equal(space.live, 0);
}

static void arena_without_room_for_one_aligned_byte_is_refused(void **state) /* A1, trap 7 */
{
    (void)state;
    const pol_array empty = pol_wrap(test_slab(0), POL_U8, 0),
                    small = pol_wrap(test_slab(1), POL_U8, 63);
    assert_not_made(POL_ECEILING, pol_arena_init(&made, test_slab(0), 0, 1));
    assert_not_made(POL_ECEILING, pol_arena_init(&made, test_slab(1), 16, 64));
    assert_not_made(POL_ECEILING, pol_arena_init(&made, test_slab(1), 63, 64));
    assert_not_made(POL_ECEILING, pol_arena_init(&made, test_slab(63), 1, 64));
    assert_not_made(POL_ECEILING, pol_arena_over(&made, &empty, 1));
    assert_not_made(POL_ECEILING, pol_arena_over(&made, &small, 64));
    assert_not_made(POL_ECEILING, pol_arena_open(&made, pol_heap(), 0, 64));
}

static void arena_with_room_for_one_aligned_byte_is_made(void **state) /* A1 */
{
    (void)state;
    pol_arena a = arena_at(1, 64, 64);
    assert_int_equal(pol_arena_capacity(&a), 1);
    assert_ptr_equal(carve(&a, 1, 1), test_slab(64));
}

static void arena_past_the_address_space_is_an_overflow(void **state) /* A1, A3 */
{
    (void)state;
    assert_not_made(POL_EOVERFLOW, pol_arena_init(&made, test_slab(0), SIZE_MAX, 64));
    assert_not_made(POL_EOVERFLOW, pol_arena_init(&made, test_slab(8), SIZE_MAX - 7, 32));
}

static void arena_over_an_array_has_its_bytes(void **state) /* A1 */
{
    (void)state;
    double d[100];
    const pol_array slab = pol_wrap(d, POL_F64, 10, 10);
    pol_arena a;
    assert_ok(pol_arena_over(&a, &slab, 8));
    assert_int_equal(pol_arena_capacity(&a), sizeof d);
    assert_ptr_equal(carve(&a, 800, 1), d);
}

static void arena_over_an_array_inherits_its_home(void **state) /* A1, S3 */
{
    (void)state;
    struct test_space space;
    pol_array slab, x;
    pol_arena a;
    test_space_init(&space);
    assert_ok(pol_alloc(&space.space, &slab, pol_undef(POL_U8, 4096)));
    assert_ok(pol_arena_over(&a, &slab, 64));
    assert_ok(pol_alloc(&a, &x, pol_undef(POL_F32, 3)));
    assert_ptr_equal(x.home, slab.home);
    assert_ptr_equal(pol_similar(&x), &space.space);
    pol_release(&slab);
}

static void arena_over_an_array_is_of_its_device(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_arena a;
    test_space_init_device(&space);
    assert_ok(pol_arena_open(&a, &space.space, 4096, 64));
    const pol_device device = pol_space_device(POL_SPACE(&a));
    assert_int_equal(device.type, 8);
    assert_int_equal(device.id, 3);
    assert_ok(pol_arena_close(&a));
}

static void arena_carves_regardless_of_a_capturing_device(void **state) /* A1, S5 */
{
    (void)state;
    struct test_space space;
    pol_arena a, b;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 4096, 64));
    space.capturing = true;
    assert_non_null(carve(&a, 100, 1));
    assert_not_made(POL_ECAPTURE, pol_arena_open(&made, &space.space, 4096, 64));
    assert_ok(pol_arena_open(&b, &a, 1024, 64)); /* out of the arena it may */
    space.capturing = false;
    assert_ok(pol_arena_close(&b));
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&space);
}

static void arena_never_touches_the_bytes(void **state) /* A1 */
{
    (void)state;
#if defined(MAP_ANONYMOUS)
    const size_t nbytes = (size_t)1 << 20;
    void *const base = mmap(NULL, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(base != MAP_FAILED);
    pol_arena a, b;
    pol_array x;
    assert_ok(pol_arena_init(&a, base, nbytes, 64));
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(carve(&a, 1000, 1));
    assert_non_null(carve(&a, 0, 4096));
    assert_non_null(pol_new(&a, double, 10));
    assert_ok(pol_retract(&a, mark));
    assert_refused(&a, bytes_at((int64_t)nbytes + 1, 1), POL_ECEILING);
    assert_ok(pol_arena_open(&b, &a, 1000, 64));
    assert_non_null(carve(&b, 100, 1));
    assert_ok(pol_arena_close(&b));
    pol_frame f;
    pol_frame_begin(&f, &a);
    assert_ok(pol_alloc(&f, &x, bytes_at(100, 1)));
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_reset(&a));
    assert_ok(pol_arena_close(&a));
    munmap(base, nbytes);
#else
    skip();
#endif
}

static void arena_open_draws_the_slab_from_the_space(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_arena a;
    pol_array x;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 1000, 64));
    assert_int_equal(space.live, 1);
    assert_true(space.live_bytes >= 1000);
    assert_int_equal(pol_arena_capacity(&a), 1000);
    assert_ok(pol_alloc(&a, &x, pol_undef(POL_U8, 1000)));
    test_fill(&x, 0x77);
    assert_int_equal(space.requests, 1);
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&space);
}

static void arena_open_starts_at_a_multiple_of_alignment_and_64(void **state) /* A1, T1 */
{
    (void)state;
    const size_t alignments[] = {1, 16, 64, 128, 256, 4096};
    for (size_t shift = 0; shift < 64; shift += 7)
        for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
            pol_arena parent = arena_at(shift, 65536, 1), a, b;
            assert_non_null(carve(&parent, 1, 1));
            assert_ok(pol_arena_open(&a, &parent, 100, alignments[i]));
            assert_ok(pol_arena_open(&b, &parent, 100, alignments[i]));
            const uintptr_t at_a = (uintptr_t)carve(&a, 100, 1),
                            at_b = (uintptr_t)carve(&b, 100, 1);
            assert_int_equal(at_a % alignments[i], 0);
            assert_int_equal(at_a % 64, 0);
            assert_int_equal(at_b % alignments[i], 0);
            assert_int_equal(at_b % 64, 0);
            assert_true(at_b >= at_a + 100);
        }
}

static void arena_open_from_every_kind_of_space(void **state) /* A1 */
{
    (void)state;
    pol_arena parent = arena_at(0, 65536, 64), a;
    pol_frame f;
    pol_frame_begin(&f, &parent);
    pol_space *const spaces[] = {pol_heap(), POL_SPACE(&f), pol_pages()};
    for (int i = 0; i < 3; i++) {
        const pol_status status = pol_arena_open(&a, spaces[i], 5000, 64);
        if (i == 2 && status == POL_ENOTSUP)
            break;
        assert_ok(status);
        pol_array x;
        assert_ok(pol_alloc(&a, &x, pol_undef(POL_U8, 5000)));
        test_fill(&x, 0x11);
        assert_ok(pol_arena_close(&a));
    }
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&parent), 0);
}

static void arena_open_without_a_space_is_no_ambient(void **state) /* A1, S7 */
{
    (void)state;
    assert_not_made(POL_ENOAMBIENT, pol_arena_open(&made, (pol_space *)NULL, 4096, 64));
}

static void arena_open_passes_on_what_the_space_answers(void **state) /* A1, E3 */
{
    (void)state;
    struct test_space space;
    pol_arena parent = arena_at(0, 256, 64);
    test_space_init(&space);
    test_space_fail(&space, 1, false);
    assert_not_made(POL_ENOMEM, pol_arena_open(&made, &space.space, 4096, 64));
    test_space_assert_clean(&space);
    const struct test_state before = test_state_of(&parent, NULL);
    assert_not_made(POL_ECEILING, pol_arena_open(&made, &parent, 4096, 64));
    test_assert_unchanged(&before, &parent, NULL);
}

static void arena_open_of_no_possible_size_is_an_overflow(void **state) /* A1, A3, U4 */
{
    (void)state;
    struct test_space space;
    pol_arena parent = arena_at(0, 256, 64);
    const struct test_state before = test_state_of(&parent, NULL);
    test_space_init(&space);
    assert_not_made(POL_EOVERFLOW, pol_arena_open(&made, &space.space, SIZE_MAX, 64));
    assert_not_made(POL_EOVERFLOW, pol_arena_open(&made, &parent, (size_t)PTRDIFF_MAX + 1, 64));
    assert_not_made(POL_EOVERFLOW, pol_arena_open(&made, &parent, SIZE_MAX - 7, 4096));
    test_assert_unchanged(&before, &parent, NULL);
    assert_int_equal(space.requests, 0);
}

static void arena_close_gives_the_slab_back_once(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_arena a;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 1000, 64));
    assert_ok(pol_arena_close(&a));
    assert_int_equal(space.live, 0);
    assert_status(pol_arena_close(&a), POL_EINVAL);
    test_space_assert_clean(&space);
}

static void arena_close_leaves_borrowed_slabs(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_array slab;
    pol_arena a;
    test_space_init(&space);
    assert_ok(pol_alloc(&space.space, &slab, pol_undef(POL_U8, 4096)));
    assert_ok(pol_arena_over(&a, &slab, 64));
    assert_ok(pol_arena_close(&a));
    assert_int_equal(space.live, 1);
    pol_release(&slab);
    test_space_assert_clean(&space);
}

static void arena_close_refuses_while_a_frame_is_open(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_arena a;
    pol_frame f;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 1000, 64));
    pol_frame_begin(&f, &a);
    const struct test_state before = test_state_of(&a, &space);
    assert_status(pol_arena_close(&a), POL_EORDER);
    test_assert_unchanged(&before, &a, &space);
    assert_non_null(pol_new(&f, char, 10)); /* it works on */
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&space);
}

static void arena_close_refuses_while_it_is_ambient(void **state) /* A1 */
{
    (void)state;
    struct test_space space;
    pol_arena a;
    pol_scope scope;
    test_space_init(&space);
    assert_ok(pol_arena_open(&a, &space.space, 1000, 64));
    pol_withspace_begin(&scope, &a);
    const struct test_state before = test_state_of(&a, &space);
    assert_status(pol_arena_close(&a), POL_EORDER);
    test_assert_unchanged(&before, &a, &space);
    pol_withspace_end(&scope);
    assert_ok(pol_arena_close(&a));
    test_space_assert_clean(&space);
}

static void arena_close_does_not_mind_frames_elsewhere(void **state) /* A1 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 64), b = arena_at(4096, 1000, 64);
    pol_frame f;
    pol_frame_begin(&f, &b);
    assert_ok(pol_arena_close(&a));
    assert_ok(pol_frame_end(&f));
}

static void arena_that_is_not_open_is_refused(void **state) /* A1, A4, A5 */
{
    (void)state;
    pol_arena closed = arena_at(0, 1000, 64), never;
    pol_array x;
    memset(&never, 0, sizeof never);
    const struct pol_mark mark = pol_mark(&closed);
    assert_ok(pol_arena_close(&closed));
    pol_arena *const arenas[] = {&closed, &never};
    for (int i = 0; i < 2; i++) {
        assert_status(pol_arena_close(arenas[i]), POL_EINVAL);
        assert_status(pol_reset(arenas[i]), POL_EINVAL);
        assert_status(pol_retract(arenas[i], mark), POL_EINVAL);
        assert_status(pol_alloc(arenas[i], &x, pol_undef(POL_U8, 1)), POL_EINVAL);
        assert_null(x.data);
        assert_null(pol_new(arenas[i], char, 1));
    }
}

/* --- A2: addresses --------------------------------------------------------------------------- */

static void arena_carves_at_absolute_addresses_of_its_alignment(void **state) /* A2, trap 6 */
{
    (void)state;
    for (size_t shift = 0; shift < 64; shift++)
        for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            pol_arena a = arena_at(shift, 5 * 4096, alignment);
            for (int i = 0; i < 3; i++)
                assert_int_equal((uintptr_t)carve(&a, 7, 1) % alignment, 0);
        }
}

static void arena_carves_at_absolute_addresses_of_the_element(void **state) /* A2, trap 9 */
{
    (void)state;
    for (size_t shift = 0; shift < 64; shift++)
        for (uint32_t align = 1; align <= 4096; align *= 2) {
            pol_arena a = arena_at(shift, 5 * 4096, 1);
            for (int i = 0; i < 3; i++)
                assert_int_equal((uintptr_t)carve(&a, 7, align) % align, 0);
        }
}

struct line {
    _Alignas(64) char bytes[64];
};

static void arena_carves_strict_elements_from_a_lax_arena(void **state) /* A2, trap 9 */
{
    (void)state;
    pol_arena a = arena_at(8, 1000, 1), b = arena_at(1, 8192, 1);
    pol_array x;
    assert_ok(pol_alloc(&a, &x, pol_undef(POL_TYPE_OF(struct line), 2)));
    assert_ptr_equal(x.data, test_slab(64));
    assert_ptr_equal(carve(&b, 1, 4096), test_slab(4096));
    pol_arena c = arena_at(8, 1000, 1);
    assert_ptr_equal(pol_new(&c, struct line, 2), test_slab(64));
}

static void arena_stays_inside_its_slab(void **state) /* A2, A3, trap 6 */
{
    (void)state;
    /* Canaries on both sides, and no byte of the slab itself is written by the library. */
    for (size_t shift = 0; shift < 64; shift += 3)
        for (size_t nbytes = 0; nbytes <= 64; nbytes += 5)
            for (size_t alignment = 1; alignment <= 64; alignment *= 4) {
                unsigned char *const base = test_slab(256 + shift);
                memset(test_slab(0), 0xc5, 1024);
                pol_arena a;
                const uintptr_t start = ((uintptr_t)base + alignment - 1) / alignment * alignment;
                const uintptr_t end = (uintptr_t)base + nbytes;
                if (start >= end) {
                    assert_not_made(POL_ECEILING, pol_arena_init(&made, base, nbytes, alignment));
                    continue;
                }
                for (int64_t request = 0; request <= 65; request++) {
                    assert_ok(pol_arena_init(&a, base, nbytes, alignment));
                    pol_array x;
                    if ((size_t)request > end - start) {
                        assert_refused(&a, bytes_at(request, 1), POL_ECEILING);
                        continue;
                    }
                    assert_ok(pol_alloc(&a, &x, bytes_at(request, 1)));
                    assert_true((uintptr_t)x.data >= start);
                    assert_true((uintptr_t)x.data + (size_t)request <= end);
                }
                for (size_t i = 0; i < 1024; i++)
                    assert_int_equal(test_slab(0)[i], 0xc5);
            }
}

static void arena_pays_for_alignment_once_at_the_start(void **state) /* A2 */
{
    (void)state;
    for (size_t shift = 0; shift <= 256; shift++) {
        pol_arena a = arena_at(shift, 1000, 256);
        const size_t paid = 1000 - pol_arena_capacity(&a);
        assert_int_equal(paid, (256 - shift % 256) % 256); /* at most alignment - 1 */
        assert_int_equal(pol_arena_offset(&a), 0);
    }
}

/* A few carves, all no stricter than the arena's alignment of 64. */
static void record_offsets(pol_arena *a, size_t *offsets)
{
    const int64_t sizes[] = {1, 64, 65, 0, 200, 3};
    for (int i = 0; i < 6; i++) {
        assert_non_null(carve(a, sizes[i], i % 2 ? 32 : 1));
        offsets[i] = pol_arena_offset(a);
    }
}

static void arena_equal_sequences_give_equal_offsets_on_any_slab(void **state) /* A2, A6 */
{
    (void)state;
    size_t first[6], again[6];
    pol_arena a = arena_at(0, 4096, 64);
    record_offsets(&a, first);
    for (size_t shift = 1; shift < 130; shift++) {
        pol_arena b = arena_at(shift, 4096, 64);
        record_offsets(&b, again);
        assert_memory_equal(first, again, sizeof first);
    }
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, 64));
    record_offsets(&dry, again);
    assert_memory_equal(first, again, sizeof first);
}

static void arena_equal_sequences_give_equal_addresses_on_one_slab(void **state) /* A2 */
{
    (void)state;
    pol_arena a = arena_at(13, 4096, 32);
    char *first[3];
    for (int i = 0; i < 3; i++)
        first[i] = carve(&a, 33, i == 1 ? 128 : 1);
    assert_ok(pol_reset(&a));
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(carve(&a, 33, i == 1 ? 128 : 1), first[i]);
}

static void arena_arrays_do_not_overlap(void **state) /* A2 */
{
    (void)state;
    pol_arena a = arena_at(5, 8192, 16);
    pol_array x[20];
    for (int i = 0; i < 20; i++)
        assert_ok(pol_alloc(&a, &x[i], bytes_at(17 * i % 41, i % 3 ? 1 : 64)));
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < i; k++)
            assert_false(test_overlap(&x[i], &x[k]));
}

/* --- A3: the ceiling ------------------------------------------------------------------------- */

static void arena_exact_fit_fits(void **state) /* A3, trap 8 */
{
    (void)state;
    pol_arena a = arena_at(0, 30, 1);
    assert_non_null(carve(&a, 10, 1));
    assert_ptr_equal(carve(&a, 14, 16), test_slab(16));
    assert_int_equal(pol_arena_offset(&a), 30);
    assert_refused(&a, bytes_at(1, 1), POL_ECEILING);
    pol_arena b = arena_at(0, 13, 1);
    assert_non_null(carve(&b, 8, 1));
    assert_non_null(carve(&b, 5, 1));
    assert_int_equal(pol_arena_offset(&b), 13);
}

static void arena_one_byte_more_than_exact_does_not_fit(void **state) /* A3, trap 8 */
{
    (void)state;
    pol_arena a = arena_at(0, 30, 1);
    assert_non_null(carve(&a, 10, 1));
    assert_refused(&a, bytes_at(15, 16), POL_ECEILING);
    pol_arena b = arena_at(0, 13, 1);
    assert_non_null(carve(&b, 8, 1));
    assert_refused(&b, bytes_at(6, 1), POL_ECEILING);
}

static void arena_sizes_are_not_rounded(void **state) /* A3 */
{
    (void)state;
    pol_arena a = arena_at(0, 4096, 64);
    assert_non_null(carve(&a, 1, 1));
    assert_int_equal(pol_arena_offset(&a), 1);
    assert_non_null(carve(&a, 5, 1));
    assert_int_equal(pol_arena_offset(&a), 69);
    assert_int_equal(pol_watermark(&a), 69);
}

static void arena_failed_carve_changes_nothing(void **state) /* A3, E3, trap 7 */
{
    (void)state;
    pol_arena a = arena_at(0, 30, 1);
    assert_non_null(carve(&a, 29, 1));
    assert_refused(&a, bytes_at(1, 16), POL_ECEILING);
    assert_int_equal(pol_arena_offset(&a), 29);
    assert_non_null(carve(&a, 1, 1)); /* then fits */
}

static void arena_failed_carve_leaves_marks_valid(void **state) /* A3, E3 */
{
    (void)state;
    pol_arena a = arena_at(0, 100, 1);
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(carve(&a, 10, 1));
    assert_refused(&a, bytes_at(1000, 1), POL_ECEILING);
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_arena_offset(&a), 10);
}

static void arena_failed_carve_leaves_the_ambient_binding(void **state) /* A3, E3 */
{
    (void)state;
    pol_arena a = arena_at(0, 100, 1);
    pol_scope scope;
    pol_withspace_begin(&scope, &a);
    assert_refused(&a, bytes_at(1000, 1), POL_ECEILING);
    assert_ptr_equal(pol_ambientspace(), &a);
    pol_withspace_end(&scope);
}

static void arena_comparisons_do_not_wrap(void **state) /* A3, trap 4 */
{
    (void)state;
    pol_arena a = arena_at(0, 10, 1);
    assert_non_null(carve(&a, 5, 1));
    assert_refused(&a, bytes_at(PTRDIFF_MAX, 1), POL_ECEILING);
    assert_refused(&a, bytes_at(PTRDIFF_MAX - 7, 16), POL_ECEILING);
    assert_refused(&a, bytes_at(1, (uint32_t)1 << 31), POL_ECEILING);
    assert_refused(&a, bytes_at(PTRDIFF_MAX, (uint32_t)1 << 31), POL_ECEILING);
    assert_refused(&a, pol_undef(POL_U8, INT64_MAX, 2), POL_EOVERFLOW);
    const pol_array all = pol_undef(POL_U16, PTRDIFF_MAX / 2);
    assert_refused(&a, all, POL_ECEILING);
    assert_int_equal(pol_arena_offset(&a), 5);
}

static void arena_new_does_not_wrap(void **state) /* A3, A9, trap 4 */
{
    (void)state;
    pol_arena a = arena_at(8, 240, 32);
    assert_non_null(pol_new(&a, char, 5));
    const struct test_state before = test_state_of(&a, NULL);
    const size_t counts[] = {SIZE_MAX,     SIZE_MAX - 7,           (size_t)-8,
                             SIZE_MAX / 2, SIZE_MAX / 2 + 1,       SIZE_MAX / 8 + 1,
                             SIZE_MAX / 4, SIZE_MAX / 4 * 3 + 152, 241};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_null(pol_new(&a, char, counts[i]));
        assert_null(pol_new(&a, double, counts[i]));
        assert_null(pol_new(&a, struct line, counts[i]));
        test_assert_unchanged(&before, &a, NULL);
    }
    assert_null(pol_new(&a, double, SIZE_MAX / 8 + 2)); /* wraps to 8 bytes */
    if (WIDE)
        assert_null(pol_new(&a, char, (size_t)0xC0007FAD42E00098ULL));
    test_assert_unchanged(&before, &a, NULL);
}

static void arena_of_an_alignment_beyond_memory_does_not_wrap(void **state) /* A3, trap 4 */
{
    (void)state;
    for (size_t alignment = (size_t)1 << 20; alignment; alignment <<= 1) {
        pol_arena dry;
        assert_ok(pol_arena_measure(&dry, alignment));
        assert_non_null(carve(&dry, 1, 1));
        assert_int_equal(pol_arena_offset(&dry), 1);
        if (alignment > (size_t)PTRDIFF_MAX / 2) /* the second would start past PTRDIFF_MAX */
            assert_refused(&dry, bytes_at(PTRDIFF_MAX, 1), POL_EOVERFLOW);
        else
            assert_true((uintptr_t)carve(&dry, 1, 1) % alignment == 0);
    }
}

static void arena_zero_bytes_always_succeed(void **state) /* A3, trap 11 */
{
    (void)state;
    pol_arena a = arena_at(3, 100, 16);
    const size_t capacity = pol_arena_capacity(&a);
    pol_array x;
    for (int when = 0; when < 3; when++) { /* fresh, after a carve, full */
        const struct test_state before = test_state_of(&a, NULL);
        for (uint32_t align = 1; align <= 4096; align *= 16) {
            assert_ok(pol_alloc(&a, &x, bytes_at(0, align)));
            assert_non_null(x.data);
            assert_int_equal((uintptr_t)x.data % 16, 0);
            assert_int_equal((uintptr_t)x.data % align, 0);
            test_assert_unchanged(&before, &a, NULL);
        }
        const char *const p = pol_new(&a, char, 0);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        test_assert_unchanged(&before, &a, NULL);
        if (when == 0)
            assert_non_null(carve(&a, 5, 1));
        else if (when == 1)
            assert_non_null(carve(&a, (int64_t)capacity - 16, 1));
    }
    assert_int_equal(pol_arena_offset(&a), capacity);
}

struct four {
    pol_array a, b, c, d;
};

static void arena_failed_bundle_changes_nothing(void **state) /* A3, S2, trap 13 */
{
    (void)state;
    /* Four entries of 32 bytes with room for k of them. */
    for (size_t k = 0; k < 4; k++) {
        pol_arena a = arena_at(0, 16 + 32 * k + 31, 16);
        assert_non_null(carve(&a, 16, 1));
        const struct test_state before = test_state_of(&a, NULL);
        struct four x, y = {bytes_at(32, 1), bytes_at(32, 1), bytes_at(32, 1), bytes_at(32, 1)};
        memset(&x, 0x5a, sizeof x);
        assert_status(pol_alloc(&a, &x, y), POL_ECEILING);
        assert_memory_equal(&x, &y, sizeof x);
        test_assert_unchanged(&before, &a, NULL);
    }
}

static void arena_bundle_with_room_is_as_in_an_untried_arena(void **state) /* S2, trap 13 */
{
    (void)state;
    pol_arena a = arena_at(0, 16 + 128, 16);
    struct four x, y = {bytes_at(32, 1), bytes_at(32, 1), bytes_at(32, 1), bytes_at(64, 1)};
    assert_non_null(carve(&a, 16, 1));
    assert_status(pol_alloc(&a, &x, y), POL_ECEILING);
    y.d = bytes_at(32, 1);
    assert_ok(pol_alloc(&a, &x, y));
    assert_ptr_equal(x.a.data, test_slab(16));
    assert_ptr_equal(x.b.data, test_slab(48));
    assert_ptr_equal(x.c.data, test_slab(80));
    assert_ptr_equal(x.d.data, test_slab(112));
}

/* --- A4: marks ------------------------------------------------------------------------------- */

/* Retracts to a mark that must not be taken. */
static void assert_stale(pol_arena *a, struct pol_mark mark)
{
    const struct test_state before = test_state_of(a, NULL);
    assert_status(pol_retract(a, mark), POL_ESTALE);
    test_assert_unchanged(&before, a, NULL);
}

static void retract_goes_back_to_the_mark(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark mark = pol_mark(&a);
    char *const first = carve(&a, 20, 1);
    assert_non_null(carve(&a, 30, 1));
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_arena_offset(&a), 10);
    assert_ptr_equal(carve(&a, 20, 1), first);
}

static void retract_twice_is_a_no_op(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(carve(&a, 20, 1));
    assert_ok(pol_retract(&a, mark));
    const struct test_state before = test_state_of(&a, NULL);
    assert_ok(pol_retract(&a, mark));
    test_assert_unchanged(&before, &a, NULL);
}

static void retract_in_any_order_of_nested_marks(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 1);
    const struct pol_mark m0 = pol_mark(&a);
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark m1 = pol_mark(&a);
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark m2 = pol_mark(&a);
    assert_non_null(carve(&a, 10, 1));
    assert_ok(pol_retract(&a, m2));
    assert_int_equal(pol_arena_offset(&a), 20);
    assert_ok(pol_retract(&a, m1));
    assert_int_equal(pol_arena_offset(&a), 10);
    assert_ok(pol_retract(&a, m0));
    assert_int_equal(pol_arena_offset(&a), 0);
}

static void retract_to_a_mark_on_a_virgin_arena_is_the_origin(void **state) /* A4, trap 17 */
{
    (void)state;
    pol_arena a = arena_at(1, 1000, 64);
    const struct pol_mark mark = pol_mark(&a);
    assert_ptr_equal(carve(&a, 8, 64), test_slab(64));
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_arena_offset(&a), 0);
    assert_ptr_equal(carve(&a, 1, 1), test_slab(64));
}

static void retract_refuses_a_mark_from_before_a_reset(void **state) /* A4, A5, trap 16 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    const struct pol_mark zero = pol_mark(&a);
    assert_non_null(carve(&a, 16, 1));
    const struct pol_mark mark = pol_mark(&a);
    assert_ok(pol_reset(&a));
    assert_non_null(carve(&a, 64, 1));
    assert_stale(&a, mark);
    assert_stale(&a, zero);
    assert_int_equal(pol_arena_offset(&a), 64);
}

static void retract_refuses_a_mark_of_another_arena(void **state) /* A4, trap 16 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16), b = arena_at(0, 1000, 16); /* the same slab even */
    assert_non_null(carve(&a, 64, 1));
    assert_non_null(carve(&b, 16, 1));
    assert_stale(&a, pol_mark(&b));
    assert_ok(pol_reset(&a));
    assert_ok(pol_reset(&b));
    assert_non_null(carve(&a, 64, 1));
    assert_stale(&a, pol_mark(&b));
}

static void retract_refuses_a_mark_of_a_former_arena_at_the_same_place(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    assert_non_null(carve(&a, 16, 1));
    const struct pol_mark mark = pol_mark(&a);
    assert_ok(pol_arena_close(&a));
    assert_ok(pol_arena_init(&a, test_slab(0), 1000, 16));
    assert_non_null(carve(&a, 64, 1));
    assert_stale(&a, mark);
}

static void retract_refuses_the_zero_mark(void **state) /* A4, trap 16 */
{
    (void)state;
    const struct pol_mark none = {0, 0, 0};
    pol_arena a = arena_at(0, 1000, 16);
    assert_stale(&a, none);
    assert_non_null(carve(&a, 64, 1));
    assert_stale(&a, none);
}

static void retract_refuses_a_mark_above_the_offset(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    const struct pol_mark low = pol_mark(&a);
    assert_non_null(carve(&a, 64, 1));
    const struct pol_mark high = pol_mark(&a);
    assert_ok(pol_retract(&a, low));
    assert_stale(&a, high);
    assert_non_null(carve(&a, 63, 1));
    assert_stale(&a, high);
}

static void retract_refuses_a_mark_beneath_an_open_frame(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    const struct pol_mark mark = pol_mark(&a);
    pol_frame f;
    assert_non_null(carve(&a, 64, 1));
    pol_frame_begin(&f, &a);
    assert_non_null(pol_new(&f, char, 10));
    const struct test_state before = test_state_of(&a, NULL);
    assert_status(pol_retract(&a, mark), POL_EORDER);
    test_assert_unchanged(&before, &a, NULL);
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_retract(&a, mark)); /* it stands */
    assert_int_equal(pol_arena_offset(&a), 0);
}

static void retract_refuses_a_mark_beneath_any_of_40_frames(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 4096, 16);
    pol_frame frames[40];
    struct pol_mark marks[40];
    for (int i = 0; i < 40; i++) {
        marks[i] = pol_mark(&a);
        assert_non_null(i ? pol_new(&frames[i - 1], char, 1) : pol_new(&a, char, 1));
        pol_frame_begin(&frames[i], &a);
        const struct test_state before = test_state_of(&a, NULL);
        for (int k = 0; k <= i; k++)
            assert_status(pol_retract(&a, marks[k]), POL_EORDER);
        test_assert_unchanged(&before, &a, NULL);
    }
    for (int i = 39; i >= 0; i--)
        assert_ok(pol_frame_end(&frames[i]));
}

static void retract_takes_back_within_the_innermost_frame(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f;
    assert_non_null(carve(&a, 64, 1));
    pol_frame_begin(&f, &a);
    assert_non_null(pol_new(&f, char, 10));
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(pol_new(&f, char, 10));
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_arena_offset(&a), 74);
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&a), 64);
}

static void mark_changes_nothing(void **state) /* A4 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    assert_non_null(carve(&a, 5, 1));
    const struct test_state before = test_state_of(&a, NULL);
    const struct pol_mark one = pol_mark(&a), two = pol_mark(&a);
    assert_memory_equal(&one, &two, sizeof one);
    test_assert_unchanged(&before, &a, NULL);
}

static void mark_of_an_arena_that_is_not_open_is_all_zero(void **state) /* A4 */
{
    (void)state;
    const struct pol_mark none = {0, 0, 0};
    pol_arena a = arena_at(0, 1000, 16);
    assert_ok(pol_arena_close(&a));
    const struct pol_mark of_closed = pol_mark(&a), of_null = pol_mark(NULL);
    assert_memory_equal(&of_closed, &none, sizeof none);
    assert_memory_equal(&of_null, &none, sizeof none);
}

/* --- A5: reset, watermark, budget ------------------------------------------------------------ */

static void reset_takes_everything_back(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(5, 1000, 16);
    char *const first = carve(&a, 10, 1);
    assert_non_null(carve(&a, 10, 1));
    assert_ok(pol_reset(&a));
    assert_int_equal(pol_arena_offset(&a), 0);
    assert_ptr_equal(carve(&a, 10, 1), first);
}

static void reset_refuses_with_frames_open(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f, g;
    assert_non_null(carve(&a, 10, 1));
    const struct pol_mark mark = pol_mark(&a);
    pol_frame_begin(&f, &a);
    pol_frame_begin(&g, &f);
    const struct test_state before = test_state_of(&a, NULL);
    assert_status(pol_reset(&a), POL_EORDER);
    test_assert_unchanged(&before, &a, NULL);
    assert_ok(pol_frame_end(&g));
    assert_status(pol_reset(&a), POL_EORDER);
    assert_ok(pol_frame_end(&f));
    assert_ok(pol_retract(&a, mark)); /* marks did not go stale */
    assert_ok(pol_reset(&a));
}

static void watermark_is_the_highest_offset_ever(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(carve(&a, 100, 1));
    assert_int_equal(pol_watermark(&a), 100);
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_watermark(&a), 100);
    assert_non_null(carve(&a, 50, 1));
    assert_int_equal(pol_watermark(&a), 100);
    assert_ok(pol_reset(&a));
    assert_int_equal(pol_watermark(&a), 100);
    assert_non_null(carve(&a, 101, 1));
    assert_int_equal(pol_watermark(&a), 101);
}

static void watermark_counts_what_frames_took_back(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f;
    pol_frame_begin(&f, &a);
    assert_non_null(pol_new(&f, char, 100));
    assert_ok(pol_frame_end(&f));
    assert_int_equal(pol_arena_offset(&a), 0);
    assert_int_equal(pol_watermark(&a), 100);
}

static void watermark_counts_the_fast_path(void **state) /* A5, A9 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(pol_new(&a, char, 100));
    assert_int_equal(pol_watermark(&a), 100);
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_watermark(&a), 100);
    assert_non_null(pol_new(&a, char, 120));
    assert_ok(pol_reset(&a));
    assert_int_equal(pol_watermark(&a), 120);
}

static void watermark_counts_sub_arenas_as_they_were_opened(void **state) /* A5, A1 */
{
    (void)state;
    pol_arena a = arena_at(0, 4096, 64), sub;
    assert_ok(pol_arena_open(&sub, &a, 1000, 64));
    assert_int_equal(pol_watermark(&a), 1000);
    assert_non_null(carve(&sub, 10, 1)); /* however little of it was used */
    assert_int_equal(pol_watermark(&sub), 10);
    assert_ok(pol_arena_close(&sub));
    assert_ok(pol_reset(&a));
    assert_int_equal(pol_watermark(&a), 1000);
}

static void watermark_starts_anew_with_the_arena(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    assert_non_null(carve(&a, 100, 1));
    assert_ok(pol_arena_close(&a));
    assert_ok(pol_arena_init(&a, test_slab(0), 1000, 16));
    assert_int_equal(pol_watermark(&a), 0);
}

static void budget_is_watermark_and_alignment_less_one(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 64);
    const struct pol_mark mark = pol_mark(&a);
    assert_non_null(carve(&a, 100, 32));
    assert_int_equal(pol_arena_budget(&a), 100 + 63);
    assert_ok(pol_retract(&a, mark));
    assert_int_equal(pol_arena_budget(&a), 100 + 63);
    assert_ok(pol_reset(&a));
    assert_int_equal(pol_arena_budget(&a), 100 + 63);
}

static void budget_of_a_fresh_arena_has_room_for_one_aligned_byte(void **state) /* A5 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 64), b;
    assert_int_equal(pol_arena_budget(&a), 64);
    for (size_t shift = 0; shift < 64; shift++)
        assert_ok(pol_arena_init(&b, test_slab(shift), pol_arena_budget(&a), 64));
}

static void budget_suffices_at_any_base_and_one_less_does_not(void **state) /* A5, trap 12 */
{
    (void)state;
    pol_arena dry;
    size_t offsets[6];
    assert_ok(pol_arena_measure(&dry, 64));
    record_offsets(&dry, offsets);
    const size_t budget = pol_arena_budget(&dry);
    for (size_t shift = 0; shift < 64; shift++) {
        pol_arena a = arena_at(shift, budget, 64);
        record_offsets(&a, offsets);
        assert_int_equal(pol_watermark(&a), pol_watermark(&dry));
    }
    pol_arena a = arena_at(1, budget - 1, 64); /* the worst base */
    for (int i = 0; i < 3; i++)
        assert_non_null(carve(&a, i == 0 ? 1 : i == 1 ? 64 : 65, 1));
    assert_non_null(carve(&a, 200, 1));
    assert_refused(&a, bytes_at(3, 1), POL_ECEILING);
}

static void budget_allows_for_elements_stricter_than_the_arena(void **state) /* A5 */
{
    (void)state;
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, 16));
    assert_non_null(carve(&dry, 10, 1));
    assert_non_null(carve(&dry, 100, 256));
    assert_non_null(carve(&dry, 10, 1));
    const size_t budget = pol_arena_budget(&dry);
    assert_true(budget < pol_watermark(&dry) + 15 + 256);
    for (size_t shift = 0; shift < 512; shift++) {
        pol_arena a = arena_at(shift, budget, 16);
        assert_non_null(carve(&a, 10, 1));
        assert_non_null(carve(&a, 100, 256));
        assert_non_null(carve(&a, 10, 1));
    }
}

static void budget_of_a_real_arena_allows_for_strict_elements(void **state) /* A5 */
{
    (void)state;
    for (size_t from = 0; from < 256; from += 16)
        for (int first = 0; first < 2; first++) { /* something lies before the strict one */
            pol_arena a = arena_at(from, 4096, 16);
            if (first)
                assert_non_null(carve(&a, 10, 1));
            assert_non_null(carve(&a, 100, 256));
            const size_t budget = pol_arena_budget(&a);
            assert_int_equal(budget, pol_watermark(&a) + 256 - 1);
            for (size_t to = 0; to < 256; to++) {
                pol_arena b = arena_at(to, budget, 16);
                if (first)
                    assert_non_null(carve(&b, 10, 1));
                assert_non_null(carve(&b, 100, 256));
            }
        }
}

static void arena_queries_of_null_are_zero(void **state) /* A5 */
{
    (void)state;
    assert_int_equal(pol_arena_offset(NULL), 0);
    assert_int_equal(pol_arena_capacity(NULL), 0);
    assert_int_equal(pol_arena_alignment(NULL), 0);
    assert_int_equal(pol_watermark(NULL), 0);
    assert_int_equal(pol_arena_budget(NULL), 0);
}

static void arena_queries_take_const(void **state) /* trap 32 */
{
    (void)state;
    const pol_arena a = arena_at(0, 1000, 16);
    assert_int_equal(pol_arena_offset(&a), 0);
    assert_int_equal(pol_arena_capacity(&a), 1000);
    assert_int_equal(pol_arena_alignment(&a), 16);
    assert_int_equal(pol_watermark(&a), 0);
    assert_true(pol_arena_budget(&a) > 0);
}

/* --- A6: measuring --------------------------------------------------------------------------- */

static void measuring_arena_has_no_ceiling(void **state) /* A6 */
{
    (void)state;
    pol_arena dry;
    pol_array x;
    assert_ok(pol_arena_measure(&dry, 64));
    assert_ok(pol_alloc(&dry, &x, bytes_at(PTRDIFF_MAX / 2, 1)));
    assert_true(pol_is_array(&x));
    assert_int_equal(pol_arena_offset(&dry), PTRDIFF_MAX / 2);
}

static void measuring_arena_refuses_sums_past_ptrdiff_max(void **state) /* A6, U4, E3 */
{
    (void)state;
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, 64));
    assert_refused(&dry, pol_undef(POL_F64, INT64_MAX), POL_EOVERFLOW);
    assert_non_null(carve(&dry, PTRDIFF_MAX / 2, 1));
    assert_refused(&dry, bytes_at(PTRDIFF_MAX / 2 + 1, 1), POL_EOVERFLOW);
    assert_null(pol_new(&dry, char, (size_t)PTRDIFF_MAX / 2 + 1));
    assert_int_equal(pol_arena_offset(&dry), PTRDIFF_MAX / 2);
    assert_non_null(carve(&dry, PTRDIFF_MAX / 4, 1)); /* it works on */
}

static void measuring_arena_marks_and_resets(void **state) /* A6: the same code */
{
    (void)state;
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, 64));
    assert_non_null(carve(&dry, 10, 1));
    const struct pol_mark mark = pol_mark(&dry);
    assert_non_null(carve(&dry, 1000, 1));
    assert_ok(pol_retract(&dry, mark));
    assert_int_equal(pol_arena_offset(&dry), 10);
    assert_ok(pol_reset(&dry));
    assert_stale(&dry, mark);
    assert_int_equal(pol_watermark(&dry), 64 + 1000);
}

static void measuring_arena_gives_aligned_addresses(void **state) /* A6, A2 */
{
    (void)state;
    pol_arena dry;
    assert_ok(pol_arena_measure(&dry, 64));
    for (uint32_t align = 1; align <= 4096; align *= 2) {
        const char *const p = carve(&dry, 3, align);
        assert_int_equal((uintptr_t)p % align, 0);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal((uintptr_t)carve(&dry, 0, align) % align, 0);
    }
}

static void measuring_is_told_of_arena_frame_and_sub_arena(void **state) /* A6, V8 */
{
    (void)state;
    pol_arena dry, sub, sub_of_frame;
    pol_frame f, g;
    assert_ok(pol_arena_measure(&dry, 64));
    assert_true(pol_is_measuring(&dry));
    assert_ok(pol_arena_open(&sub, &dry, 1000, 64));
    assert_true(pol_is_measuring(&sub));
    pol_frame_begin(&f, &dry);
    assert_true(pol_is_measuring(&f));
    pol_frame_begin(&g, &f);
    assert_true(pol_is_measuring(&g));
    assert_ok(pol_arena_open(&sub_of_frame, &g, 1000, 64));
    assert_true(pol_is_measuring(&sub_of_frame));
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
}

static void measuring_is_denied_of_everything_else(void **state) /* A6, V8 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f, g, none;
    struct test_space space;
    test_space_init(&space);
    assert_false(pol_is_measuring((pol_space *)NULL));
    assert_false(pol_is_measuring(&a));
    assert_false(pol_is_measuring(pol_heap()));
    assert_false(pol_is_measuring(&space.space));
    pol_frame_begin(&f, &a);
    pol_frame_begin(&g, pol_heap());
    pol_frame_begin(&none, (pol_space *)NULL);
    assert_false(pol_is_measuring(&f));
    assert_false(pol_is_measuring(&g));
    assert_false(pol_is_measuring(&none));
    assert_ok(pol_frame_end(&none));
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
}

static void measuring_a_sub_arena_gives_the_real_offsets(void **state) /* A6 */
{
    (void)state;
    size_t after[2];
    for (int real = 0; real < 2; real++) {
        pol_arena a, sub;
        if (real)
            a = arena_at(0, 8192, 64);
        else
            assert_ok(pol_arena_measure(&a, 64));
        assert_non_null(carve(&a, 10, 1));
        assert_ok(pol_arena_open(&sub, &a, 1000, 64));
        assert_non_null(carve(&sub, 1000, 1));
        assert_non_null(carve(&a, 10, 1));
        after[real] = pol_arena_offset(&a);
    }
    assert_int_equal(after[0], after[1]);
}

/* --- A7: nothing from beneath an open frame -------------------------------------------------- */

static void arena_beneath_an_open_frame_is_refused(void **state) /* A7 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f;
    pol_frame_begin(&f, &a);
    assert_refused(&a, bytes_at(1, 1), POL_EORDER);
    const struct test_state before = test_state_of(&a, NULL);
    assert_null(pol_new(&a, char, 1));
    assert_not_made(POL_EORDER, pol_arena_open(&made, &a, 100, 16));
    test_assert_unchanged(&before, &a, NULL);
    assert_ok(pol_frame_end(&f));
    assert_non_null(carve(&a, 1, 1));
}

static void outer_frame_beneath_an_inner_one_is_refused(void **state) /* A7 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pol_frame f, g;
    pol_array x;
    pol_frame_begin(&f, &a);
    for (int over = 0; over < 2; over++) { /* the inner one on the outer, and on the arena */
        if (over)
            pol_frame_begin(&g, &a);
        else
            pol_frame_begin(&g, &f);
        const struct test_state before = test_state_of(&a, NULL);
        assert_status(pol_alloc(&f, &x, bytes_at(1, 1)), POL_EORDER);
        assert_null(x.data);
        assert_null(pol_new(&f, char, 1));
        test_assert_unchanged(&before, &a, NULL);
        assert_non_null(pol_new(&g, char, 1));
        assert_ok(pol_frame_end(&g));
        assert_non_null(pol_new(&f, char, 1));
    }
    assert_ok(pol_frame_end(&f));
}

static void frames_on_other_arenas_do_not_matter(void **state) /* A7: on the same arena */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16), b = arena_at(1024, 1000, 16);
    pol_frame f, g;
    pol_frame_begin(&f, &b);
    assert_non_null(carve(&a, 1, 1));
    pol_frame_begin(&g, &a);
    assert_non_null(pol_new(&f, char, 1)); /* the outer frame, on another arena */
    assert_ok(pol_frame_end(&g));
    assert_ok(pol_frame_end(&f));
}

static void frames_on_a_sub_arena_do_not_block_its_parent(void **state) /* A7 */
{
    (void)state;
    pol_arena parent = arena_at(0, 4096, 16), sub;
    pol_frame f;
    assert_ok(pol_arena_open(&sub, &parent, 1000, 16));
    pol_frame_begin(&f, &sub);
    assert_non_null(carve(&parent, 1, 1));
    assert_ok(pol_frame_end(&f));
    pol_frame_begin(&f, &parent);
    assert_non_null(carve(&sub, 1, 1));
    assert_ok(pol_frame_end(&f));
}

/* --- A8: one thread at a time ---------------------------------------------------------------- */

static void *use_elsewhere(void *arena)
{
    pol_arena *const a = (pol_arena *)arena;
    pol_frame f;
    pol_frame_begin(&f, a);
    const bool framed = pol_new(&f, char, 16) != NULL;
    const bool ended = pol_frame_end(&f) == POL_OK;
    return framed && ended && pol_new(a, char, 16) ? arena : NULL;
}

static void arena_may_be_handed_to_another_thread(void **state) /* A8 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 16);
    pthread_t thread;
    void *did = NULL;
    assert_non_null(carve(&a, 16, 1));
    assert_int_equal(pthread_create(&thread, NULL, use_elsewhere, &a), 0);
    assert_int_equal(pthread_join(thread, &did), 0);
    assert_non_null(did);
    assert_int_equal(pol_arena_offset(&a), 32);
    assert_ptr_equal(carve(&a, 16, 1), test_slab(32));
}

/* --- A9: pol_new ----------------------------------------------------------------------------- */

static void new_returns_elements_of_the_type(void **state) /* A9 */
{
    (void)state;
    pol_arena a = arena_at(0, 1000, 1);
    assert_non_null(pol_new(&a, char, 1));
    double *const d = pol_new(&a, double, 10);
    assert_non_null(d);
    assert_int_equal((uintptr_t)d % _Alignof(double), 0);
    for (int i = 0; i < 10; i++)
        d[i] = i;
    assert_int_equal(pol_arena_offset(&a), (size_t)((char *)(d + 10) - (char *)test_slab(0)));
}

static void new_carves_where_alloc_does(void **state) /* A9, A2 */
{
    (void)state;
    for (size_t shift = 0; shift < 64; shift++)
        for (size_t alignment = 1; alignment <= 128; alignment *= 2) {
            pol_arena a = arena_at(shift, 4096, alignment), b = arena_at(shift, 4096, alignment);
            assert_ptr_equal(pol_new(&a, char, 3), carve(&b, 3, 1));
            assert_ptr_equal(pol_new(&a, double, 3), carve(&b, 24, _Alignof(double)));
            assert_ptr_equal(pol_new(&a, struct line, 2), carve(&b, 128, 64));
            assert_ptr_equal(pol_new(&a, char, 0), carve(&b, 0, 1));
            assert_int_equal(pol_arena_offset(&a), pol_arena_offset(&b));
            assert_int_equal(pol_watermark(&a), pol_watermark(&b));
            assert_int_equal(pol_arena_budget(&a), pol_arena_budget(&b));
        }
}

static void new_exact_fit_fits_and_one_more_does_not(void **state) /* A9, A3 */
{
    (void)state;
    pol_arena a = arena_at(0, 30, 1);
    assert_non_null(pol_new(&a, char, 10));
    const struct test_state before = test_state_of(&a, NULL);
    assert_null(pol_new(&a, char, 21));
    test_assert_unchanged(&before, &a, NULL);
    assert_non_null(pol_new(&a, char, 20));
    assert_int_equal(pol_arena_offset(&a), 30);
    assert_null(pol_new(&a, char, 1));
}

static void new_failure_is_null_with_the_text(void **state) /* A9 */
{
    (void)state;
    pol_arena a = arena_at(0, 30, 1);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_new(&a, double, 1000));
    assert_string_not_equal(pol_last_error(), "untouched");
}

static void new_without_a_space_is_null(void **state) /* A9, S7 */
{
    (void)state;
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_new((pol_space *)NULL, char, 1));
    assert_string_not_equal(pol_last_error(), "untouched");
    assert_null(pol_new((pol_arena *)NULL, char, 1));
    assert_null(pol_new((pol_frame *)NULL, char, 1));
    assert_null(pol_new((pol_arena *)NULL, char, 0));
}

static void new_takes_any_space(void **state) /* A9 */
{
    (void)state;
    struct test_space space;
    pol_frame f;
    pol_arena a = arena_at(0, 1000, 16);
    test_space_init(&space);
    pol_frame_begin(&f, &space.space);
    double *const d = pol_new(&f, double, 10);
    assert_non_null(d);
    d[9] = 1;
    assert_int_equal(space.live, 1);
    assert_int_equal(space.live_bytes, 80);
    assert_ok(pol_frame_end(&f));
    test_space_assert_clean(&space);
    assert_ptr_equal(pol_new(POL_SPACE(&a), double, 10), test_slab(0));
    assert_int_equal(pol_arena_offset(&a), 80);
}

static void new_evaluates_its_arguments_once(void **state) /* A9 */
{
    (void)state;
    pol_arena arenas[2] = {arena_at(0, 1000, 16), arena_at(1024, 1000, 16)};
    pol_arena *a = arenas;
    size_t n = 3;
    assert_non_null(pol_new(a++, char, n++));
    assert_int_equal(n, 4);
    assert_ptr_equal(a, arenas + 1);
}

#define T(test) cmocka_unit_test_teardown(test, test_clear_ambient)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(arena_init_takes_borrowed_memory),
        T(arena_alignment_0_means_256),
        T(arena_alignment_that_is_no_power_of_two_is_refused),
        T(arena_alignment_of_half_the_address_space_is_legal_and_full),
        T(arena_over_null_is_refused),
        T(arena_that_is_null_is_refused),
        T(arena_without_room_for_one_aligned_byte_is_refused),
        T(arena_with_room_for_one_aligned_byte_is_made),
        T(arena_past_the_address_space_is_an_overflow),
        T(arena_over_an_array_has_its_bytes),
        T(arena_over_an_array_inherits_its_home),
        T(arena_over_an_array_is_of_its_device),
        T(arena_carves_regardless_of_a_capturing_device),
        T(arena_never_touches_the_bytes),
        T(arena_open_draws_the_slab_from_the_space),
        T(arena_open_starts_at_a_multiple_of_alignment_and_64),
        T(arena_open_from_every_kind_of_space),
        T(arena_open_without_a_space_is_no_ambient),
        T(arena_open_passes_on_what_the_space_answers),
        T(arena_open_of_no_possible_size_is_an_overflow),
        T(arena_close_gives_the_slab_back_once),
        T(arena_close_leaves_borrowed_slabs),
        T(arena_close_refuses_while_a_frame_is_open),
        T(arena_close_refuses_while_it_is_ambient),
        T(arena_close_does_not_mind_frames_elsewhere),
        T(arena_that_is_not_open_is_refused),
        T(arena_carves_at_absolute_addresses_of_its_alignment),
        T(arena_carves_at_absolute_addresses_of_the_element),
        T(arena_carves_strict_elements_from_a_lax_arena),
        T(arena_stays_inside_its_slab),
        T(arena_pays_for_alignment_once_at_the_start),
        T(arena_equal_sequences_give_equal_offsets_on_any_slab),
        T(arena_equal_sequences_give_equal_addresses_on_one_slab),
        T(arena_arrays_do_not_overlap),
        T(arena_exact_fit_fits),
        T(arena_one_byte_more_than_exact_does_not_fit),
        T(arena_sizes_are_not_rounded),
        T(arena_failed_carve_changes_nothing),
        T(arena_failed_carve_leaves_marks_valid),
        T(arena_failed_carve_leaves_the_ambient_binding),
        T(arena_comparisons_do_not_wrap),
        T(arena_new_does_not_wrap),
        T(arena_of_an_alignment_beyond_memory_does_not_wrap),
        T(arena_zero_bytes_always_succeed),
        T(arena_failed_bundle_changes_nothing),
        T(arena_bundle_with_room_is_as_in_an_untried_arena),
        T(retract_goes_back_to_the_mark),
        T(retract_twice_is_a_no_op),
        T(retract_in_any_order_of_nested_marks),
        T(retract_to_a_mark_on_a_virgin_arena_is_the_origin),
        T(retract_refuses_a_mark_from_before_a_reset),
        T(retract_refuses_a_mark_of_another_arena),
        T(retract_refuses_a_mark_of_a_former_arena_at_the_same_place),
        T(retract_refuses_the_zero_mark),
        T(retract_refuses_a_mark_above_the_offset),
        T(retract_refuses_a_mark_beneath_an_open_frame),
        T(retract_refuses_a_mark_beneath_any_of_40_frames),
        T(retract_takes_back_within_the_innermost_frame),
        T(mark_changes_nothing),
        T(mark_of_an_arena_that_is_not_open_is_all_zero),
        T(reset_takes_everything_back),
        T(reset_refuses_with_frames_open),
        T(watermark_is_the_highest_offset_ever),
        T(watermark_counts_what_frames_took_back),
        T(watermark_counts_the_fast_path),
        T(watermark_counts_sub_arenas_as_they_were_opened),
        T(watermark_starts_anew_with_the_arena),
        T(budget_is_watermark_and_alignment_less_one),
        T(budget_of_a_fresh_arena_has_room_for_one_aligned_byte),
        T(budget_suffices_at_any_base_and_one_less_does_not),
        T(budget_allows_for_elements_stricter_than_the_arena),
        T(budget_of_a_real_arena_allows_for_strict_elements),
        T(arena_queries_of_null_are_zero),
        T(arena_queries_take_const),
        T(measuring_arena_has_no_ceiling),
        T(measuring_arena_refuses_sums_past_ptrdiff_max),
        T(measuring_arena_marks_and_resets),
        T(measuring_arena_gives_aligned_addresses),
        T(measuring_is_told_of_arena_frame_and_sub_arena),
        T(measuring_is_denied_of_everything_else),
        T(measuring_a_sub_arena_gives_the_real_offsets),
        T(arena_beneath_an_open_frame_is_refused),
        T(outer_frame_beneath_an_inner_one_is_refused),
        T(frames_on_other_arenas_do_not_matter),
        T(frames_on_a_sub_arena_do_not_block_its_parent),
        T(arena_may_be_handed_to_another_thread),
        T(new_returns_elements_of_the_type),
        T(new_carves_where_alloc_does),
        T(new_exact_fit_fits_and_one_more_does_not),
        T(new_failure_is_null_with_the_text),
        T(new_without_a_space_is_null),
        T(new_takes_any_space),
        T(new_evaluates_its_arguments_once),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}

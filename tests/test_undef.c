/* SPDX-License-Identifier: MIT */

/*
 * Arrays and descriptions, rules U1 to U5.
 *
 * Sizes are compared with numbers worked out by hand, at the edges of what 64 bits hold, because a
 * product that wraps is right almost everywhere. What depends on the width of a pointer says so.
 */

#include <stdlib.h>
#include <string.h>

#include "support.h"

#define WIDE (PTRDIFF_MAX > 0x7fffffff) /* pointers of 64 bits */
#define TWO(n) ((int64_t)1 << (n))

_Static_assert(sizeof(pol_array) <= 96, "U1");
_Static_assert(sizeof(pol_array) == sizeof(void *) + sizeof(struct pol_space *) + sizeof(pol_type) +
                                        2 * sizeof(uint16_t) + 8 * sizeof(int64_t),
               "U1, U2: no padding");
_Static_assert(sizeof(pol_type) == 12, "U3: no padding");
_Static_assert(POL_MAX_NDIM == 8, "U1");
_Static_assert(_Generic(((pol_array *)0)->dims[0], int64_t : 1, default : 0), "U1");
_Static_assert(_Generic(((pol_array *)0)->data, void * : 1, default : 0), "U1");
_Static_assert(_Generic(((pol_array *)0)->home, struct pol_space * : 1, default : 0), "U1");

static bool all_zero(const void *p, size_t n)
{
    const unsigned char *const bytes = (const unsigned char *)p;
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static bool same_bytes(pol_array a, pol_array b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* A description made by hand, every byte of it written. */
static pol_array by_hand(pol_type type, uint16_t ndim, const int64_t *dims)
{
    pol_array a;
    memset(&a, 0, sizeof a);
    a.type = type;
    a.ndim = ndim;
    memcpy(a.dims, dims, ndim * sizeof *dims);
    return a;
}

/* --- U1: three states ------------------------------------------------------------------------ */

static void array_of_zero_bytes_is_absent(void **state) /* U1 */
{
    (void)state;
    pol_array a;
    memset(&a, 0, sizeof a);
    assert_true(pol_is_absent(&a));
    assert_false(pol_is_undef(&a));
    assert_false(pol_is_array(&a));
}

static void array_that_is_null_counts_as_absent(void **state) /* U1 */
{
    (void)state;
    assert_true(pol_is_absent(NULL));
    assert_false(pol_is_undef(NULL));
    assert_false(pol_is_array(NULL));
}

static void array_with_type_and_no_data_is_described(void **state) /* U1 */
{
    (void)state;
    const pol_array a = pol_undef(POL_I8, 3);
    assert_true(pol_is_undef(&a));
    assert_false(pol_is_absent(&a));
    assert_false(pol_is_array(&a));
}

static void array_with_data_is_materialized(void **state) /* U1 */
{
    (void)state;
    char byte;
    const pol_array a = pol_wrap(&byte, POL_I8, 1);
    assert_true(pol_is_array(&a));
    assert_false(pol_is_absent(&a));
    assert_false(pol_is_undef(&a));
}

static void array_without_elements_is_materialized_too(void **state) /* U1 */
{
    (void)state;
    pol_arena a;
    pol_array x, y;
    assert_ok(pol_arena_init(&a, test_slab(0), 256, 16));
    assert_ok(pol_alloc(&a, &x, pol_undef(POL_F32, 0)));
    assert_true(pol_is_array(&x));
    assert_ok(pol_alloc(pol_heap(), &y, pol_undef(POL_F32, 3, 0)));
    assert_true(pol_is_array(&y));
    pol_release(&y);
}

static void array_is_copied_by_assignment(void **state) /* U1 */
{
    (void)state;
    float f[6];
    const pol_array a = pol_wrap(f, POL_F32, 2, 3), b = a;
    assert_true(same_bytes(a, b));
}

/* --- U2: descriptions ------------------------------------------------------------------------ */

static void undef_has_the_type_and_the_dims(void **state) /* U2 */
{
    (void)state;
    const int64_t d[8] = {2, 3, 4, 5, 6, 7, 8, 9};
    assert_true(same_bytes(pol_undef(POL_F32, 2), by_hand(POL_F32, 1, d)));
    assert_true(same_bytes(pol_undef(POL_F32, 2, 3), by_hand(POL_F32, 2, d)));
    assert_true(same_bytes(pol_undef(POL_F64, 2, 3, 4), by_hand(POL_F64, 3, d)));
    assert_true(same_bytes(pol_undef(POL_I8, 2, 3, 4, 5), by_hand(POL_I8, 4, d)));
    assert_true(same_bytes(pol_undef(POL_I4, 2, 3, 4, 5, 6), by_hand(POL_I4, 5, d)));
    assert_true(same_bytes(pol_undef(POL_U8, 2, 3, 4, 5, 6, 7), by_hand(POL_U8, 6, d)));
    assert_true(same_bytes(pol_undef(POL_C64, 2, 3, 4, 5, 6, 7, 8), by_hand(POL_C64, 7, d)));
    assert_true(same_bytes(pol_undef(POL_F16, 2, 3, 4, 5, 6, 7, 8, 9), by_hand(POL_F16, 8, d)));
}

static void undef_holds_dims_of_64_bits(void **state) /* U1, U2 */
{
    (void)state;
    const pol_array a = pol_undef(POL_U8, INT64_MAX, INT64_MIN);
    assert_true(a.dims[0] == INT64_MAX);
    assert_true(a.dims[1] == INT64_MIN);
}

static void undef_scalar_has_no_dims(void **state) /* U2 */
{
    (void)state;
    assert_true(same_bytes(pol_undef_scalar(POL_F64), by_hand(POL_F64, 0, (const int64_t[]){0})));
}

static void undef_takes_no_memory_and_reports_nothing(void **state) /* U2: pure */
{
    (void)state;
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    pol_array a = pol_undef(POL_F32, -1, INT64_MAX); /* no memory can hold it: not refused here */
    a = pol_undef_like(&a);
    a = pol_undef_like_type(&a, POL_C128);
    a = pol_undef_like_dims(&a, INT64_MAX, INT64_MAX);
    assert_null(a.data);
    assert_true(pol_is_undef(&a));
    assert_string_equal(pol_last_error(), "untouched");
}

static void undef_like_is_the_description_alone(void **state) /* U2 */
{
    (void)state;
    pol_array x;
    assert_ok(pol_alloc(pol_heap(), &x, pol_undef(POL_F32, 5, 7)));
    assert_true(same_bytes(pol_undef_like(&x), pol_undef(POL_F32, 5, 7)));
    pol_release(&x);
}

static void undef_like_type_changes_the_type_alone(void **state) /* U2 */
{
    (void)state;
    float f[35];
    const pol_array x = pol_wrap(f, POL_F32, 5, 7);
    assert_true(same_bytes(pol_undef_like_type(&x, POL_BF16), pol_undef(POL_BF16, 5, 7)));
}

static void undef_like_dims_changes_the_shape_alone(void **state) /* U2 */
{
    (void)state;
    float f[35];
    const pol_array x = pol_wrap(f, POL_F32, 5, 7, 1);
    assert_true(same_bytes(pol_undef_like_dims(&x, 9), pol_undef(POL_F32, 9)));
    assert_true(same_bytes(pol_undef_like_dims(&x, 1, 2, 3, 4), pol_undef(POL_F32, 1, 2, 3, 4)));
}

static void undef_like_an_absent_array_is_absent(void **state) /* U2 */
{
    (void)state;
    pol_array x, y;
    memset(&x, 0, sizeof x);
    y = pol_undef_like(&x);
    assert_true(all_zero(&y, sizeof y));
    y = pol_undef_like_type(&x, POL_F32);
    assert_true(all_zero(&y, sizeof y));
    y = pol_undef_like_dims(&x, 3, 4);
    assert_true(all_zero(&y, sizeof y));
}

/* A description on a stack full of ones. */
static pol_array on_a_dirty_stack(int64_t d)
{
    volatile unsigned char dirt[1024];
    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 0xff;
    return pol_undef(POL_F32, d);
}

static void undef_equal_descriptions_are_equal_bytes(void **state) /* U2 */
{
    (void)state;
    pol_array a[4];
    memset(a, 0xff, sizeof a);
    a[0] = on_a_dirty_stack(12);
    a[1] = pol_undef(POL_F32, 12);
    a[2] = pol_undef_like(&a[0]);
    a[3] = pol_undef_like_dims(&a[0], 12);
    for (int i = 1; i < 4; i++)
        assert_memory_equal(&a[0], &a[i], sizeof a[0]);
}

static void undef_different_descriptions_are_different_bytes(void **state) /* U2 */
{
    (void)state;
    assert_false(same_bytes(pol_undef(POL_F32, 12), pol_undef(POL_I32, 12)));
    assert_false(same_bytes(pol_undef(POL_F32, 12), pol_undef(POL_F32, 12, 1)));
    assert_false(same_bytes(pol_undef(POL_F32, 0), pol_undef(POL_F32, 0, 0)));
    assert_false(same_bytes(pol_undef(POL_F32, 1), pol_undef_scalar(POL_F32)));
}

static void undef_equal_compares_type_and_shape(void **state) /* U2 */
{
    (void)state;
    const pol_array a = pol_undef(POL_F32, 2, 3), same = pol_undef(POL_F32, 2, 3),
                    type = pol_undef(POL_I32, 2, 3), dims = pol_undef(POL_F32, 3, 2),
                    more = pol_undef(POL_F32, 2, 3, 1), fewer = pol_undef(POL_F32, 2);
    assert_true(pol_undef_equal(&a, &same));
    assert_true(pol_undef_equal(&a, &a));
    assert_false(pol_undef_equal(&a, &type));
    assert_false(pol_undef_equal(&a, &dims));
    assert_false(pol_undef_equal(&a, &more));
    assert_false(pol_undef_equal(&a, &fewer));
}

static void undef_equal_tells_dims_of_zero_from_no_dims(void **state) /* U2 */
{
    (void)state;
    const pol_array scalar = pol_undef_scalar(POL_F32), one = pol_undef(POL_F32, 0),
                    two = pol_undef(POL_F32, 0, 0);
    assert_false(pol_undef_equal(&scalar, &one));
    assert_false(pol_undef_equal(&one, &two));
}

static void undef_equal_does_not_count_memory(void **state) /* U2 */
{
    (void)state;
    float f[6], g[6];
    const pol_array a = pol_wrap(f, POL_F32, 2, 3), b = pol_wrap(g, POL_F32, 2, 3),
                    c = pol_undef(POL_F32, 2, 3);
    pol_array owned;
    assert_ok(pol_alloc(pol_heap(), &owned, pol_undef(POL_F32, 2, 3)));
    assert_true(pol_undef_equal(&a, &b));
    assert_true(pol_undef_equal(&a, &c));
    assert_true(pol_undef_equal(&a, &owned));
    pol_release(&owned);
}

/* --- U3: types ------------------------------------------------------------------------------- */

static void assert_type(pol_type t, int code, int bits, size_t size, size_t align)
{
    assert_int_equal(t.code, code);
    assert_int_equal(t.bits, bits);
    assert_int_equal(t.lanes, 1);
    assert_int_equal(t.size, size);
    assert_int_equal(t.align, align);
}

static void type_constants_are_as_dlpack_has_them(void **state) /* U3 */
{
    (void)state;
    assert_type(POL_I8, 0, 8, 1, 1);
    assert_type(POL_I16, 0, 16, 2, 2);
    assert_type(POL_I32, 0, 32, 4, _Alignof(int32_t));
    assert_type(POL_I64, 0, 64, 8, _Alignof(int64_t));
    assert_type(POL_U8, 1, 8, 1, 1);
    assert_type(POL_U16, 1, 16, 2, 2);
    assert_type(POL_U32, 1, 32, 4, _Alignof(uint32_t));
    assert_type(POL_U64, 1, 64, 8, _Alignof(uint64_t));
    assert_type(POL_BOOL, 6, 8, 1, 1);
    assert_type(POL_F16, 2, 16, 2, 2);
    assert_type(POL_BF16, 4, 16, 2, 2);
    assert_type(POL_F32, 2, 32, 4, _Alignof(float));
    assert_type(POL_F64, 2, 64, 8, _Alignof(double));
    assert_type(POL_C64, 5, 64, 8, _Alignof(float));
    assert_type(POL_C128, 5, 128, 16, _Alignof(double));
    assert_type(POL_F8_E4M3FN, 10, 8, 1, 1);
    assert_type(POL_F8_E5M2, 12, 8, 1, 1);
}

static void type_packed_constants_have_no_size_of_their_own(void **state) /* U3 */
{
    (void)state;
    assert_type(POL_I4, 0, 4, 0, 1);
    assert_type(POL_U4, 1, 4, 0, 1);
    assert_type(POL_F4_E2M1, 17, 4, 0, 1);
}

static bool same_type(pol_type a, pol_type b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void type_of_a_c_type_is_the_constant(void **state) /* U3 */
{
    (void)state;
    assert_true(same_type(POL_TYPE_OF(int8_t), POL_I8));
    assert_true(same_type(POL_TYPE_OF(int16_t), POL_I16));
    assert_true(same_type(POL_TYPE_OF(int32_t), POL_I32));
    assert_true(same_type(POL_TYPE_OF(int64_t), POL_I64));
    assert_true(same_type(POL_TYPE_OF(uint8_t), POL_U8));
    assert_true(same_type(POL_TYPE_OF(uint16_t), POL_U16));
    assert_true(same_type(POL_TYPE_OF(uint32_t), POL_U32));
    assert_true(same_type(POL_TYPE_OF(uint64_t), POL_U64));
    assert_true(same_type(POL_TYPE_OF(bool), POL_BOOL));
    assert_true(same_type(POL_TYPE_OF(float), POL_F32));
    assert_true(same_type(POL_TYPE_OF(double), POL_F64));
#ifndef __STDC_NO_COMPLEX__
    assert_true(same_type(POL_TYPE_OF(float _Complex), POL_C64));
    assert_true(same_type(POL_TYPE_OF(double _Complex), POL_C128));
#endif
}

static void type_of_char_has_its_signedness(void **state) /* U3 */
{
    (void)state;
    const char minus = (char)-1;
    assert_type(POL_TYPE_OF(char), minus < 0 ? 0 : 1, 8, 1, 1);
}

struct rgb {
    uint8_t r, g, b;
};
struct line {
    _Alignas(64) char bytes[64];
};
struct big {
    double d[1000];
};

static void type_of_any_other_c_type_is_opaque(void **state) /* U3 */
{
    (void)state;
    assert_type(POL_TYPE_OF(struct rgb), 3, 0, 3, 1);
    assert_type(POL_TYPE_OF(struct line), 3, 0, 64, 64);
    assert_type(POL_TYPE_OF(struct big), 3, 0, 8000, _Alignof(double));
    assert_type(POL_TYPE_OF(void *), 3, 0, sizeof(void *), _Alignof(void *));
}

/* --- U4: sizes ------------------------------------------------------------------------------- */

static void assert_nbytes(pol_array a, unsigned long long expected)
{
    size_t n = 12345;
    assert_ok(pol_nbytes(&a, &n));
    assert_true(n == expected);
}

static void assert_len(pol_array a, int64_t expected)
{
    int64_t n = 12345;
    assert_ok(pol_len(&a, &n));
    assert_true(n == expected);
}

static void assert_no_nbytes(pol_array a, pol_status status)
{
    size_t n = 12345;
    assert_status(pol_nbytes(&a, &n), status);
    assert_int_equal(n, 12345); /* E3 */
}

static void assert_no_len(pol_array a, pol_status status)
{
    int64_t n = 12345;
    assert_status(pol_len(&a, &n), status);
    assert_int_equal(n, 12345); /* E3 */
}

static void size_is_the_product_of_dims_and_element(void **state) /* U4 */
{
    (void)state;
    assert_nbytes(pol_undef(POL_F32, 5), 20);
    assert_nbytes(pol_undef(POL_F32, 5, 7), 140);
    assert_nbytes(pol_undef(POL_C128, 2, 3, 4, 5, 6, 7, 8, 9), 16ULL * 362880);
    assert_nbytes(pol_undef(POL_TYPE_OF(struct rgb), 7), 21);
    assert_nbytes(pol_undef(POL_TYPE_OF(struct line), 3), 192);
}

static void size_of_a_scalar_is_one_element(void **state) /* U4 */
{
    (void)state;
    assert_nbytes(pol_undef_scalar(POL_F64), 8);
    assert_nbytes(pol_undef_scalar(POL_I4), 1);
    assert_len(pol_undef_scalar(POL_F64), 1);
}

static void size_of_an_absent_array_is_none(void **state) /* U4 */
{
    (void)state;
    pol_array a;
    memset(&a, 0, sizeof a);
    assert_nbytes(a, 0);
    assert_len(a, 0);
}

static void size_does_not_count_memory(void **state) /* U4 */
{
    (void)state;
    float f[6];
    assert_nbytes(pol_wrap(f, POL_F32, 2, 3), 24);
}

static void size_is_zero_whatever_stands_beside_a_zero_dim(void **state) /* U4, trap 5 */
{
    (void)state;
    const int64_t b = TWO(62);
    assert_nbytes(pol_undef(POL_F64, 0, b, b), 0);
    assert_nbytes(pol_undef(POL_F64, b, 0, b), 0);
    assert_nbytes(pol_undef(POL_F64, b, b, 0), 0);
    assert_nbytes(pol_undef(POL_F64, INT64_MAX, INT64_MAX, INT64_MAX, 0, INT64_MAX), 0);
    assert_nbytes(pol_undef(POL_F64, 0), 0);
    assert_nbytes(pol_undef(POL_I4, b, b, 0), 0);
    assert_len(pol_undef(POL_F64, 0, b, b), 0);
    assert_len(pol_undef(POL_F64, b, 0, b), 0);
    assert_len(pol_undef(POL_F64, b, b, 0), 0);
}

static void size_with_a_negative_dim_is_refused_also_beside_a_zero(void **state) /* U4, trap 5 */
{
    (void)state;
    const pol_array bad[] = {
        pol_undef(POL_F64, -1),
        pol_undef(POL_F64, -2, -3),
        pol_undef(POL_F64, -4, 2, 0),
        pol_undef(POL_F64, 0, -1),
        pol_undef(POL_I4, 0, -1),
        pol_undef(POL_F64, INT64_MIN),
        pol_undef(POL_F64, TWO(62), TWO(62), -1), /* not the overflow, whatever comes first */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_no_nbytes(bad[i], POL_EINVAL);
        assert_no_len(bad[i], POL_EINVAL);
    }
}

static void size_that_wraps_is_an_overflow(void **state) /* U4, trap 1 */
{
    (void)state;
    assert_no_nbytes(pol_undef(POL_F32, TWO(62) + 2), POL_EOVERFLOW);                  /* to 8 */
    assert_no_nbytes(pol_undef(POL_I32, TWO(32), TWO(32), 16), POL_EOVERFLOW);         /* to 0 */
    assert_no_nbytes(pol_undef(POL_F32, 4, 1073741823, 1073741825, 1), POL_EOVERFLOW); /* -16 */
    assert_no_nbytes(pol_undef(POL_U8, INT64_MAX, INT64_MAX), POL_EOVERFLOW);          /* to 1 */
    assert_no_nbytes(pol_undef(POL_U8, TWO(32), TWO(32)), POL_EOVERFLOW);              /* to 0 */
    assert_no_nbytes(pol_undef(POL_U8, TWO(16), TWO(16), TWO(16), TWO(16)), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_I4, TWO(32), TWO(33)), POL_EOVERFLOW); /* 2^65 elements */
    assert_no_nbytes(pol_undef(POL_I4, INT64_MAX, 3), POL_EOVERFLOW);
    /* 2^64 + 2 bytes, of which all but the last six elements are under 2^64 */
    assert_no_nbytes(pol_undef(POL_TYPE_OF(struct rgb), 6148914691236517206), POL_EOVERFLOW);
    /* 2^67 + 21 elements of half a byte */
    assert_no_nbytes(pol_undef(POL_I4, 23, 6416258808246800563), POL_EOVERFLOW);
}

static void size_past_ptrdiff_max_is_an_overflow(void **state) /* U4 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX;
    assert_no_nbytes(pol_undef(POL_U16, max / 2 + 1), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_F64, max / 8 + 1), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_C128, max / 16 + 1), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_TYPE_OF(struct rgb), max / 3 + 1), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_U8, 2, max / 2 + 1), POL_EOVERFLOW);
    assert_no_nbytes(pol_undef(POL_I4, 2, 2, max / 2 + 1), POL_EOVERFLOW);
}

static void size_that_fits_is_not_refused(void **state) /* U4 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX; /* 2^63 - 1 = 7 * 7 * 73 * 127 * 337 * 92737 * 649657 */
    assert_nbytes(pol_undef(POL_U8, max), PTRDIFF_MAX);
    assert_nbytes(pol_undef(POL_U16, max / 2), PTRDIFF_MAX - 1);
    assert_nbytes(pol_undef(POL_F64, max / 8), PTRDIFF_MAX - 7);
    assert_nbytes(pol_undef(POL_TYPE_OF(struct rgb), max / 3), (PTRDIFF_MAX / 3) * 3ULL);
    if (WIDE)
        assert_nbytes(pol_undef(POL_U8, 49, 73, 127, 337, 92737, 649657), PTRDIFF_MAX);
}

static void size_of_packed_types_rounds_the_whole_array_up(void **state) /* U4, trap 2 */
{
    (void)state;
    assert_nbytes(pol_undef(POL_I4, 5), 3);
    assert_nbytes(pol_undef(POL_I4, 1), 1);
    assert_nbytes(pol_undef(POL_I4, 2), 1);
    assert_nbytes(pol_undef(POL_I4, 0), 0);
    assert_nbytes(pol_undef(POL_I4, 3, 3), 5);
    assert_nbytes(pol_undef(POL_U4, 3, 3), 5);
    assert_nbytes(pol_undef(POL_F4_E2M1, 3, 3), 5);
}

static void size_of_packed_types_does_not_wrap_before_it_is_divided(void **state) /* U4, trap 2 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX;
    if (WIDE) {
        assert_nbytes(pol_undef(POL_I4, TWO(62)), 1ULL << 61);
        assert_nbytes(pol_undef(POL_I4, INT64_MAX), 1ULL << 62);
    }
    assert_nbytes(pol_undef(POL_I4, max), (unsigned long long)max / 2 + 1);
    assert_nbytes(pol_undef(POL_I4, 2, max), (unsigned long long)max); /* more than 2^63 elements */
    assert_no_nbytes(pol_undef(POL_I4, 2, max / 2 + 1, 2), POL_EOVERFLOW); /* one byte more */
}

static void size_with_too_many_dims_is_refused(void **state) /* U4 */
{
    (void)state;
    pol_array a = pol_undef(POL_F32, 1, 1, 1, 1, 1, 1, 1, 1);
    a.ndim = 9;
    assert_no_nbytes(a, POL_EINVAL);
    assert_no_len(a, POL_EINVAL);
    a.ndim = UINT16_MAX;
    assert_no_nbytes(a, POL_EINVAL);
    assert_no_len(a, POL_EINVAL);
}

static void size_of_a_type_that_is_none_is_refused(void **state) /* U4 */
{
    (void)state;
    pol_array no_align = pol_undef(POL_F32, 3), odd_align = no_align, no_size = no_align;
    no_align.type.align = 0;
    odd_align.type.align = 3; /* not a power of two */
    no_size.type.size = 0;    /* and not packed either */
    assert_no_nbytes(no_align, POL_EINVAL);
    assert_no_nbytes(odd_align, POL_EINVAL);
    assert_no_nbytes(no_size, POL_EINVAL);
}

static void len_is_the_product_of_the_dims(void **state) /* U4 */
{
    (void)state;
    assert_len(pol_undef(POL_F32, 5), 5);
    assert_len(pol_undef(POL_F32, 5, 7), 35);
    assert_len(pol_undef(POL_I4, 3, 3), 9);
    assert_len(pol_undef(POL_U8, PTRDIFF_MAX), PTRDIFF_MAX);
}

static void len_past_int64_max_is_an_overflow(void **state) /* U4 */
{
    (void)state;
    assert_no_len(pol_undef(POL_U8, TWO(32), TWO(31)), POL_EOVERFLOW);
    assert_no_len(pol_undef(POL_I4, 2, INT64_MAX), POL_EOVERFLOW); /* its bytes would fit */
    assert_no_len(pol_undef(POL_U8, TWO(32), TWO(32)), POL_EOVERFLOW);
    assert_no_len(pol_undef(POL_I32, TWO(32), TWO(32), 16), POL_EOVERFLOW);
    assert_no_len(pol_undef(POL_I4, 23, 6416258808246800563), POL_EOVERFLOW); /* 2^67 + 21 */
}

struct two {
    pol_array x, y;
};

/* Refused everywhere, by the size layer alone: nothing of it is written. */
static void assert_no_sum(struct two description)
{
    pol_arena real, dry;
    pol_space *const spaces[] = {pol_heap(), POL_SPACE(&real), POL_SPACE(&dry)};
    assert_ok(pol_arena_init(&real, test_slab(0), 4096, 16));
    assert_ok(pol_arena_measure(&dry, 16));
    for (int i = 0; i < 3; i++) {
        struct two dst;
        memset(&dst, 0x5a, sizeof dst);
        assert_status(pol_alloc(spaces[i], &dst, description), POL_EOVERFLOW);
        assert_true(same_bytes(dst.x, description.x)); /* E3: the description, no data */
        assert_true(same_bytes(dst.y, description.y));
    }
    assert_int_equal(pol_arena_offset(&real), 0);
    assert_int_equal(pol_watermark(&real), 0);
    assert_int_equal(pol_arena_offset(&dry), 0);
    assert_int_equal(pol_watermark(&dry), 0);
}

static void size_of_a_bundle_that_wraps_is_an_overflow(void **state) /* U4, trap 3 */
{
    (void)state;
    assert_no_sum(
        (struct two){pol_undef(POL_F32, 64), pol_undef(POL_F32, 4, 1073741823, 1073741825, 1)});
    assert_no_sum(
        (struct two){pol_undef(POL_F32, 4, 1073741823, 1073741825, 1), pol_undef(POL_F32, 64)});
}

static void size_of_a_bundle_past_ptrdiff_max_is_an_overflow(void **state) /* U4 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX;
    assert_no_sum((struct two){pol_undef(POL_U8, max), pol_undef(POL_U8, 1)});
    assert_no_sum((struct two){pol_undef(POL_U8, 1), pol_undef(POL_U8, max)});
    assert_no_sum((struct two){pol_undef(POL_U8, max / 2 + 1), pol_undef(POL_U8, max / 2 + 1)});
}

static void size_of_a_bundle_that_fits_is_not_an_overflow(void **state) /* U4 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX;
    pol_arena a;
    struct two dst;
    assert_ok(pol_arena_init(&a, test_slab(0), 4096, 1));
    assert_status(
        pol_alloc(&a, &dst, (struct two){pol_undef(POL_U8, 1), pol_undef(POL_U8, max - 1)}),
        POL_ECEILING);
}

static void size_of_a_bundle_does_not_count_what_has_memory(void **state) /* U4, S2 */
{
    (void)state;
    pol_arena a;
    struct two dst;
    assert_ok(pol_arena_init(&a, test_slab(0), 4096, 1));
    assert_ok(pol_alloc(
        &a, &dst,
        (struct two){pol_wrap(test_slab(0), POL_U8, PTRDIFF_MAX), pol_undef(POL_U8, 4096)}));
    assert_int_equal(pol_arena_offset(&a), 4096);
}

/* --- U5: data, wrap, reshape, parts ----------------------------------------------------------- */

static void data_is_the_elements(void **state) /* U5 */
{
    (void)state;
    float f[6];
    const pol_array a = pol_wrap(f, POL_F32, 2, 3);
    float *const p = pol_data(&a, float);
    assert_ptr_equal(p, f);
    assert_ptr_equal(pol_data(&a, int32_t), f); /* the size counts, not the type */
}

static void data_of_an_absent_array_is_null_and_no_error(void **state) /* U5 */
{
    (void)state;
    pol_array a;
    memset(&a, 0, sizeof a);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_data(&a, float));
    assert_string_equal(pol_last_error(), "untouched");
}

static void data_of_a_description_is_null_with_an_error(void **state) /* U5 */
{
    (void)state;
    const pol_array a = pol_undef(POL_F32, 3);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_data(&a, float));
    assert_string_not_equal(pol_last_error(), "untouched");
}

static void data_of_another_size_is_null_with_an_error(void **state) /* U5 */
{
    (void)state;
    float f[6];
    const pol_array a = pol_wrap(f, POL_F32, 2, 3);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_data(&a, double));
    assert_string_not_equal(pol_last_error(), "untouched");
    assert_null(pol_data(&a, char));
    assert_null(pol_data(&a, struct line));
}

static void data_of_a_packed_type_has_no_element(void **state) /* U5 */
{
    (void)state;
    unsigned char bytes[3];
    const pol_array a = pol_wrap(bytes, POL_I4, 5);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_null(pol_data(&a, unsigned char));
    assert_string_not_equal(pol_last_error(), "untouched");
    assert_ptr_equal(a.data, bytes);
}

static void wrap_is_an_array_over_the_pointer(void **state) /* U5 */
{
    (void)state;
    float f[6];
    const int64_t dims[] = {2, 3};
    pol_array expected = by_hand(POL_F32, 2, dims);
    expected.data = f;
    assert_true(same_bytes(pol_wrap(f, POL_F32, 2, 3), expected));
}

static void wrap_owns_nothing(void **state) /* U5, S4 */
{
    (void)state;
    float f[6] = {1, 2, 3, 4, 5, 6};
    pol_array a = pol_wrap(f, POL_F32, 2, 3);
    pol_release(&a);
    assert_ptr_equal(a.data, f);
    assert_true(f[5] > 5);
}

static void wrap_of_null_describes(void **state) /* U5 */
{
    (void)state;
    assert_true(same_bytes(pol_wrap(NULL, POL_F32, 2, 3), pol_undef(POL_F32, 2, 3)));
}

static void reshape_is_the_same_memory_in_another_shape(void **state) /* U5 */
{
    (void)state;
    float f[12];
    const pol_array a = pol_wrap(f, POL_F32, 3, 4);
    assert_true(same_bytes(pol_reshape(&a, 12), pol_wrap(f, POL_F32, 12)));
    assert_true(same_bytes(pol_reshape(&a, 2, 2, 3), pol_wrap(f, POL_F32, 2, 2, 3)));
    assert_true(same_bytes(pol_reshape(&a, 12, 1, 1, 1, 1, 1, 1, 1),
                           pol_wrap(f, POL_F32, 12, 1, 1, 1, 1, 1, 1, 1)));
    assert_ptr_equal(a.data, f);
    assert_int_equal(a.ndim, 2); /* the original stays */
}

static void reshape_keeps_the_kind_of_memory(void **state) /* U5, S3 */
{
    (void)state;
    struct test_space space;
    pol_array a;
    test_space_init(&space);
    assert_ok(pol_alloc(&space.space, &a, pol_undef(POL_F32, 3, 4)));
    const pol_array b = pol_reshape(&a, 12);
    assert_ptr_equal(pol_similar(&b), pol_similar(&a));
    pol_release(&a);
}

static void reshape_owns_nothing(void **state) /* U5, S4 */
{
    (void)state;
    struct test_space space;
    pol_array a, b;
    test_space_init(&space);
    assert_ok(pol_alloc(&space.space, &a, pol_undef(POL_F32, 3, 4)));
    b = pol_reshape(&a, 12);
    pol_release(&b);
    assert_int_equal(space.live, 1);
    assert_ptr_equal(b.data, a.data);
    pol_release(&a);
    test_space_assert_clean(&space);
}

static void reshape_of_no_elements_to_no_elements(void **state) /* U5 */
{
    (void)state;
    float f[1];
    const pol_array a = pol_wrap(f, POL_F32, 0, 5);
    assert_true(same_bytes(pol_reshape(&a, 7, 0, 3), pol_wrap(f, POL_F32, 7, 0, 3)));
}

static void reshape_of_a_scalar_to_one_element(void **state) /* U5 */
{
    (void)state;
    float f = 1;
    pol_array a = pol_undef_scalar(POL_F32);
    a.data = &f;
    assert_true(same_bytes(pol_reshape(&a, 1, 1), pol_wrap(&f, POL_F32, 1, 1)));
}

static void assert_absent_with_error(pol_array a)
{
    assert_true(all_zero(&a, sizeof a));
    assert_string_not_equal(pol_last_error(), "untouched");
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
}

static void reshape_to_another_count_is_absent_with_an_error(void **state) /* U5 */
{
    (void)state;
    float f[12];
    const pol_array a = pol_wrap(f, POL_F32, 3, 4), none = pol_wrap(f, POL_F32, 0);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_absent_with_error(pol_reshape(&a, 11));
    assert_absent_with_error(pol_reshape(&a, 13));
    assert_absent_with_error(pol_reshape(&a, 3, 4, 2));
    assert_absent_with_error(pol_reshape(&a, 0));
    assert_absent_with_error(pol_reshape(&a, -3, -4));
    assert_absent_with_error(pol_reshape(&a, TWO(32) * 3, TWO(32) * 4)); /* wraps to 0 */
    assert_absent_with_error(pol_reshape(&a, TWO(62) + 3, 4));           /* wraps to 12 */
    assert_absent_with_error(pol_reshape(&none, 1));
    assert_absent_with_error(pol_reshape(&none, 0, -1));
}

static void wrap_scalar_is_one_element_over_the_pointer(void **state) /* U5 */
{
    (void)state;
    float f = 3;
    pol_array expected = by_hand(POL_F32, 0, (const int64_t[]){0});
    expected.data = &f;
    assert_true(same_bytes(pol_wrap_scalar(&f, POL_F32), expected));
    assert_true(same_bytes(pol_wrap_scalar(NULL, POL_F32), pol_undef_scalar(POL_F32)));
}

static void wrap_scalar_owns_nothing(void **state) /* U5, S4 */
{
    (void)state;
    float f = 3;
    pol_array a = pol_wrap_scalar(&f, POL_F32);
    pol_release(&a);
    assert_ptr_equal(a.data, &f);
}

static void index_is_an_entry_along_the_first_dim(void **state) /* U5 */
{
    (void)state;
    float f[2][3][4];
    const pol_array a = pol_wrap(f, POL_F32, 2, 3, 4), before = a;
    const pol_array matrix = pol_index(&a, 1), row = pol_index(&matrix, 2);
    assert_true(same_bytes(pol_index(&a, 0), pol_wrap(f[0], POL_F32, 3, 4)));
    assert_true(same_bytes(matrix, pol_wrap(f[1], POL_F32, 3, 4)));
    assert_true(same_bytes(row, pol_wrap(f[1][2], POL_F32, 4)));
    assert_true(same_bytes(pol_index(&row, 3), pol_wrap_scalar(&f[1][2][3], POL_F32)));
    assert_true(same_bytes(a, before)); /* the original stays */
}

static void index_of_eight_dims_has_seven(void **state) /* U5, U2: the last one is zero */
{
    (void)state;
    char bytes[512];
    const pol_array a = pol_wrap(bytes, POL_U8, 2, 2, 2, 2, 2, 2, 2, 4);
    assert_true(same_bytes(pol_index(&a, 1), pol_wrap(bytes + 256, POL_U8, 2, 2, 2, 2, 2, 2, 4)));
}

static void slice_is_a_range_of_entries_with_all_dims(void **state) /* U5 */
{
    (void)state;
    struct rgb c[5][3];
    const pol_array a = pol_wrap(c, POL_TYPE_OF(struct rgb), 5, 3), before = a;
    assert_true(same_bytes(pol_slice(&a, 1, 3), pol_wrap(c[1], POL_TYPE_OF(struct rgb), 3, 3)));
    assert_true(same_bytes(pol_slice(&a, 4, 1), pol_wrap(c[4], POL_TYPE_OF(struct rgb), 1, 3)));
    assert_true(same_bytes(pol_slice(&a, 0, 5), a));
    assert_true(same_bytes(a, before)); /* the original stays */
}

static void slice_of_no_entries_may_begin_anywhere(void **state) /* U5, U1 */
{
    (void)state;
    float f[3][4];
    unsigned char bytes[3];
    const pol_array a = pol_wrap(f, POL_F32, 3, 4), packed = pol_wrap(bytes, POL_I4, 5);
    assert_true(same_bytes(pol_slice(&a, 0, 0), pol_wrap(f, POL_F32, 0, 4)));
    assert_true(same_bytes(pol_slice(&a, 2, 0), pol_wrap(f[2], POL_F32, 0, 4)));
    assert_true(same_bytes(pol_slice(&a, 3, 0), pol_wrap(f + 3, POL_F32, 0, 4)));
    for (int64_t i = 0; i <= 5; i++) { /* also within a byte */
        const pol_array none = pol_slice(&packed, i, 0);
        assert_true(pol_undef_equal(&none, &(pol_array){.type = POL_I4, .ndim = 1}));
        assert_ptr_equal(none.data, bytes + (i + 1) / 2);
    }
}

static void parts_of_a_description_are_descriptions(void **state) /* U5 */
{
    (void)state;
    const pol_array a = pol_undef(POL_F32, 5, 3), packed = pol_undef(POL_I4, 4, 2);
    assert_true(same_bytes(pol_index(&a, 4), pol_undef(POL_F32, 3)));
    assert_true(same_bytes(pol_slice(&a, 2, 3), pol_undef(POL_F32, 3, 3)));
    assert_true(same_bytes(pol_index(&packed, 3), pol_undef(POL_I4, 2)));
}

static void parts_of_an_absent_array_are_absent_and_no_error(void **state) /* U5 */
{
    (void)state;
    const pol_array none = {0};
    const pol_array parts[] = {pol_index(&none, 7), pol_slice(&none, 7, -1), pol_index(NULL, 0),
                               pol_slice(NULL, 0, 1)};
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    for (size_t i = 0; i < 4; i++)
        assert_true(all_zero(&parts[i], sizeof parts[i]));
    (void)pol_index(&none, 7);
    (void)pol_slice(NULL, -1, -1);
    assert_string_equal(pol_last_error(), "untouched");
}

static void parts_own_nothing_and_keep_the_kind_of_memory(void **state) /* U5, S3, S4 */
{
    (void)state;
    struct test_space space;
    pol_array a;
    test_space_init(&space);
    assert_ok(pol_alloc(&space.space, &a, pol_undef(POL_F32, 3, 4)));
    pol_array parts[] = {pol_index(&a, 0), pol_index(&a, 2), pol_slice(&a, 0, 3)};
    for (size_t i = 0; i < 3; i++) {
        void *const data = parts[i].data;
        assert_ptr_equal(pol_similar(&parts[i]), &space.space);
        pol_release(&parts[i]);
        assert_ptr_equal(parts[i].data, data);
        assert_int_equal(space.live, 1);
    }
    pol_release(&a);
    test_space_assert_clean(&space);
}

static void parts_of_an_array_without_elements_are_materialized(void **state) /* U5, U1 */
{
    (void)state;
    float f[1];
    const pol_array wide = pol_wrap(f, POL_F32, 3, 0), none = pol_wrap(f, POL_F32, 0, 3),
                    huge = pol_wrap(f, POL_F32, INT64_MAX, 0, INT64_MAX),
                    packed = pol_wrap(f, POL_I4, 3, 3, 0);
    assert_true(same_bytes(pol_index(&wide, 2), pol_wrap(f, POL_F32, 0)));
    assert_true(same_bytes(pol_slice(&wide, 1, 2), pol_wrap(f, POL_F32, 2, 0)));
    assert_true(same_bytes(pol_slice(&none, 0, 0), none));
    assert_true(same_bytes(pol_index(&huge, INT64_MAX - 1), pol_wrap(f, POL_F32, 0, INT64_MAX)));
    assert_true(same_bytes(pol_index(&packed, 1), pol_wrap(f, POL_I4, 3, 0)));
}

static void parts_outside_the_first_dim_are_absent_with_an_error(void **state) /* U5 */
{
    (void)state;
    float f[3][4];
    const pol_array made = pol_wrap(f, POL_F32, 3, 4), none = pol_wrap(f, POL_F32, 0, 4);
    const pol_array described = pol_undef_like(&made);
    const pol_array *const both[] = {&made, &described};
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    for (int i = 0; i < 2; i++) {
        assert_absent_with_error(pol_index(both[i], -1));
        assert_absent_with_error(pol_index(both[i], 3));
        assert_absent_with_error(pol_index(both[i], INT64_MAX));
        assert_absent_with_error(pol_index(both[i], INT64_MIN));
        assert_absent_with_error(pol_slice(both[i], 0, 4));
        assert_absent_with_error(pol_slice(both[i], 3, 1));
        assert_absent_with_error(pol_slice(both[i], 4, 0));
        assert_absent_with_error(pol_slice(both[i], -1, 2));
        assert_absent_with_error(pol_slice(both[i], 2, -1));
        assert_absent_with_error(pol_slice(both[i], 1, INT64_MAX)); /* their sum wraps */
        assert_absent_with_error(pol_slice(both[i], INT64_MAX, INT64_MAX));
        assert_absent_with_error(pol_slice(both[i], INT64_MIN, INT64_MIN));
        assert_absent_with_error(pol_slice(both[i], INT64_MIN, INT64_MAX));
    }
    assert_absent_with_error(pol_index(&none, 0));
    (void)pol_index(&made, -1);
    assert_error_says("pol_index: asked for 1 from entry -1 on, f32 [3, 4] has 3");
    (void)pol_slice(&made, 2, 5);
    assert_error_says("pol_slice: asked for 5 from entry 2 on, f32 [3, 4] has 3");
}

static void parts_of_a_scalar_are_absent_with_an_error(void **state) /* U5 */
{
    (void)state;
    float f;
    const pol_array a = pol_wrap_scalar(&f, POL_F32);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_absent_with_error(pol_index(&a, 0));
    assert_absent_with_error(pol_slice(&a, 0, 1));
    assert_absent_with_error(pol_slice(&a, 0, 0));
}

static void parts_of_what_has_no_size_are_absent_with_an_error(void **state) /* U5, U4 */
{
    (void)state;
    float f[3];
    pol_array bad[] = {pol_wrap(f, POL_F32, 3, -1), pol_wrap(f, POL_F32, 3, 0, -1),
                       pol_undef(POL_F32, INT64_MAX, INT64_MAX),
                       pol_wrap(f, POL_TYPE_(POL_CODE_FLOAT, 32, 4, 3), 3),
                       pol_wrap(f, POL_F32, 3)};
    bad[4].ndim = 9;
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    for (size_t i = 0; i < 5; i++) {
        assert_absent_with_error(pol_index(&bad[i], 0)); /* whichever it is */
        assert_absent_with_error(pol_index(&bad[i], 2));
        assert_absent_with_error(pol_slice(&bad[i], 0, 0));
    }
}

static void parts_of_packed_types_begin_a_byte(void **state) /* U5 */
{
    (void)state;
    unsigned char bytes[8];
    const pol_array even = pol_wrap(bytes, POL_I4, 4, 4), odd = pol_wrap(bytes, POL_I4, 3, 3),
                    row = pol_wrap(bytes, POL_I4, 9);
    assert_true(same_bytes(pol_index(&even, 3), pol_wrap(bytes + 6, POL_I4, 4)));
    assert_true(same_bytes(pol_slice(&even, 1, 2), pol_wrap(bytes + 2, POL_I4, 2, 4)));
    assert_true(same_bytes(pol_index(&odd, 0), pol_wrap(bytes, POL_I4, 3)));
    assert_true(same_bytes(pol_index(&odd, 2), pol_wrap(bytes + 3, POL_I4, 3)));
    assert_true(same_bytes(pol_slice(&row, 4, 5), pol_wrap(bytes + 2, POL_I4, 5)));
    assert_true(same_bytes(pol_index(&row, 6), pol_wrap_scalar(bytes + 3, POL_I4)));
}

static void parts_of_packed_types_within_a_byte_are_absent_with_an_error(void **state) /* U5 */
{
    (void)state;
    unsigned char bytes[8];
    const pol_array odd = pol_wrap(bytes, POL_I4, 3, 3), row = pol_wrap(bytes, POL_F4_E2M1, 9),
                    described = pol_undef(POL_U4, 3, 3);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_absent_with_error(pol_index(&odd, 1));
    assert_absent_with_error(pol_slice(&odd, 1, 2));
    assert_absent_with_error(pol_index(&row, 7));
    assert_absent_with_error(pol_slice(&row, 1, 1));
    assert_absent_with_error(pol_index(&described, 1));
    (void)pol_index(&odd, 1);
    assert_error_says("entry 1 of i4 [3, 3] begins within a byte");
}

static void parts_lie_where_they_lie_in_the_largest_arrays(void **state) /* U5, U4, A6 */
{
    (void)state;
    const int64_t max = PTRDIFF_MAX;
    pol_arena dry;
    pol_array bytes, packed;
    assert_ok(pol_arena_measure(&dry, 16)); /* no address is followed */
    assert_ok(pol_alloc(&dry, &bytes, pol_undef(POL_U8, max)));
    const pol_array last = pol_index(&bytes, max - 1), rest = pol_slice(&bytes, 1, max - 1);
    assert_true((uintptr_t)last.data - (uintptr_t)bytes.data == (uintptr_t)max - 1);
    assert_true((uintptr_t)rest.data - (uintptr_t)bytes.data == 1);
    assert_true(rest.dims[0] == max - 1);
    assert_true(pol_is_measuring(pol_similar(&last)));
    assert_ok(pol_reset(&dry)); /* 2 * max elements of half a byte */
    assert_ok(pol_alloc(&dry, &packed, pol_undef(POL_I4, max, 2)));
    const pol_array pair = pol_index(&packed, max - 1);
    assert_true((uintptr_t)pair.data - (uintptr_t)packed.data == (uintptr_t)max - 1);
}

static void part_is_an_output_to_write_to(void **state) /* U5, S2: it passes through */
{
    (void)state;
    float f[2][3] = {{0}};
    const pol_array a = pol_wrap(f, POL_F32, 2, 3);
    pol_array row;
    assert_ok(pol_alloc(pol_heap(), &row, pol_index(&a, 1)));
    pol_data(&row, float)[2] = 7;
    pol_release(&row);
    assert_true(f[1][2] == 7);
}

/* --- U2, U5: many of one, bundles as arrays, arguments ---------------------------------------- */

static void stack_has_one_dim_more_in_front(void **state) /* U2 */
{
    (void)state;
    float f[6];
    const pol_array x = pol_undef(POL_F32, 2, 3), one = pol_undef_scalar(POL_I64),
                    owned = pol_wrap(f, POL_F32, 6), none = pol_undef(POL_U8, 0, 4);
    assert_true(same_bytes(pol_undef_stack(&x, 5), pol_undef(POL_F32, 5, 2, 3)));
    assert_true(same_bytes(pol_undef_stack(&one, 5), pol_undef(POL_I64, 5)));
    assert_true(same_bytes(pol_undef_stack(&owned, 5), pol_undef(POL_F32, 5, 6))); /* no memory */
    assert_true(same_bytes(pol_undef_stack(&none, 5), pol_undef(POL_U8, 5, 0, 4)));
    assert_true(same_bytes(pol_undef_stack(&x, 0), pol_undef(POL_F32, 0, 2, 3)));
}

static void stack_is_what_index_takes_apart(void **state) /* U2, U5 */
{
    (void)state;
    const pol_array x = pol_undef(POL_F32, 1, 2, 3, 4, 5, 6, 7), all = pol_undef_stack(&x, 4);
    assert_int_equal(all.ndim, 8);
    assert_true(same_bytes(pol_index(&all, 3), x));
}

static void stack_of_an_absent_array_is_absent(void **state) /* U2 */
{
    (void)state;
    const pol_array x = {0}, y = pol_undef_stack(&x, 3), z = pol_undef_stack(NULL, -1);
    assert_true(all_zero(&y, sizeof y));
    assert_true(all_zero(&z, sizeof z));
}

static void stack_that_is_no_array_is_refused_where_its_size_is(void **state) /* U2, U4 */
{
    (void)state;
    const pol_array eight = pol_undef(POL_U8, 1, 1, 1, 1, 1, 1, 1, 1), x = pol_undef(POL_U8, 3);
    pol_array nine = pol_undef_stack(&eight, 1), most = eight;
    const pol_array negative = pol_undef_stack(&x, -1);
    size_t n = 0;
    assert_status(pol_nbytes(&nine, &n), POL_EINVAL);
    assert_error_says("has 9 dims");
    nine = pol_undef_stack(&nine, 1); /* nor does the number of dims come round */
    assert_status(pol_nbytes(&nine, &n), POL_EINVAL);
    most.ndim = UINT16_MAX;
    most = pol_undef_stack(&most, 1);
    assert_status(pol_nbytes(&most, &n), POL_EINVAL);
    assert_status(pol_nbytes(&negative, &n), POL_EINVAL);
    assert_error_says("is negative");
}

static void stack_of_a_packed_type_is_rounded_up_once(void **state) /* U2, U4 */
{
    (void)state;
    const pol_array x = pol_undef(POL_I4, 3), two = pol_undef_stack(&x, 2);
    assert_int_equal(test_nbytes(&x), 2);
    assert_int_equal(test_nbytes(&two), 3);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_absent_with_error(pol_index(&two, 1));
}

struct inner {
    pol_array b, c;
};
struct bundle {
    pol_array a;
    struct inner in;
    pol_array last[2];
};

_Static_assert(pol_count_arrays((struct bundle *)NULL) == 5, "a constant");
_Static_assert(pol_count_arrays((const struct inner *)NULL) == 2, "of a const bundle too");
_Static_assert(_Generic(pol_count_arrays((pol_array *)NULL), size_t : 1, default : 0), "a size_t");

static void bundle_is_its_arrays_in_order(void **state) /* U1, S2 */
{
    (void)state;
    struct bundle x = {.in.c = pol_undef(POL_F32, 3)};
    assert_int_equal(pol_count_arrays(&x), 5);
    assert_ptr_equal(&pol_arrays(&x)[0], &x.a);
    assert_ptr_equal(&pol_arrays(&x)[1], &x.in.b);
    assert_ptr_equal(&pol_arrays(&x)[2], &x.in.c);
    assert_ptr_equal(&pol_arrays(&x)[4], &x.last[1]);
    pol_arrays(&x)[4] = pol_undef(POL_I8, 7); /* may be written */
    assert_true(same_bytes(x.last[1], pol_undef(POL_I8, 7)));
    assert_ptr_equal(pol_arrays(&x.a), &x.a); /* an array is a bundle of one */
    assert_int_equal(pol_count_arrays(&x.a), 1);
    assert_int_equal(pol_count_arrays(&x.last), 2);
    assert_ptr_equal(pol_arrays(&x.last), x.last);
}

static void bundle_that_is_const_is_const_arrays(void **state) /* trap 32 */
{
    (void)state;
    struct bundle x = {.a = {0}};
    const struct bundle *const y = &x;
    assert_true(_Generic(pol_arrays(&x), pol_array * : 1, default : 0));
    assert_true(_Generic(pol_arrays(y), const pol_array * : 1, default : 0));
    assert_ptr_equal(pol_arrays(y), &x.a);
}

static struct bundle *next_bundle(struct bundle **at)
{
    return (*at)++;
}

static void bundle_is_evaluated_once(void **state) /* S2 */
{
    (void)state;
    struct bundle two[2] = {0}, *at = two;
    assert_ptr_equal(pol_arrays(next_bundle(&at)), &two[0].a);
    assert_ptr_equal(at, &two[1]);
    assert_int_equal(pol_count_arrays(next_bundle(&at)), 5); /* and the count not at all */
    assert_ptr_equal(at, &two[1]);
}

static void expect_takes_memory_of_the_type_and_the_shape(void **state) /* U5 */
{
    (void)state;
    float f[6];
    const pol_array x = pol_wrap(f, POL_F32, 2, 3), one = pol_wrap_scalar(f, POL_F32),
                    none = pol_wrap(f, POL_F32, 0);
    assert_int_equal(pol_fail(POL_EUSER, "untouched"), POL_EUSER);
    assert_ok(pol_expect("x", &x, pol_undef(POL_F32, 2, 3)));
    assert_ok(pol_expect("x", &x, x)); /* memory of what is needed does not count */
    assert_ok(pol_expect("one", &one, pol_undef_scalar(POL_F32)));
    assert_ok(pol_expect("none", &none, pol_undef(POL_F32, 0)));
    assert_string_equal(pol_last_error(), "untouched");
}

static void expect_says_what_there_is_and_what_is_needed(void **state) /* U5, E1, E2 */
{
    (void)state;
    float f[6];
    const pol_array x = pol_wrap(f, POL_F32, 2, 3);
    assert_status(pol_expect("linear: x", &x, pol_undef(POL_F32, 2, 4)), POL_EINVAL);
    assert_string_equal(pol_last_error(), "linear: x: have f32 [2, 3], need f32 [2, 4]");
    assert_status(pol_expect("linear: x", &x, pol_undef(POL_I32, 2, 3)), POL_EINVAL);
    assert_string_equal(pol_last_error(), "linear: x: have f32 [2, 3], need i32 [2, 3]");
    assert_status(pol_expect("linear: x", &x, pol_undef(POL_F32, 6)), POL_EINVAL);
    assert_status(pol_expect("linear: x", &x, pol_undef(POL_F32, 2, 3, 1)), POL_EINVAL);
    assert_string_equal(pol_last_error(), "linear: x: have f32 [2, 3], need f32 [2, 3, 1]");
    assert_status(pol_expect(NULL, &x, pol_undef_scalar(POL_F32)), POL_EINVAL);
    assert_string_equal(pol_last_error(), "argument: have f32 [2, 3], need f32 []");
    pol_array strict = pol_undef_like(&x);
    strict.type.align = 64;
    assert_status(pol_expect("linear: x", &x, strict), POL_EINVAL);
    assert_error_says("f32 [2, 3] of alignment 4, need alignment 64");
}

static void expect_refuses_what_has_no_memory(void **state) /* U5, E1, E2 */
{
    (void)state;
    const pol_array x = pol_undef(POL_F32, 2, 4), absent = {0};
    assert_status(pol_expect("linear: w", &x, x), POL_EINVAL);
    assert_string_equal(pol_last_error(),
                        "linear: w: f32 [2, 4] has no memory; materialize it first");
    assert_status(pol_expect("linear: w", &x, pol_undef(POL_F32, 3)), POL_EINVAL);
    assert_string_equal(pol_last_error(), "linear: w: have f32 [2, 4], need f32 [3]");
    assert_status(pol_expect("linear: w", &absent, x), POL_EINVAL);
    assert_string_equal(pol_last_error(), "linear: w: is absent, need f32 [2, 4]");
    assert_status(pol_expect("linear: w", NULL, x), POL_EINVAL);
    assert_status(pol_expect("linear: w", &absent, absent), POL_EINVAL);
    assert_error_says("linear: w: is absent");
    float f[8];
    const pol_array wrapped = pol_wrap(f, POL_F32, 2, 4);
    assert_status(pol_expect("linear: w", &wrapped, absent), POL_EINVAL);
    assert_error_says("what it is to fit");
}

static void queries_take_const(void **state) /* trap 32 */
{
    (void)state;
    static const pol_array a = {.type = {2, 32, 1, 4, 4}, .ndim = 1, .dims = {3}};
    size_t n;
    int64_t len;
    assert_ok(pol_nbytes(&a, &n));
    assert_ok(pol_len(&a, &len));
    assert_true(pol_undef_equal(&a, &a));
    assert_true(pol_is_undef(&a));
    assert_false(pol_is_absent(&a) || pol_is_array(&a));
    assert_null(pol_data(&a, float));
    assert_true(same_bytes(pol_index(&a, 1), pol_undef_scalar(POL_F32)));
    assert_true(same_bytes(pol_slice(&a, 1, 2), pol_undef(POL_F32, 2)));
}

#define T(test) cmocka_unit_test_teardown(test, test_clear_ambient)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(array_of_zero_bytes_is_absent),
        T(array_that_is_null_counts_as_absent),
        T(array_with_type_and_no_data_is_described),
        T(array_with_data_is_materialized),
        T(array_without_elements_is_materialized_too),
        T(array_is_copied_by_assignment),
        T(undef_has_the_type_and_the_dims),
        T(undef_holds_dims_of_64_bits),
        T(undef_scalar_has_no_dims),
        T(undef_takes_no_memory_and_reports_nothing),
        T(undef_like_is_the_description_alone),
        T(undef_like_type_changes_the_type_alone),
        T(undef_like_dims_changes_the_shape_alone),
        T(undef_like_an_absent_array_is_absent),
        T(undef_equal_descriptions_are_equal_bytes),
        T(undef_different_descriptions_are_different_bytes),
        T(undef_equal_compares_type_and_shape),
        T(undef_equal_tells_dims_of_zero_from_no_dims),
        T(undef_equal_does_not_count_memory),
        T(type_constants_are_as_dlpack_has_them),
        T(type_packed_constants_have_no_size_of_their_own),
        T(type_of_a_c_type_is_the_constant),
        T(type_of_char_has_its_signedness),
        T(type_of_any_other_c_type_is_opaque),
        T(size_is_the_product_of_dims_and_element),
        T(size_of_a_scalar_is_one_element),
        T(size_of_an_absent_array_is_none),
        T(size_does_not_count_memory),
        T(size_is_zero_whatever_stands_beside_a_zero_dim),
        T(size_with_a_negative_dim_is_refused_also_beside_a_zero),
        T(size_that_wraps_is_an_overflow),
        T(size_past_ptrdiff_max_is_an_overflow),
        T(size_that_fits_is_not_refused),
        T(size_of_packed_types_rounds_the_whole_array_up),
        T(size_of_packed_types_does_not_wrap_before_it_is_divided),
        T(size_with_too_many_dims_is_refused),
        T(size_of_a_type_that_is_none_is_refused),
        T(len_is_the_product_of_the_dims),
        T(len_past_int64_max_is_an_overflow),
        T(size_of_a_bundle_that_wraps_is_an_overflow),
        T(size_of_a_bundle_past_ptrdiff_max_is_an_overflow),
        T(size_of_a_bundle_that_fits_is_not_an_overflow),
        T(size_of_a_bundle_does_not_count_what_has_memory),
        T(data_is_the_elements),
        T(data_of_an_absent_array_is_null_and_no_error),
        T(data_of_a_description_is_null_with_an_error),
        T(data_of_another_size_is_null_with_an_error),
        T(data_of_a_packed_type_has_no_element),
        T(wrap_is_an_array_over_the_pointer),
        T(wrap_owns_nothing),
        T(wrap_of_null_describes),
        T(reshape_is_the_same_memory_in_another_shape),
        T(reshape_keeps_the_kind_of_memory),
        T(reshape_owns_nothing),
        T(reshape_of_no_elements_to_no_elements),
        T(reshape_of_a_scalar_to_one_element),
        T(reshape_to_another_count_is_absent_with_an_error),
        T(wrap_scalar_is_one_element_over_the_pointer),
        T(wrap_scalar_owns_nothing),
        T(index_is_an_entry_along_the_first_dim),
        T(index_of_eight_dims_has_seven),
        T(slice_is_a_range_of_entries_with_all_dims),
        T(slice_of_no_entries_may_begin_anywhere),
        T(parts_of_a_description_are_descriptions),
        T(parts_of_an_absent_array_are_absent_and_no_error),
        T(parts_own_nothing_and_keep_the_kind_of_memory),
        T(parts_of_an_array_without_elements_are_materialized),
        T(parts_outside_the_first_dim_are_absent_with_an_error),
        T(parts_of_a_scalar_are_absent_with_an_error),
        T(parts_of_what_has_no_size_are_absent_with_an_error),
        T(parts_of_packed_types_begin_a_byte),
        T(parts_of_packed_types_within_a_byte_are_absent_with_an_error),
        T(parts_lie_where_they_lie_in_the_largest_arrays),
        T(part_is_an_output_to_write_to),
        T(stack_has_one_dim_more_in_front),
        T(stack_is_what_index_takes_apart),
        T(stack_of_an_absent_array_is_absent),
        T(stack_that_is_no_array_is_refused_where_its_size_is),
        T(stack_of_a_packed_type_is_rounded_up_once),
        T(bundle_is_its_arrays_in_order),
        T(bundle_that_is_const_is_const_arrays),
        T(bundle_is_evaluated_once),
        T(expect_takes_memory_of_the_type_and_the_shape),
        T(expect_says_what_there_is_and_what_is_needed),
        T(expect_refuses_what_has_no_memory),
        T(queries_take_const),
    };
    return cmocka_run_group_tests_name("undef", tests, NULL, NULL);
}

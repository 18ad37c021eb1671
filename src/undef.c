/* SPDX-License-Identifier: MIT */

/*
 * Sizes, in one place, and descriptions in words.
 *
 * The number of elements is kept as groups of eight and a rest, because a packed type's array may
 * have more elements than 64 bits count and still fit: i4 [2^63 - 2, 2] is under 2^63 bytes. With
 * `bits` the bits of an element, the bytes are groups * bits + ceil(rest * bits / 8), which is
 * exact for packed types and for whole bytes alike. Every product and sum is checked before it is
 * formed. Dims are at least 1 when they are multiplied, so a partial product never exceeds the
 * whole and a refusal is always right.
 */

#include "internal.h"

#include <stdio.h>
#include <string.h>

typedef struct tally {
    uint64_t groups; /* of eight elements */
    uint64_t rest;   /* 0 to 7 */
} tally;

static bool multiply(uint64_t x, uint64_t y, uint64_t *product)
{
    /* the division is for factors that could overflow, and few can */
    if ((x | y) >> 32 != 0 && y != 0 && x > UINT64_MAX / y)
        return false;
    *product = x * y;
    return true;
}

static bool add(uint64_t x, uint64_t y, uint64_t *sum)
{
    if (x > UINT64_MAX - y)
        return false;
    *sum = x + y;
    return true;
}

static bool is_type(const pol_type *type)
{
    if (type->lanes == 0 || !pol_is_power_of_two_(type->align))
        return false;
    if (type->code == POL_CODE_OPAQUE)
        return type->size != 0;
    const uint64_t bits = pol_bits_(type);
    return bits != 0 && type->size == (bits % 8 == 0 ? bits / 8 : 0);
}

/* Refuses what is no description; else says whether there are no elements. */
static pol_status check(const pol_array *a, bool *empty)
{
    static const pol_type none = {0, 0, 0, 0, 0};
    char text[POL_DESCRIBE_MAX_];
    if (!a)
        return pol_fail(POL_EINVAL, "array: is NULL; give the address of a description");
    if (a->ndim > POL_MAX_NDIM)
        return pol_fail(POL_EINVAL,
                        "array: has %u dims, at most %d are possible; make it by pol_undef",
                        (unsigned)a->ndim, POL_MAX_NDIM);
    *empty = a->ndim == 0 && memcmp(&a->type, &none, sizeof none) == 0; /* absent */
    if (*empty)
        return POL_OK;
    if (!is_type(&a->type))
        return pol_fail(POL_EINVAL,
                        "array: %s is not of a valid type (code %u, bits %u, lanes %u, size %u, "
                        "align %u); use a POL_ constant or POL_TYPE_OF",
                        pol_describe_(text, a), a->type.code, a->type.bits, a->type.lanes,
                        (unsigned)a->type.size, (unsigned)a->type.align);
    for (unsigned i = 0; i < a->ndim; i++) {
        if (a->dims[i] < 0)
            return pol_fail(POL_EINVAL, "array: dim %u of %s is negative; dims are 0 or more", i,
                            pol_describe_(text, a));
        if (a->dims[i] == 0)
            *empty = true;
    }
    return POL_OK;
}

/* Multiplies the dims of a checked array without a zero; false past 2^67. */
static bool count_elements(const pol_array *a, tally *n)
{
    n->groups = 0;
    n->rest = 1;
    for (unsigned i = 0; i < a->ndim; i++) {
        const uint64_t dim = (uint64_t)a->dims[i];
        const uint64_t low = n->rest * (dim % 8); /* at most 49 */
        /* rest * (dim / 8) is at most 7 * 2^60 */
        if (!multiply(n->groups, dim, &n->groups) ||
            !add(n->groups, n->rest * (dim / 8) + low / 8, &n->groups))
            return false;
        n->rest = low % 8;
    }
    return true;
}

static POL_NOINLINE_ pol_status count_nbytes(const pol_array *a, size_t *nbytes)
{
    bool empty = false;
    tally n;
    uint64_t bytes;
    POL_TRY(check(a, &empty));
    if (!nbytes)
        return pol_fail(POL_EINVAL, "pol_nbytes: the result's address is NULL");
    if (empty) {
        *nbytes = 0;
        return POL_OK;
    }
    const uint64_t bits = pol_bits_(&a->type); /* under 2^36 */
    if (!count_elements(a, &n) || !multiply(n.groups, bits, &bytes) ||
        !add(bytes, (n.rest * bits + 7) / 8, &bytes) || bytes > PTRDIFF_MAX) {
        char text[POL_DESCRIBE_MAX_];
        return pol_fail(
            POL_EOVERFLOW,
            "array: %s needs more than %td bytes, which no address space holds; make it smaller",
            pol_describe_(text, a), PTRDIFF_MAX);
    }
    *nbytes = (size_t)bytes;
    return POL_OK;
}

pol_status pol_nbytes(const pol_array *a, size_t *nbytes)
{
    if (POL_LIKELY_(a && nbytes && pol_nbytes_small_(a, nbytes)))
        return POL_OK;
    return count_nbytes(a, nbytes);
}

pol_status pol_len(const pol_array *a, int64_t *len)
{
    bool empty = false;
    tally n;
    POL_TRY(check(a, &empty));
    if (!len)
        return pol_fail(POL_EINVAL, "pol_len: the result's address is NULL");
    if (empty) {
        *len = 0;
        return POL_OK;
    }
    if (!count_elements(a, &n) || n.groups > INT64_MAX / 8) {
        char text[POL_DESCRIBE_MAX_];
        return pol_fail(POL_EOVERFLOW, "array: %s has more than 2^63 - 1 elements; make it smaller",
                        pol_describe_(text, a));
    }
    *len = (int64_t)(n.groups * 8 + n.rest);
    return POL_OK;
}

pol_status pol_add_nbytes_(size_t *sum, size_t nbytes)
{
    if (nbytes > (size_t)PTRDIFF_MAX - *sum)
        return pol_fail(POL_EOVERFLOW,
                        "arrays: %zu and %zu bytes together are more than %td, which no address "
                        "space holds; make them smaller",
                        *sum, nbytes, PTRDIFF_MAX);
    *sum += nbytes;
    return POL_OK;
}

bool pol_undef_equal(const pol_array *a, const pol_array *b)
{
    if (!a || !b)
        return a == b;
    return memcmp(&a->type, &b->type, sizeof a->type) == 0 && a->ndim == b->ndim &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

static void name_type(char text[24], const pol_type *type)
{
    static const char *const prefix[] = {
        [POL_CODE_INT] = "i",
        [POL_CODE_UINT] = "u",
        [POL_CODE_FLOAT] = "f",
        [POL_CODE_BFLOAT] = "bf",
        [POL_CODE_COMPLEX] = "c",
        [POL_CODE_BOOL] = "bool",
        [POL_CODE_F8_E4M3FN] = "f8_e4m3fn_",
        [POL_CODE_F8_E5M2] = "f8_e5m2_",
        [POL_CODE_F4_E2M1FN] = "f4_e2m1_",
    };
    const char *const name =
        type->code < sizeof prefix / sizeof prefix[0] ? prefix[type->code] : NULL;
    if (name && type->lanes > 1)
        snprintf(text, 24, "%s%ux%u", name, type->bits, type->lanes);
    else if (name)
        snprintf(text, 24, "%s%u", name, type->bits);
    else
        snprintf(text, 24, "%u-byte", (unsigned)type->size);
}

const char *pol_describe_(char text[POL_DESCRIBE_MAX_], const pol_array *a)
{
    char type[24];
    name_type(type, &a->type);
    size_t used = (size_t)snprintf(text, POL_DESCRIBE_MAX_, "%s [", type);
    for (unsigned i = 0; i < a->ndim && i < POL_MAX_NDIM; i++) {
        if (used > POL_DESCRIBE_MAX_ - 28) { /* room for one more dim or the dots, and the end */
            used += (size_t)snprintf(text + used, POL_DESCRIBE_MAX_ - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, POL_DESCRIBE_MAX_ - used, "%s%lld", i ? ", " : "",
                                 (long long)a->dims[i]);
    }
    snprintf(text + used, POL_DESCRIBE_MAX_ - used, "]");
    return text;
}

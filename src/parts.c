/* SPDX-License-Identifier: MIT */

/*
 * What is taken of an array: its elements, its memory in another shape, an entry, a range; and what
 * a kernel expects of it.
 *
 * A result is a value of its own that owns nothing. What is refused is so whether there is memory
 * or not, so a dry run over descriptions meets the same errors. The size of the whole array is
 * computed first; a part never has more bytes, so nothing after that can overflow.
 */

#include "internal.h"

#include <string.h>

static const pol_array absent = {0};

void *pol_data_mismatch_(const pol_array *a, size_t size)
{
    char text[POL_DESCRIBE_MAX_];
    if (pol_is_absent(a))
        return NULL;
    if (!a->data)
        pol_fail(POL_EINVAL, "pol_data: %s has no memory yet; materialize it by pol_alloc",
                 pol_describe_(text, a));
    else
        pol_fail(POL_EINVAL,
                 "pol_data: asked for elements of %zu bytes, %s has %u; use the C type of its "
                 "elements%s",
                 size, pol_describe_(text, a), (unsigned)a->type.size,
                 a->type.size == 0 ? ", which share bytes: take ->data" : "");
    return NULL;
}

void pol_reshape_(pol_array *a, const pol_array *shape)
{
    pol_array to = *shape;
    int64_t from_len = 0;
    int64_t to_len = 0;
    to.type = a->type;
    if (pol_len(a, &from_len) != POL_OK || pol_len(&to, &to_len) != POL_OK) {
        *a = absent;
        return;
    }
    if (from_len != to_len) {
        char from_text[POL_DESCRIBE_MAX_];
        char to_text[POL_DESCRIBE_MAX_];
        pol_fail(POL_EINVAL, "pol_reshape: %s has %lld elements, %s has %lld; they must be equal",
                 pol_describe_(from_text, a), (long long)from_len, pol_describe_(to_text, &to),
                 (long long)to_len);
        *a = absent;
        return;
    }
    to.data = a->data;
    to.home = a->home;
    to.flags = (uint16_t)(a->flags & ~POL_FLAG_OWNED_);
    *a = to;
}

/* The bits of a checked array beyond its last whole byte; 0 if there are no elements. */
static unsigned odd_bits(const pol_array *a)
{
    uint64_t bits = pol_bits_(&a->type) % 8;
    for (unsigned i = 0; i < a->ndim; i++)
        bits = bits * ((uint64_t)a->dims[i] % 8) % 8;
    return (unsigned)bits;
}

/* Computes the bytes before entry `first`, once it is sure that `count` entries follow there. */
static pol_status find_part(const pol_array *a, int64_t first, int64_t count, const char *who,
                            size_t *before)
{
    char text[POL_DESCRIBE_MAX_];
    size_t nbytes;
    POL_TRY(pol_nbytes(a, &nbytes));
    if (a->ndim == 0)
        return pol_fail(POL_EINVAL, "%s: %s is a scalar; only an array with dims has entries", who,
                        pol_describe_(text, a));
    if (first < 0 || count < 0 || count > a->dims[0] - first)
        return pol_fail(POL_EINVAL,
                        "%s: asked for %lld from entry %lld on, %s has %lld; stay within its first "
                        "dim",
                        who, (long long)count, (long long)first, pol_describe_(text, a),
                        (long long)a->dims[0]);
    pol_array skipped = *a;
    skipped.dims[0] = first;
    if (count != 0 && odd_bits(&skipped) != 0)
        return pol_fail(POL_EINVAL,
                        "%s: entry %lld of %s begins within a byte, which has no address; ask for "
                        "one that begins a byte",
                        who, (long long)first, pol_describe_(text, a));
    return pol_nbytes(&skipped, before);
}

static pol_array take_part(const pol_array *a, int64_t first, int64_t count, const char *who)
{
    size_t before = 0;
    if (pol_is_absent(a) || find_part(a, first, count, who, &before) != POL_OK)
        return absent;
    pol_array part = *a;
    part.data = a->data ? (char *)a->data + before : NULL;
    part.flags &= (uint16_t)~POL_FLAG_OWNED_;
    part.dims[0] = count;
    return part;
}

pol_array pol_index(const pol_array *a, int64_t i)
{
    pol_array entry = take_part(a, i, 1, "pol_index");
    if (entry.ndim == 0) /* absent */
        return entry;
    entry.ndim--;
    memmove(entry.dims, entry.dims + 1, (POL_MAX_NDIM - 1) * sizeof entry.dims[0]);
    entry.dims[POL_MAX_NDIM - 1] = 0;
    return entry;
}

pol_array pol_slice(const pol_array *a, int64_t first, int64_t count)
{
    return take_part(a, first, count, "pol_slice");
}

/* The one failure that a caller sees often, so it says what either is. */
static POL_COLD pol_status refuse_argument(const char *what, const pol_array *a,
                                           const pol_array *needed)
{
    char have[POL_DESCRIBE_MAX_];
    char need[POL_DESCRIBE_MAX_];
    if (pol_is_absent(needed))
        return pol_fail(POL_EINVAL, "%s: is absent, or what it is to fit is; give both", what);
    (void)pol_describe_(need, needed);
    if (pol_is_absent(a))
        return pol_fail(POL_EINVAL, "%s: is absent, need %s", what, need);
    (void)pol_describe_(have, a);
    if (pol_undef_equal(a, needed))
        return pol_fail(POL_EINVAL, "%s: %s has no memory; materialize it first", what, have);
    if (a->type.align != needed->type.align && strcmp(have, need) == 0)
        return pol_fail(POL_EINVAL, "%s: have %s of alignment %u, need alignment %u", what, have,
                        (unsigned)a->type.align, (unsigned)needed->type.align);
    return pol_fail(POL_EINVAL, "%s: have %s, need %s", what, have, need);
}

pol_status pol_expect(const char *what, const pol_array *a, pol_array needed)
{
    if (POL_LIKELY_(pol_is_array(a) && pol_undef_equal(a, &needed)))
        return POL_OK;
    return refuse_argument(what ? what : "argument", a, &needed);
}

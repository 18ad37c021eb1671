/* SPDX-License-Identifier: MIT */

/*
 * Where an array goes in a slab.
 *
 * A carve is one decision: the first aligned address at or after the offset, and whether the bytes
 * fit between there and the slab's end. Whatever is compared is compared against what is left, so
 * no sum is formed before it is known to fit.
 *
 * Element types stricter than the arena's alignment A make offsets depend on where the slab lies.
 * Let a program's carves end at w on a slab whose origin is r past a multiple of E, the strictest
 * alignment. Rounding up and adding are monotone: starting later never ends earlier. So from an
 * origin at r' <= r they end at most at r - r' beyond w, and from one at r' > r, which comes before
 * r + E, at most at E - (r' - r) beyond; both are at most E - A, as r and r' are multiples of A.
 * With the padding of the origin, at most A - 1, a slab of w + E - 1 bytes is enough anywhere.
 */

#include "internal.h"

size_t pol_padding_(uintptr_t address, size_t alignment)
{
    return (0 - (size_t)address) & (alignment - 1);
}

/* The slab size with which carves that ended at `end` succeed at any base. */
static size_t budget(size_t end, size_t strictest)
{
    const size_t nbytes = end ? end : 1;
    return nbytes > SIZE_MAX - (strictest - 1) ? SIZE_MAX : nbytes + (strictest - 1);
}

size_t pol_arena_budget(const pol_arena *a)
{
    return a && a->capacity_ != 0 ? budget(pol_watermark(a), a->strictest_) : 0;
}

static size_t alignment_of(const pol_arena *a, const pol_array *x)
{
    const size_t alignment = a->mask_ + 1;
    return x->type.align > alignment ? x->type.align : alignment;
}

/* Where nbytes go in a slab, at or after an offset within it; false if they do not fit. */
static bool fit(const char *origin, size_t capacity, size_t offset, size_t nbytes, size_t alignment,
                size_t *at)
{
    const size_t pad = pol_padding_((uintptr_t)origin + offset, alignment);
    const size_t left = capacity - offset;
    if (pad > left || nbytes > left - pad)
        return false;
    *at = offset + pad;
    return true;
}

/* An address for no bytes: always the same, aligned, never NULL. */
static char *nowhere(const pol_arena *a, size_t alignment)
{
    const uintptr_t origin = (uintptr_t)a->origin_;
    const size_t pad = pol_padding_(origin, alignment);
    return pad > UINTPTR_MAX - origin ? (char *)(uintptr_t)alignment : (char *)(origin + pad);
}

static pol_status refuse_beneath(const pol_array *array)
{
    char text[POL_DESCRIBE_MAX_];
    return pol_fail(POL_EORDER,
                    "arena: %s was asked from beneath an open frame, whose end would take it back; "
                    "ask the innermost frame",
                    pol_describe_(text, array));
}

pol_status pol_arena_carve_(pol_arena *a, const pol_frame *asker, pol_array *array, size_t nbytes)
{
    const size_t alignment = alignment_of(a, array);
    size_t at;
    array->home = a->home_;
    array->flags = 0;
    if (nbytes == 0) { /* nothing is taken, so nothing can be in its way */
        array->data = nowhere(a, alignment);
        return POL_OK;
    }
    if (a->top_ != asker) {
        pol_arena_settle_(a);
        if (a->top_ != asker)
            return refuse_beneath(array);
    }
    if (!fit(a->origin_, a->capacity_, a->offset_, nbytes, alignment, &at))
        return pol_arena_full_(a, a->offset_, array, 1);
    array->data = a->origin_ + at;
    pol_arena_set_(a, at + nbytes);
    if (alignment > a->strictest_)
        a->strictest_ = alignment;
    return POL_OK;
}

/* Where even an arena without a slab, whose ceiling is the address space, ends. */
static pol_status refuse_endless(const pol_arena *a, const pol_array *x, size_t nbytes, size_t end)
{
    char text[POL_DESCRIBE_MAX_];
    return pol_fail(a->capacity_ == (size_t)PTRDIFF_MAX ? POL_EOVERFLOW : POL_ECEILING,
                    "arena: need %zu bytes for %s beyond %zu, have %zu, and no address space would "
                    "be enough; ask for less",
                    nbytes, pol_describe_(text, x), end, a->capacity_);
}

pol_status pol_arena_full_(const pol_arena *a, size_t offset, const pol_array *first, size_t count)
{
    const pol_array *failing = NULL; /* the first that did not fit */
    size_t end = offset;             /* the same carves without the ceiling */
    size_t strictest = a->strictest_;
    char text[POL_DESCRIBE_MAX_];
    for (const pol_array *x = first; x != first + count; x++) {
        const size_t alignment = alignment_of(a, x);
        size_t nbytes;
        size_t at;
        if (!pol_is_undef(x) || pol_nbytes(x, &nbytes) != POL_OK || nbytes == 0)
            continue;
        if (!fit(a->origin_, (size_t)PTRDIFF_MAX, end, nbytes, alignment, &at))
            return refuse_endless(a, x, nbytes, end);
        end = at + nbytes;
        strictest = alignment > strictest ? alignment : strictest;
        if (!failing && end > a->capacity_)
            failing = x;
    }
    return pol_fail(POL_ECEILING,
                    "arena: need %zu bytes for %s%s, padding included, have %zu of %zu left; a "
                    "slab of %zu bytes would be enough",
                    end - offset, pol_describe_(text, failing ? failing : first),
                    count > 1 ? " and what comes with it" : "", a->capacity_ - offset, a->capacity_,
                    budget(end, strictest));
}

void *pol_new_(pol_space *space, size_t n, size_t size, size_t align)
{
    if (size > UINT32_MAX || align > UINT32_MAX) {
        pol_fail(POL_EINVAL,
                 "pol_new: an element of %zu bytes aligned to %zu is 4 GiB or more; ask for bytes",
                 size, align);
        return NULL;
    }
    if (n > (size_t)PTRDIFF_MAX) {
        pol_fail(POL_EOVERFLOW,
                 "pol_new: %zu elements of %zu bytes are more than any address space holds", n,
                 size);
        return NULL;
    }
    pol_array a =
        pol_undef(POL_TYPE_(POL_CODE_OPAQUE, 0, (uint32_t)size, (uint32_t)align), (int64_t)n);
    return pol_alloc_arrays(space, &a, 1) == POL_OK ? a.data : NULL;
}

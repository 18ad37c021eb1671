/* SPDX-License-Identifier: MIT */
#include "fixed_space.h"

/* libpol has checked the description: nbytes is right and below PTRDIFF_MAX. What is left to do is
   to find the next address that the element type allows, without a sum that could wrap, and either
   to set a->data or to change nothing. */
static pol_status fixed_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct fixed_space *const f = (struct fixed_space *)(void *)self;
    const size_t left = f->nbytes - f->used;
    const size_t pad = (0 - ((uintptr_t)f->base + f->used)) & (a->type.align - 1);

    if (pad > left || nbytes > left - pad)
        return pol_fail(
            POL_ECEILING,
            "fixed space: need %zu bytes, have %zu of %zu left; give it a larger buffer", nbytes,
            pad > left ? 0 : left - pad, f->nbytes);
    a->data = f->base + f->used + pad;
    f->used += pad + nbytes;
    return POL_OK;
}

static const pol_space_ops fixed_ops = {.name = "fixed space", .alloc = fixed_alloc};

void fixed_space_init(struct fixed_space *f, void *base, size_t nbytes)
{
    f->space.ops = &fixed_ops;
    f->base = (unsigned char *)base;
    f->nbytes = nbytes;
    f->used = 0;
}

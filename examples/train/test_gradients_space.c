/* SPDX-License-Identifier: MIT */
#include "test_gradients_space.h"

#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0x5a, RUBBISH = 0xff }; /* bytes of 0xff make a NaN */

static struct guarded_space *of(pol_space *self)
{
    return (struct guarded_space *)(void *)self;
}

static pol_status guarded_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct guarded_space *const g = of(self);
    const size_t most = nbytes + GUARD + 2 * GUARD; /* with what aligns it */
    if (g->arrays == GUARDED_MOST || nbytes > g->nbytes || most > g->nbytes - g->used)
        return pol_fail(POL_ECEILING, "guarded space: no room for %zu bytes, %zu arrays", nbytes,
                        g->arrays);
    const size_t pad = (0 - ((uintptr_t)g->base + g->used)) & (GUARD - 1);
    const size_t begin = g->used + pad + GUARD, end = begin + nbytes;
    memset(g->base + g->used, GUARD_BYTE, pad + GUARD);
    memset(g->base + begin, RUBBISH, nbytes);
    memset(g->base + end, GUARD_BYTE, GUARD);
    a->data = g->base + begin;
    g->begins[g->arrays] = begin;
    g->ends[g->arrays++] = end;
    g->used = end + GUARD;
    return POL_OK;
}

static bool is_guarded(const unsigned char *bytes)
{
    for (int i = 0; i < GUARD; i++)
        if (bytes[i] != GUARD_BYTE)
            return false;
    return true;
}

static pol_status check_array(const struct guarded_space *g, size_t i)
{
    if (is_guarded(g->base + g->begins[i] - GUARD) && is_guarded(g->base + g->ends[i]))
        return POL_OK;
    return pol_fail(POL_ECORRUPT, "guarded space: a kernel wrote around %zu bytes",
                    g->ends[i] - g->begins[i]);
}

pol_status guarded_space_check(const struct guarded_space *g)
{
    if (g->is_corrupt)
        return pol_fail(POL_ECORRUPT, "guarded space: a kernel wrote around its scratch");
    for (size_t i = 0; i < g->arrays; i++)
        POL_TRY(check_array(g, i));
    return POL_OK;
}

static struct pol_mark guarded_mark(pol_space *self)
{
    return (struct pol_mark){.offset = of(self)->used, .owner = 1};
}

static pol_status guarded_retract(pol_space *self, struct pol_mark mark)
{
    struct guarded_space *const g = of(self);
    for (; g->arrays > 0 && g->begins[g->arrays - 1] >= mark.offset; g->arrays--)
        if (check_array(g, g->arrays - 1) != POL_OK)
            g->is_corrupt = true;
    g->used = mark.offset;
    return g->is_corrupt ? POL_ECORRUPT : POL_OK;
}

pol_status guarded_space_reset(struct guarded_space *g)
{
    POL_TRY(guarded_space_check(g));
    return guarded_retract(&g->space, (struct pol_mark){.offset = 0, .owner = 1});
}

static const pol_space_ops guarded_ops = {
    .name = "guarded space",
    .alloc = guarded_alloc,
    .mark = guarded_mark,
    .retract = guarded_retract,
};

void guarded_space_init(struct guarded_space *g, void *base, size_t nbytes)
{
    *g = (struct guarded_space){
        .space = {&guarded_ops},
        .base = (unsigned char *)base,
        .nbytes = nbytes,
    };
}

/* SPDX-License-Identifier: MIT */
#include "keeping.h"

static struct keeping *keeping_of(pol_space *self)
{
    return (struct keeping *)(void *)self;
}

static pol_status keeping_alloc(pol_space *self, pol_array *a, size_t nbytes)
{
    struct keeping *const k = keeping_of(self);
    pol_array memory, counted;
    (void)nbytes; /* an arena computes it again */
    POL_TRY(pol_alloc(k->arena, &memory, pol_undef_like(a)));
    a->data = memory.data;
    return pol_alloc(&k->kept, &counted, pol_undef_like(a));
}

static struct pol_mark keeping_mark(pol_space *self)
{
    return pol_mark(keeping_of(self)->arena);
}

static pol_status keeping_retract(pol_space *self, struct pol_mark mark)
{
    return pol_retract(keeping_of(self)->arena, mark);
}

static const pol_space_ops keeping_ops = {
    .name = "keeping",
    .alloc = keeping_alloc,
    .mark = keeping_mark,
    .retract = keeping_retract,
};

pol_status keeping_init(struct keeping *k, pol_arena *arena)
{
    k->space.ops = &keeping_ops;
    k->arena = arena;
    POL_TRY(pol_arena_measure(&k->kept, pol_arena_alignment(arena)));
    return keeping_next_step(k);
}

pol_status keeping_next_step(struct keeping *k)
{
    pol_array below;
    POL_TRY(pol_reset(&k->kept));
    return pol_alloc(&k->kept, &below, pol_undef(POL_U8, (int64_t)pol_arena_offset(k->arena)));
}

size_t keeping_nbytes(const struct keeping *k)
{
    return pol_watermark(&k->kept);
}

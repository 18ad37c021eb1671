/* SPDX-License-Identifier: MIT */

/* Trap 32: queries take const. Built with -Wcast-qual and the warning of dropped qualifiers as
   errors, here and in what the headers' macros expand to. */

#include <pol/pol.h>

struct twice_args {
    pol_array x;
};
struct twice_outputs {
    pol_array y;
};
struct twice_checkpoints {
    pol_array saved;
};
struct twice_scratch {
    pol_array tmp;
};
static struct twice_outputs twice_outputs(const struct twice_args *a)
{
    return (struct twice_outputs){pol_undef_like(&a->x)};
}
static struct twice_checkpoints twice_checkpoints(const struct twice_args *a)
{
    return (struct twice_checkpoints){pol_undef_like_type(&a->x, POL_U8)};
}
static struct twice_scratch twice_scratch(const struct twice_args *a)
{
    return (struct twice_scratch){pol_undef_like_dims(&a->x, 1)};
}
static pol_status twice(const struct twice_outputs *out, const struct twice_args *a,
                        const struct twice_scratch *s)
{
    const float *x = pol_data(&a->x, float);
    float *y = pol_data(&out->y, float);
    *pol_data(&s->tmp, float) = 2;
    for (int64_t i = 0; i < a->x.dims[0]; i++)
        y[i] = *pol_data(&s->tmp, float) * x[i];
    return POL_OK;
}
POL_ALLOCATING(twice, outputs, scratch);

static pol_status query(const pol_array *a, const pol_arena *arena, const pol_space *space,
                        const pol_shadowed *pair, const pol_verb *verb, pol_space *into)
{
    size_t nbytes = 0;
    int64_t len = 0;
    pol_verb_sizes sizes;
    const struct twice_args args = {*a};
    struct twice_outputs out;
    struct twice_checkpoints saved;
    POL_TRY(pol_nbytes(a, &nbytes));
    POL_TRY(pol_len(a, &len));
    POL_TRY(pol_verb_nbytes(verb, &args, 0, &sizes));
    POL_TRY(pol_expect("a", a, pol_undef(POL_F32, 3)));
    if (pol_arrays(pair) != &pair->primal || pol_count_arrays(pair) != 2 || pol_arrays(a) != a)
        return POL_EUSER;
    const pol_array many = pol_undef_stack(a, 2);
    if (many.ndim != 2)
        return POL_EUSER;
    const pol_array view = pol_reshape(a, len), rest = pol_slice(a, 1, 2), last = pol_index(a, 2);
    const bool described = pol_is_absent(a) || pol_is_undef(a) || !pol_is_array(a) ||
                           !pol_undef_equal(a, pol_primal(pair)) || !pol_similar(a) ||
                           pol_shadow(a) || !pol_shadow(pair) || pol_primal(a) != a;
    if (described || view.data != a->data || pol_space_device(space).type != 1)
        return POL_EUSER;
    if (pol_data(&rest, float) != pol_data(a, float) + 1 || *pol_data(&last, float) != 3)
        return POL_EUSER;
    if (pol_arena_offset(arena) > pol_watermark(arena) || !pol_arena_alignment(arena) ||
        !pol_arena_budget(arena) || !pol_arena_capacity(arena))
        return POL_EUSER;
    POL_TRY(pol_call(twice, into, &args, &out));
    POL_TRY(pol_call_into(twice, into, &args, &out, out));
    POL_TRY(pol_call_into(twice, into, &args, NULL, out));
    POL_TRY(pol_checkpoints(into, twice, &args, &saved));
    return pol_data(&out.y, float)[2] == 6 ? POL_OK : POL_EUSER;
}

int main(void)
{
    static float x[3] = {1, 2, 3};
    static unsigned char slab[4096];
    pol_arena arena;
    const pol_array a = pol_wrap(x, POL_F32, 3);
    const pol_shadowed pair = pol_shadowed_like(&a, POL_F64);
    if (pol_arena_init(&arena, slab, sizeof slab, 0) != POL_OK)
        return 1;
    return query(&a, &arena, &arena.space, &pair, &twice_verb, &arena.space) != POL_OK;
}

/* SPDX-License-Identifier: MIT */
#include "model.h"

int64_t config_head_size(const struct config *c)
{
    return c->dim / c->heads;
}

int64_t config_kv_dim(const struct config *c)
{
    return c->kv_heads * config_head_size(c);
}

static pol_status check_positive(const char *name, int64_t n)
{
    /* Files have int32, and below 2^31 no product of two overflows. */
    if (n < 1 || n > INT32_MAX)
        return pol_fail(POL_EINVAL, "a model's %s is from 1 to 2147483647, not %lld", name,
                        (long long)n);
    return POL_OK;
}

pol_status config_check(const struct config *c)
{
    POL_TRY(check_positive("dim", c->dim));
    POL_TRY(check_positive("hidden", c->hidden));
    POL_TRY(check_positive("layers", c->layers));
    POL_TRY(check_positive("heads", c->heads));
    POL_TRY(check_positive("kv_heads", c->kv_heads));
    POL_TRY(check_positive("vocab", c->vocab));
    POL_TRY(check_positive("context", c->context));
    if (c->dim % c->heads != 0 || c->dim / c->heads % 2 != 0)
        return pol_fail(POL_EINVAL,
                        "a model of dim %lld does not split into %lld heads of even size",
                        (long long)c->dim, (long long)c->heads);
    if (c->kv_heads > c->heads || c->heads % c->kv_heads != 0)
        return pol_fail(POL_EINVAL, "%lld heads do not share %lld kv_heads evenly",
                        (long long)c->heads, (long long)c->kv_heads);
    /* The arrays: what no address space holds is refused where sizes are computed. */
    struct weights w;
    pol_arena measure;
    POL_TRY(pol_arena_measure(&measure, 0));
    return pol_alloc(&measure, &w, weights_undef(c, true));
}

struct weights weights_undef(const struct config *c, bool in_file)
{
    const int64_t layers = c->layers, dim = c->dim, hidden = c->hidden, kv_dim = config_kv_dim(c);
    struct weights w = {
        .embedding = pol_undef(REAL, c->vocab, dim),
        .norm_att = pol_undef(REAL, layers, dim),
        .wq = pol_undef(REAL, layers, dim, dim),
        .wk = pol_undef(REAL, layers, kv_dim, dim),
        .wv = pol_undef(REAL, layers, kv_dim, dim),
        .wo = pol_undef(REAL, layers, dim, dim),
        .norm_ffn = pol_undef(REAL, layers, dim),
        .w1 = pol_undef(REAL, layers, hidden, dim),
        .w2 = pol_undef(REAL, layers, dim, hidden),
        .w3 = pol_undef(REAL, layers, hidden, dim),
        .norm_final = pol_undef(REAL, dim),
    };
    if (in_file)
        w.unused[0] = w.unused[1] = pol_undef(REAL, c->context, config_head_size(c) / 2);
    if (c->own_output)
        w.output = pol_undef_like(&w.embedding);
    return w;
}

struct layer_weights weights_of_layer(const struct weights *w, int64_t layer)
{
    return (struct layer_weights){
        .norm_att = pol_index(&w->norm_att, layer),
        .wq = pol_index(&w->wq, layer),
        .wk = pol_index(&w->wk, layer),
        .wv = pol_index(&w->wv, layer),
        .wo = pol_index(&w->wo, layer),
        .norm_ffn = pol_index(&w->norm_ffn, layer),
        .w1 = pol_index(&w->w1, layer),
        .w2 = pol_index(&w->w2, layer),
        .w3 = pol_index(&w->w3, layer),
    };
}

const pol_array *weights_output(const struct weights *w)
{
    return pol_is_absent(&w->output) ? &w->embedding : &w->output;
}

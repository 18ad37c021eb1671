/* SPDX-License-Identifier: MIT */
/*
 * pol_call() opens a frame for a step, and every layer opens one on it. The residual stream x and
 * its norm y lie in the step's frame and are written in place, layer after layer; what else a layer
 * needs lies in its own and is gone when the next one begins. Keys and values go to the cache.
 */
#include "step.h"

#include "kernels.h"

struct cache cache_undef(const struct config *c, int64_t positions)
{
    const pol_array both = pol_undef(REAL, c->layers, positions, config_kv_dim(c));
    return (struct cache){.keys = both, .values = both};
}

/* The residual stream on its way through the layers. */
struct stream {
    pol_array x; /* (1, dim) */
    pol_array y; /* (1, dim): the norm of x, with the gain of what comes next */
};

static pol_status multiply(const pol_array *x, const pol_array *w, pol_array *y)
{
    const struct linear_args args = {.x = *x, .w = *w};
    struct linear_outputs out;
    POL_TRY(pol_call(linear, pol_ambientspace(), &args, &out));
    *y = out.y;
    return POL_OK;
}

/* x += delta, and y is its norm. */
static pol_status add_to_stream(const struct stream *s, const pol_array *delta,
                                const pol_array *gain)
{
    const struct add_norm_args args = {.x = s->x, .delta = *delta, .gain = *gain};
    const struct add_norm_outputs in_place = {.sum = s->x, .y = s->y};
    return pol_call_into(add_norm, pol_ambientspace(), &args, NULL, in_place);
}

static pol_status run_attention(const struct step_args *a, int64_t layer,
                                const struct layer_weights *w, const struct stream *s)
{
    const pol_array keys = pol_index(&a->cache->keys, layer);
    const pol_array values = pol_index(&a->cache->values, layer);
    pol_array q, k, v, delta;
    POL_TRY(multiply(&s->y, &w->wq, &q));
    POL_TRY(multiply(&s->y, &w->wk, &k));
    POL_TRY(multiply(&s->y, &w->wv, &v));

    const struct rotate_args turn = {
        .q = q, .k = k, .v = v, .table = a->angles, .first = a->position, .period = 1};
    const struct rotate_outputs appended = {
        .q = q, /* in place */
        .k = pol_slice(&keys, a->position, 1),
        .v = pol_slice(&values, a->position, 1),
    };
    POL_TRY(pol_call_into(rotate, pol_ambientspace(), &turn, NULL, appended));

    const struct attend_args look_back = {
        .q = q,
        .keys = keys,
        .values = values,
        .heads = a->config->heads,
        .kv_heads = a->config->kv_heads,
        .length = a->position + 1,
    };
    const struct attend_outputs in_place = {.y = q};
    POL_TRY(pol_call_into(attend, pol_ambientspace(), &look_back, NULL, in_place));
    POL_TRY(multiply(&q, &w->wo, &delta));
    return add_to_stream(s, &delta, &w->norm_ffn);
}

static pol_status run_feed_forward(const struct layer_weights *w, const struct stream *s,
                                   const pol_array *next_gain)
{
    struct gate_args halves;
    pol_array delta;
    POL_TRY(multiply(&s->y, &w->w1, &halves.a));
    POL_TRY(multiply(&s->y, &w->w3, &halves.b));
    const struct gate_outputs in_place = {.y = halves.a};
    POL_TRY(pol_call_into(gate, pol_ambientspace(), &halves, NULL, in_place));
    POL_TRY(multiply(&halves.a, &w->w2, &delta));
    return add_to_stream(s, &delta, next_gain);
}

/* The gain of the norm that follows the layer. */
static pol_array gain_after(const struct step_args *a, int64_t layer)
{
    if (layer + 1 < a->config->layers)
        return pol_index(&a->weights->norm_att, layer + 1);
    return a->weights->norm_final;
}

static pol_status run_layer(const struct step_args *a, int64_t layer, const struct stream *s)
{
    const struct layer_weights w = weights_of_layer(a->weights, layer);
    const pol_array next_gain = gain_after(a, layer);
    POL_SCRATCHSPACE(frame, pol_ambientspace()) {
        POL_TRY(run_attention(a, layer, &w, s));
        POL_TRY(run_feed_forward(&w, s, &next_gain));
    }
    return POL_OK;
}

/* The token's row, and its norm for the first layer. */
static pol_status enter(const struct step_args *a, pol_frame *frame, struct stream *s)
{
    int32_t token = a->token;
    const struct embed_args look_up = {.tokens = pol_wrap(&token, POL_I32, 1),
                                       .w = a->weights->embedding};
    struct embed_outputs row;
    POL_TRY(pol_call(embed, frame, &look_up, &row));
    const struct norm_args first = {.x = row.x, .gain = pol_index(&a->weights->norm_att, 0)};
    struct norm_outputs normed;
    POL_TRY(pol_call(norm, frame, &first, &normed));
    *s = (struct stream){.x = row.x, .y = normed.y};
    return POL_OK;
}

static pol_status choose(const struct step_args *a, pol_frame *frame, const struct stream *s,
                         pol_array next)
{
    const struct choice *const c = &a->choice;
    const struct classify_args last = {.x = s->y, .w = *weights_output(a->weights)};
    struct classify_outputs found;
    if (!(c->temperature > 0))
        return pol_call_into(classify, frame, &last, &found,
                             (struct classify_outputs){.best = next});
    POL_TRY(pol_call(classify, frame, &last, &found));
    const struct sample_args draw = {
        .logits = found.logits,
        .temperature = c->temperature,
        .top_p = c->top_p,
        .coin = c->coin,
    };
    return pol_call_into(sample, frame, &draw, NULL, (struct sample_outputs){.token = next});
}

struct step_outputs step_outputs(const struct step_args *a)
{
    (void)a;
    return (struct step_outputs){.next = pol_undef_scalar(POL_I32)};
}

pol_status step(const struct step_outputs *out, const struct step_args *a, pol_frame *frame)
{
    struct stream stream;
    POL_TRY(enter(a, frame, &stream));
    for (int64_t layer = 0; layer < a->config->layers; layer++)
        POL_TRY(run_layer(a, layer, &stream));
    return choose(a, frame, &stream, out->next);
}

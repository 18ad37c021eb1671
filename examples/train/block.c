/* SPDX-License-Identifier: MIT */
#include "block.h"

struct block_outputs block_outputs(const struct block_args *a)
{
    return (struct block_outputs){.y = pol_undef_like(&a->x)};
}

struct block_checkpoints block_checkpoints(const struct block_args *a)
{
    const int64_t rows = a->x.dims[0], kv_dim = config_kv_dim(a->config);
    const struct norm_args norm = {.x = a->x};
    const struct attention_args attention = {.q = a->x, .heads = a->config->heads};
    return (struct block_checkpoints){
        .norm_att = norm_checkpoints(&norm),
        .q = pol_undef_like(&a->x),
        .k = pol_undef(REAL, rows, kv_dim),
        .v = pol_undef(REAL, rows, kv_dim),
        .attention = attention_checkpoints(&attention),
        .attended = pol_undef_like(&a->x),
        .middle = pol_undef_like(&a->x),
        .norm_ffn = norm_checkpoints(&norm),
        .a = pol_undef(REAL, rows, a->config->hidden),
        .b = pol_undef(REAL, rows, a->config->hidden),
    };
}

struct block_checkpoints block_checkpoints_stack(struct block_checkpoints each, int64_t layers)
{
    return (struct block_checkpoints){
        .norm_att.scale = pol_undef_stack(&each.norm_att.scale, layers),
        .q = pol_undef_stack(&each.q, layers),
        .k = pol_undef_stack(&each.k, layers),
        .v = pol_undef_stack(&each.v, layers),
        .attention.log_sum = pol_undef_stack(&each.attention.log_sum, layers),
        .attended = pol_undef_stack(&each.attended, layers),
        .middle = pol_undef_stack(&each.middle, layers),
        .norm_ffn.scale = pol_undef_stack(&each.norm_ffn.scale, layers),
        .a = pol_undef_stack(&each.a, layers),
        .b = pol_undef_stack(&each.b, layers),
    };
}

struct block_checkpoints block_checkpoints_of_layer(const struct block_checkpoints *all,
                                                    int64_t layer)
{
    return (struct block_checkpoints){
        .norm_att.scale = pol_index(&all->norm_att.scale, layer),
        .q = pol_index(&all->q, layer),
        .k = pol_index(&all->k, layer),
        .v = pol_index(&all->v, layer),
        .attention.log_sum = pol_index(&all->attention.log_sum, layer),
        .attended = pol_index(&all->attended, layer),
        .middle = pol_index(&all->middle, layer),
        .norm_ffn.scale = pol_index(&all->norm_ffn.scale, layer),
        .a = pol_index(&all->a, layer),
        .b = pol_index(&all->b, layer),
    };
}

/* Forward */

static pol_status into_linear(pol_frame *frame, pol_array x, pol_array w, pol_array y)
{
    const struct linear_args args = {.x = x, .w = w};
    return pol_call_into(linear, frame, &args, NULL, (struct linear_outputs){.y = y});
}

/* To s->middle: what attention adds to the residual, not added yet. */
static pol_status attend(pol_frame *frame, const struct block_args *a,
                         const struct block_checkpoints *s)
{
    const struct norm_args before = {.x = a->x, .gain = a->w.norm_att, .saved = s->norm_att};
    struct norm_outputs normed;
    POL_TRY(pol_call(norm, frame, &before, &normed));
    POL_TRY(into_linear(frame, normed.y, a->w.wq, s->q));
    POL_TRY(into_linear(frame, normed.y, a->w.wk, s->k));
    POL_TRY(into_linear(frame, normed.y, a->w.wv, s->v));

    const struct rotate_args turn = {.q = s->q, .k = s->k, .table = a->angles, .period = a->period};
    POL_TRY(
        pol_call_into(rotate, frame, &turn, NULL, (struct rotate_outputs){.q = s->q, .k = s->k}));
    const struct attention_args look = {
        .q = s->q,
        .k = s->k,
        .v = s->v,
        .heads = a->config->heads,
        .kv_heads = a->config->kv_heads,
        .period = a->period,
        .saved = s->attention,
    };
    POL_TRY(
        pol_call_into(attention, frame, &look, NULL, (struct attention_outputs){.y = s->attended}));
    return into_linear(frame, s->attended, a->w.wo, s->middle);
}

static pol_status feed_forward(pol_frame *frame, const struct block_args *a,
                               const struct block_checkpoints *s, pol_array y)
{
    const struct add_norm_args before = {
        .x = a->x, .delta = s->middle, .gain = a->w.norm_ffn, .saved = s->norm_ffn};
    struct add_norm_outputs normed;
    POL_TRY(pol_call_into(add_norm, frame, &before, &normed,
                          (struct add_norm_outputs){.sum = s->middle}));
    POL_TRY(into_linear(frame, normed.y, a->w.w1, s->a));
    POL_TRY(into_linear(frame, normed.y, a->w.w3, s->b));

    const struct gate_args gating = {.a = s->a, .b = s->b};
    struct gate_outputs gated;
    POL_TRY(pol_call(gate, frame, &gating, &gated));
    POL_TRY(into_linear(frame, gated.y, a->w.w2, y));
    const struct add_args residual = {.x = s->middle, .delta = y};
    return pol_call_into(add, frame, &residual, NULL, (struct add_outputs){.sum = y});
}

pol_status block(const struct block_outputs *out, const struct block_args *a, pol_frame *frame)
{
    /* What came with memory stays where it is; the rest is this frame's. */
    struct block_checkpoints s = a->saved;
    if (pol_is_absent(&s.q))
        POL_TRY(pol_checkpoints(frame, block, a, &s));
    POL_SCRATCHSPACE(half, frame) {
        POL_TRY(attend(half, a, &s));
    }
    POL_SCRATCHSPACE(half, frame) {
        POL_TRY(feed_forward(half, a, &s, out->y));
    }
    return POL_OK;
}

/* Backward */

struct block_backward_outputs block_backward_outputs(const struct block_backward_args *a)
{
    const struct layer_weights *const w = &a->forward.w;
    return (struct block_backward_outputs){
        .dx = pol_undef_like(&a->dy),
        .dw =
            {
                .norm_att = pol_undef_like(&w->norm_att),
                .wq = pol_undef_like(&w->wq),
                .wk = pol_undef_like(&w->wk),
                .wv = pol_undef_like(&w->wv),
                .wo = pol_undef_like(&w->wo),
                .norm_ffn = pol_undef_like(&w->norm_ffn),
                .w1 = pol_undef_like(&w->w1),
                .w2 = pol_undef_like(&w->w2),
                .w3 = pol_undef_like(&w->w3),
            },
    };
}

/* One linear layer's way back. dx is absent the first time that x's gradient is met, and comes into
   being in the frame; after that it is added to, in place. */
static pol_status back_linear(pol_frame *frame, pol_array x, pol_array w, pol_array dy,
                              pol_array dw, pol_array *dx)
{
    const struct linear_backward_args args = {
        .x = pol_shadowed_like(&x, REAL),
        .w = pol_shadowed_like(&w, REAL),
        .dy = dy,
        .add = *dx,
    };
    struct linear_backward_outputs shadows;
    POL_TRY(pol_call_into(linear_backward, frame, &args, &shadows,
                          (struct linear_backward_outputs){.dx = *dx, .dw = dw}));
    *dx = shadows.dx;
    return POL_OK;
}

/* The norm at the head of a half block, with the gradient of what passed it by, which dx may be. */
static pol_status back_norm(pol_frame *frame, pol_array x, pol_array gain,
                            struct norm_checkpoints saved, pol_array dy, pol_array passed_by,
                            pol_array dgain, pol_array dx)
{
    const struct norm_backward_args args = {
        .x = pol_shadowed_like(&x, REAL),
        .gain = pol_shadowed_like(&gain, REAL),
        .saved = saved,
        .dy = dy,
        .add = passed_by,
    };
    return pol_call_into(norm_backward, frame, &args, NULL,
                         (struct norm_backward_outputs){.dx = dx, .dgain = dgain});
}

static pol_status again_norm(pol_frame *frame, pol_array x, pol_array gain, pol_array *y)
{
    const struct norm_args args = {.x = x, .gain = gain};
    struct norm_outputs normed;
    POL_TRY(pol_call(norm, frame, &args, &normed));
    *y = normed.y;
    return POL_OK;
}

/* From the gradient of y to the gradient of middle, in dx, which may be dy. */
static pol_status back_feed_forward(pol_frame *frame, const struct block_args *a, pol_array dy,
                                    pol_array dx, const struct layer_weights *dw)
{
    const struct block_checkpoints *const s = &a->saved;
    const struct gate_args gating = {.a = s->a, .b = s->b};
    struct gate_outputs gated;
    pol_array dgated = {0}, normed, dnormed = {0};
    POL_TRY(pol_call(gate, frame, &gating, &gated));
    POL_TRY(back_linear(frame, gated.y, a->w.w2, dy, dw->w2, &dgated));

    /* The gate's values have been read for the last time, so their memory serves db. */
    const struct gate_backward_args back = {
        .a = pol_shadowed_like(&s->a, REAL), .b = pol_shadowed_like(&s->b, REAL), .dy = dgated};
    const struct gate_backward_outputs shadows = {.da = dgated, .db = gated.y};
    POL_TRY(pol_call_into(gate_backward, frame, &back, NULL, shadows));

    POL_TRY(again_norm(frame, s->middle, a->w.norm_ffn, &normed));
    POL_TRY(back_linear(frame, normed, a->w.w1, shadows.da, dw->w1, &dnormed));
    POL_TRY(back_linear(frame, normed, a->w.w3, shadows.db, dw->w3, &dnormed));
    return back_norm(frame, s->middle, a->w.norm_ffn, s->norm_ffn, dnormed, dy, dw->norm_ffn, dx);
}

static pol_status back_attention(pol_frame *frame, const struct block_args *a, pol_array dattended,
                                 struct attention_backward_outputs *d)
{
    const struct block_checkpoints *const s = &a->saved;
    const struct attention_backward_args look = {
        .q = pol_shadowed_like(&s->q, REAL),
        .k = pol_shadowed_like(&s->k, REAL),
        .v = pol_shadowed_like(&s->v, REAL),
        .heads = a->config->heads,
        .kv_heads = a->config->kv_heads,
        .period = a->period,
        .saved = s->attention,
        .y = s->attended,
        .dy = dattended,
    };
    POL_TRY(pol_call(attention_backward, frame, &look, d));
    const struct rotate_args turn = {
        .q = d->dq, .k = d->dk, .table = a->angles, .period = a->period, .back = true};
    return pol_call_into(rotate, frame, &turn, NULL,
                         (struct rotate_outputs){.q = d->dq, .k = d->dk});
}

/* From the gradient of middle, in dx, to the gradient of x, in dx. */
static pol_status back_attend(pol_frame *frame, const struct block_args *a, pol_array dx,
                              const struct layer_weights *dw)
{
    const struct block_checkpoints *const s = &a->saved;
    struct attention_backward_outputs d;
    pol_array dattended = {0}, normed, dnormed = {0};
    POL_TRY(back_linear(frame, s->attended, a->w.wo, dx, dw->wo, &dattended));
    POL_TRY(back_attention(frame, a, dattended, &d));

    POL_TRY(again_norm(frame, a->x, a->w.norm_att, &normed));
    POL_TRY(back_linear(frame, normed, a->w.wq, d.dq, dw->wq, &dnormed));
    POL_TRY(back_linear(frame, normed, a->w.wk, d.dk, dw->wk, &dnormed));
    POL_TRY(back_linear(frame, normed, a->w.wv, d.dv, dw->wv, &dnormed));
    return back_norm(frame, a->x, a->w.norm_att, s->norm_att, dnormed, dx, dw->norm_att, dx);
}

pol_status block_backward(const struct block_backward_outputs *out,
                          const struct block_backward_args *a, pol_frame *frame)
{
    POL_SCRATCHSPACE(half, frame) {
        POL_TRY(back_feed_forward(half, &a->forward, a->dy, out->dx, &out->dw));
    }
    POL_SCRATCHSPACE(half, frame) {
        POL_TRY(back_attend(half, &a->forward, out->dx, &out->dw));
    }
    return POL_OK;
}

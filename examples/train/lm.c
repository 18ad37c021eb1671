/* SPDX-License-Identifier: MIT */
#include "lm.h"

static struct block_args block_of_layer(const struct forward_args *a, int64_t layer, pol_array x)
{
    return (struct block_args){
        .config = a->config,
        .w = weights_of_layer(&a->w, layer),
        .x = x,
        .angles = a->angles,
        .period = a->period,
        .saved = block_checkpoints_of_layer(&a->saved.blocks, layer),
    };
}

static pol_array stream_undef(const struct forward_args *a)
{
    return pol_undef(REAL, a->tokens.dims[0], a->config->dim);
}

struct forward_outputs forward_outputs(const struct forward_args *a)
{
    (void)a;
    return (struct forward_outputs){.loss = pol_undef_scalar(POL_F64)};
}

struct forward_checkpoints forward_checkpoints(const struct forward_args *a)
{
    const pol_array x = stream_undef(a);
    const struct block_args one = {.config = a->config, .x = x};
    const struct norm_args norm = {.x = x};
    const struct loss_args loss = {.x = x};
    struct forward_checkpoints saved = {
        .stream = pol_undef_stack(&x, a->config->layers + 1),
        .norm = norm_checkpoints(&norm),
        .normed = x,
        .loss = loss_checkpoints(&loss),
    };
    if (!a->recompute)
        saved.blocks = block_checkpoints_stack(block_checkpoints(&one), a->config->layers);
    return saved;
}

/* Where block `layer` reads; layer + 1 is where it writes. Nothing saved: one place for all. */
static pol_array stream_at(const struct forward_args *a, const pol_array *only, int64_t layer)
{
    return pol_is_absent(&a->saved.stream) ? *only : pol_index(&a->saved.stream, layer);
}

pol_status forward(const struct forward_outputs *out, const struct forward_args *a,
                   pol_frame *frame)
{
    const int64_t layers = a->config->layers;
    pol_array only = {0};
    if (pol_is_absent(&a->saved.stream))
        POL_TRY(pol_alloc(frame, &only, stream_undef(a)));

    const struct embed_args embedding = {.tokens = a->tokens, .w = a->w.embedding};
    POL_TRY(pol_call_into(embed, frame, &embedding, NULL,
                          (struct embed_outputs){.x = stream_at(a, &only, 0)}));
    for (int64_t layer = 0; layer < layers; layer++) {
        const struct block_args one = block_of_layer(a, layer, stream_at(a, &only, layer));
        POL_TRY(pol_call_into(block, frame, &one, NULL,
                              (struct block_outputs){.y = stream_at(a, &only, layer + 1)}));
    }
    const struct norm_args last = {
        .x = stream_at(a, &only, layers), .gain = a->w.norm_final, .saved = a->saved.norm};
    struct norm_outputs normed;
    POL_TRY(
        pol_call_into(norm, frame, &last, &normed, (struct norm_outputs){.y = a->saved.normed}));
    const struct loss_args how_far = {
        .x = normed.y,
        .w = *weights_output(&a->w),
        .targets = a->targets,
        .saved = a->saved.loss,
    };
    return pol_call_into(loss, frame, &how_far, NULL, (struct loss_outputs){.loss = out->loss});
}

struct backward_outputs backward_outputs(const struct backward_args *a)
{
    struct backward_outputs out = {.dw = a->forward.w};
    pol_array *const each = pol_arrays(&out);
    for (size_t i = 0; i < pol_count_arrays(&out); i++)
        each[i] = pol_undef_like(&each[i]);
    return out;
}

/* From the loss to the gradient of the stream's end. */
static pol_status back_head(pol_frame *frame, const struct forward_args *a,
                            const struct weights *dw, pol_array *dx)
{
    const pol_array w = *weights_output(&a->w), x = pol_index(&a->saved.stream, a->config->layers);
    const struct loss_backward_args last = {
        .x = pol_shadowed_like(&a->saved.normed, REAL),
        .w = pol_shadowed_like(&w, REAL),
        .targets = a->targets,
        .saved = a->saved.loss,
    };
    struct loss_backward_outputs shadows;
    POL_TRY(pol_call_into(loss_backward, frame, &last, &shadows,
                          (struct loss_backward_outputs){.dw = *weights_output(dw)}));
    const struct norm_backward_args before = {
        .x = pol_shadowed_like(&x, REAL),
        .gain = pol_shadowed_like(&a->w.norm_final, REAL),
        .saved = a->saved.norm,
        .dy = shadows.dx,
    };
    *dx = shadows.dx;
    return pol_call_into(norm_backward, frame, &before, NULL,
                         (struct norm_backward_outputs){.dx = *dx, .dgain = dw->norm_final});
}

/* One layer's way back, dx in place. If its checkpoints were not saved, they are made again here,
   and die with this frame. */
static pol_status back_layer(pol_frame *frame, const struct forward_args *a, int64_t layer,
                             const struct weights *dw, pol_array dx)
{
    struct block_backward_args back = {
        .forward = block_of_layer(a, layer, pol_index(&a->saved.stream, layer)),
        .dy = dx,
    };
    if (a->recompute) {
        POL_TRY(pol_checkpoints(frame, block, &back.forward, &back.forward.saved));
        POL_TRY(pol_call_into(block, frame, &back.forward, NULL,
                              (struct block_outputs){.y = pol_index(&a->saved.stream, layer + 1)}));
    }
    return pol_call_into(
        block_backward, frame, &back, NULL,
        (struct block_backward_outputs){.dx = dx, .dw = weights_of_layer(dw, layer)});
}

pol_status backward(const struct backward_outputs *out, const struct backward_args *back,
                    pol_frame *frame)
{
    const struct forward_args *const a = &back->forward;
    const struct weights *const dw = &out->dw;
    pol_array dx;
    POL_TRY(back_head(frame, a, dw, &dx));
    for (int64_t layer = a->config->layers; layer-- > 0;)
        POL_SCRATCHSPACE(one, frame) {
            POL_TRY(back_layer(one, a, layer, dw, dx));
        }

    /* An embedding that is the output layer's matrix too has two gradients, which are added. */
    const struct embed_backward_args first = {
        .tokens = a->tokens,
        .w = pol_shadowed_like(&a->w.embedding, REAL),
        .dx = dx,
        .add = pol_is_absent(&a->w.output) ? dw->embedding : (pol_array){0},
    };
    return pol_call_into(embed_backward, frame, &first, NULL,
                         (struct embed_backward_outputs){.dw = dw->embedding});
}

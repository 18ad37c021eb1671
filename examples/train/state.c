/* SPDX-License-Identifier: MIT */
#include "state.h"

#include "optimizer.h"

#include <math.h>

enum { ALIGNMENT = 64, WEIGHTS = pol_count_arrays((struct weights *)NULL) };

pol_status state_part_nbytes(const struct config *c, size_t *nbytes)
{
    pol_arena measure;
    struct weights w;
    POL_TRY(pol_arena_measure(&measure, ALIGNMENT));
    POL_TRY(pol_alloc(&measure, &w, weights_undef(c, false)));
    *nbytes = pol_watermark(&measure);
    return POL_OK;
}

static pol_status open_part(struct part *part, pol_arena *arena, const struct config *c)
{
    size_t nbytes = 0;
    pol_arena inner;
    POL_TRY(state_part_nbytes(c, &nbytes));
    POL_TRY(pol_alloc(arena, &part->flat, pol_undef(REAL, (int64_t)(nbytes / sizeof(real)))));
    POL_TRY(pol_arena_over(&inner, &part->flat, ALIGNMENT));
    return pol_alloc(&inner, &part->at, weights_undef(c, false));
}

pol_status state_open(struct state *s, pol_arena *arena, const struct config *c, int64_t batch)
{
    const struct angles_args turn = {.context = c->context, .head_size = config_head_size(c)};
    POL_TRY(open_part(&s->w, arena, c));
    POL_TRY(open_part(&s->dw, arena, c));
    POL_TRY(open_part(&s->m, arena, c));
    POL_TRY(open_part(&s->v, arena, c));
    POL_TRY(pol_alloc(arena, &s->tokens, pol_undef(POL_I32, batch * c->context)));
    POL_TRY(pol_alloc(arena, &s->targets, pol_undef_like(&s->tokens)));
    return pol_call(angles, arena, &turn, &s->angles);
}

static struct forward_args forward_of(const struct state *s, const struct step *step)
{
    return (struct forward_args){
        .config = step->config,
        .w = s->w.at,
        .tokens = s->tokens,
        .targets = s->targets,
        .angles = s->angles.table,
        .period = step->config->context,
        .recompute = step->recompute,
    };
}

struct forward_checkpoints step_checkpoints(const struct step *step)
{
    const struct forward_args args = {
        .config = step->config,
        .tokens = pol_undef(POL_I32, step->batch * step->config->context),
        .recompute = step->recompute,
    };
    return forward_checkpoints(&args);
}

/* Gains of norms are not pulled to 0. */
static double decay_of(const struct weights *w, const pol_array *which, double decay)
{
    return which == &w->norm_att || which == &w->norm_ffn || which == &w->norm_final ? 0 : decay;
}

static pol_status move(pol_frame *frame, const struct state *s, const struct step *step,
                       double scale)
{
    const pol_array *const w = pol_arrays(&s->w.at);
    const pol_array *const dw = pol_arrays(&s->dw.at);
    const pol_array *const m = pol_arrays(&s->m.at);
    const pol_array *const v = pol_arrays(&s->v.at);
    for (int i = 0; i < WEIGHTS; i++) {
        if (pol_is_absent(&w[i]))
            continue;
        const struct adamw_args args = {
            .w = pol_shadowed_of(w[i], dw[i]),
            .m = m[i],
            .v = v[i],
            .rate = step->rate,
            .decay = decay_of(&s->w.at, &w[i], step->decay),
            .scale = scale,
            .step = step->number,
        };
        POL_TRY(pol_call_into(adamw, frame, &args, NULL,
                              (struct adamw_outputs){.w = w[i], .m = m[i], .v = v[i]}));
    }
    return POL_OK;
}

/* What to scale the gradients by, so that together they are no longer than step->clip. One that is
   no number would make all weights none. */
static pol_status clip(pol_frame *frame, const struct state *s, const struct step *step,
                       double *scale)
{
    const struct squares_args args = {.x = s->dw.flat};
    double sum = 0;
    POL_TRY(pol_call_into(squares, frame, &args, NULL,
                          (struct squares_outputs){.sum = pol_wrap_scalar(&sum, POL_F64)}));
    const double norm = sqrt(sum);
    if (!isfinite(norm))
        return pol_fail(POL_EUSER,
                        "the gradients' norm is no finite number at step %lld; a lower --rate or "
                        "--clip may help",
                        (long long)step->number);
    *scale = step->clip > 0 && norm > step->clip ? step->clip / norm : 1;
    return POL_OK;
}

pol_status step_train(const struct state *s, pol_arena *arena, const struct step *step,
                      double *loss)
{
    struct backward_args back = {.forward = forward_of(s, step)};
    const struct forward_outputs out = {.loss = pol_wrap_scalar(loss, POL_F64)};
    double scale = 1;
    POL_SCRATCHSPACE(frame, arena) {
        POL_TRY(pol_checkpoints(frame, forward, &back.forward, &back.forward.saved));
        POL_TRY(pol_call_into(forward, frame, &back.forward, NULL, out));
        POL_TRY(
            pol_call_into(backward, frame, &back, NULL, (struct backward_outputs){.dw = s->dw.at}));
        POL_TRY(clip(frame, s, step, &scale));
        POL_TRY(move(frame, s, step, scale));
    }
    return POL_OK;
}

pol_status step_loss(const struct state *s, pol_arena *arena, const struct step *step, double *loss)
{
    const struct forward_args args = forward_of(s, step);
    const struct forward_outputs out = {.loss = pol_wrap_scalar(loss, POL_F64)};
    return pol_call_into(forward, arena, &args, NULL, out);
}

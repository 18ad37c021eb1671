/* SPDX-License-Identifier: MIT */
#include "plan.h"

pol_status plan_measure(struct plan *p, const struct step *step)
{
    pol_arena measure;
    struct state state;
    struct forward_checkpoints saved;
    double loss = 0;
    size_t part = 0;
    POL_TRY(state_part_nbytes(step->config, &part));
    POL_TRY(pol_arena_measure(&measure, 0));
    POL_TRY(state_open(&state, &measure, step->config, step->batch));
    POL_TRY(step_train(&state, &measure, step, &loss));
    *p = (struct plan){.parameters = part, .gradients = part, .moments = 2 * part};
    p->total = pol_watermark(&measure);

    POL_TRY(pol_reset(&measure));
    POL_TRY(pol_alloc(&measure, &saved, step_checkpoints(step)));
    p->kept = pol_arena_offset(&measure);
    p->scratch = p->total - 4 * part - p->kept;
    return POL_OK;
}

/* What a trainer without frames declares at its top. (layers, rows, ...) */
struct by_hand {
    pol_array embedded;              /* (rows, dim) */
    pol_array normed, q, k, v;       /* norm and the projections; the rotation is in place */
    pol_array attended, projected;   /* attention, and after wo */
    pol_array middle, normed_again;  /* the residual, and its norm */
    pol_array a, b, gated;           /* the feed-forward's */
    pol_array down, end;             /* after w2, and the residual */
    pol_array scales[2];             /* of the norms */
    pol_array last;                  /* (rows, dim): after the last norm */
    pol_array scores, probabilities; /* (layers, batch, heads, context, context) */
    pol_array logits, softmax;       /* (rows, vocab) */
};

static struct by_hand by_hand_undef(const struct step *step, bool matrices)
{
    const struct config *const c = step->config;
    const int64_t rows = step->batch * c->context;
    const pol_array row = pol_undef(REAL, rows, c->dim);
    const pol_array wide = pol_undef(REAL, c->layers, rows, c->dim);
    const pol_array kv = pol_undef(REAL, c->layers, rows, config_kv_dim(c));
    const pol_array hidden = pol_undef(REAL, c->layers, rows, c->hidden);
    const pol_array scale = pol_undef(REAL, c->layers, rows);
    struct by_hand h = {
        .embedded = row,
        .normed = wide,
        .q = wide,
        .k = kv,
        .v = kv,
        .attended = wide,
        .projected = wide,
        .middle = wide,
        .normed_again = wide,
        .a = hidden,
        .b = hidden,
        .gated = hidden,
        .down = wide,
        .end = wide,
        .scales = {scale, scale},
        .last = row,
    };
    if (matrices) {
        h.scores = pol_undef(REAL, c->layers, step->batch, c->heads, c->context, c->context);
        h.probabilities = h.scores;
        h.logits = h.softmax = pol_undef(REAL, rows, c->vocab);
    }
    return h;
}

pol_status plan_by_hand(struct plan *p, const struct step *step, bool matrices)
{
    pol_arena measure;
    struct by_hand activations, gradients;
    size_t part = 0;
    POL_TRY(state_part_nbytes(step->config, &part));
    POL_TRY(pol_arena_measure(&measure, 0));
    POL_TRY(pol_alloc(&measure, &activations, by_hand_undef(step, matrices)));
    *p = (struct plan){.parameters = part, .gradients = part, .moments = 2 * part};
    p->kept = pol_arena_offset(&measure);
    POL_TRY(pol_alloc(&measure, &gradients, by_hand_undef(step, matrices)));
    p->kept_gradients = pol_arena_offset(&measure) - p->kept;
    p->total = 4 * part + pol_arena_offset(&measure);
    return POL_OK;
}

static void print_row(FILE *file, const char *name, const size_t nbytes[4])
{
    fprintf(file, "%-28s", name);
    for (int i = 0; i < 4; i++)
        fprintf(file, " %13.1f", (double)nbytes[i] / 1e6);
    fputc('\n', file);
}

pol_status plan_print(FILE *file, const struct step *step)
{
    struct plan p[4];
    struct step each = *step;
    each.recompute = false;
    POL_TRY(plan_measure(&p[0], &each));
    each.recompute = true;
    POL_TRY(plan_measure(&p[1], &each));
    POL_TRY(plan_by_hand(&p[2], step, false));
    POL_TRY(plan_by_hand(&p[3], step, true));
    fprintf(file, "%-28s %13s %13s %13s %13s\n", "megabytes (1e6)", "this program", "--recompute",
            "all kept", "and matrices");
#define ROW(name, field)                                                                           \
    print_row(file, name, (const size_t[]){p[0].field, p[1].field, p[2].field, p[3].field})
    ROW("parameters", parameters);
    ROW("gradients", gradients);
    ROW("optimizer", moments);
    ROW("checkpoints or activations", kept);
    ROW("gradients of activations", kept_gradients);
    ROW("scratch, at its peak", scratch);
    ROW("in total", total);
#undef ROW
    return POL_OK;
}

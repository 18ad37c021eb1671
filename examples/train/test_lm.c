/* SPDX-License-Identifier: MIT */
/*
 * The whole model's gradient, in double: against central differences of the loss along random
 * directions, one array of weights at a time; and the same bytes with and without recomputation,
 * and with teams of 1 and 2. The dry run of a step takes what the step does.
 */
#include "lm.h"
#include "random.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERIOD = 5, ROWS = 3 * PERIOD, WEIGHTS = pol_count_arrays((struct weights *)NULL) };

static const double NUDGE = 1e-5, TOLERANCE = 1e-7;

struct fixture {
    struct weights w, dw, again, direction;
    pol_array tokens, targets;
    struct angles_outputs angles;
};

static void fill(const pol_array *a, uint64_t *random, double about, double spread)
{
    int64_t n = 0;
    if (!pol_is_array(a) || pol_len(a, &n) != POL_OK)
        return;
    for (int64_t i = 0; i < n; i++)
        pol_data(a, real)[i] = about + spread * (2 * (double)random_unit(random) - 1);
}

static void fill_all(struct weights *w, uint64_t *random, double spread)
{
    pol_array *const each = pol_arrays(w);
    for (int i = 0; i < WEIGHTS; i++)
        fill(&each[i], random, 0, spread);
}

static struct fixture fixture_undef(const struct config *c)
{
    const struct weights w = weights_undef(c, false);
    const struct angles_args turn = {.context = c->context, .head_size = config_head_size(c)};
    return (struct fixture){
        .w = w,
        .dw = w,
        .again = w,
        .direction = w,
        .tokens = pol_undef(POL_I32, ROWS),
        .targets = pol_undef(POL_I32, ROWS),
        .angles = angles_outputs(&turn),
    };
}

static pol_status prepare(pol_arena *arena, const struct config *c, struct fixture *f)
{
    const struct angles_args turn = {.context = c->context, .head_size = config_head_size(c)};
    POL_TRY(pol_alloc(arena, f, fixture_undef(c)));
    uint64_t random = 1;
    fill_all(&f->w, &random, 0.5);
    fill(&f->w.norm_att, &random, 1, 0.5);
    fill(&f->w.norm_ffn, &random, 1, 0.5);
    fill(&f->w.norm_final, &random, 1, 0.5);
    fill_all(&f->direction, &random, 1);
    fill_all(&f->dw, &random, 1e9); /* a shadow is overwritten, never added to */
    fill_all(&f->again, &random, 1e9);
    for (int i = 0; i < ROWS; i++) {
        pol_data(&f->tokens, int32_t)[i] = (int32_t)random_below(&random, (uint32_t)c->vocab);
        pol_data(&f->targets, int32_t)[i] = (int32_t)random_below(&random, (uint32_t)c->vocab);
    }
    return pol_call_into(angles, arena, &turn, NULL, f->angles);
}

static struct forward_args args_of(const struct config *c, const struct fixture *f)
{
    return (struct forward_args){
        .config = c,
        .w = f->w,
        .tokens = f->tokens,
        .targets = f->targets,
        .angles = f->angles.table,
        .period = PERIOD,
    };
}

static pol_status loss_of(pol_arena *arena, const struct config *c, const struct fixture *f,
                          double *loss)
{
    const struct forward_args args = args_of(c, f);
    const struct forward_outputs out = {.loss = pol_wrap_scalar(loss, POL_F64)};
    return pol_call_into(forward, arena, &args, NULL, out);
}

static pol_status gradient(pol_space *space, const struct config *c, const struct fixture *f,
                           bool recompute, const struct weights *dw)
{
    double loss = 0;
    struct backward_args back = {.forward = args_of(c, f)};
    const struct forward_outputs out = {.loss = pol_wrap_scalar(&loss, POL_F64)};
    back.forward.recompute = recompute;
    POL_SCRATCHSPACE(step, space) {
        POL_TRY(pol_checkpoints(step, forward, &back.forward, &back.forward.saved));
        POL_TRY(pol_call_into(forward, step, &back.forward, NULL, out));
        POL_TRY(pol_call_into(backward, step, &back, NULL, (struct backward_outputs){.dw = *dw}));
    }
    return POL_OK;
}

static void move(const pol_array *w, const pol_array *direction, double by)
{
    int64_t n = 0;
    if (pol_len(w, &n) != POL_OK)
        return;
    for (int64_t i = 0; i < n; i++)
        pol_data(w, real)[i] += by * pol_data(direction, real)[i];
}

/* One array of weights, moved along its part of the direction. */
static pol_status check_array(pol_arena *arena, const struct config *c, const struct fixture *f,
                              int which)
{
    const pol_array *const w = pol_arrays(&f->w) + which;
    const pol_array *const dw = pol_arrays(&f->dw) + which;
    const pol_array *const along = pol_arrays(&f->direction) + which;
    double up = 0, down = 0, want = 0;
    int64_t n = 0;
    if (pol_is_absent(w))
        return POL_OK;
    POL_TRY(pol_len(w, &n));
    for (int64_t i = 0; i < n; i++)
        want += pol_data(dw, real)[i] * pol_data(along, real)[i];
    move(w, along, NUDGE);
    POL_TRY(loss_of(arena, c, f, &up));
    move(w, along, -2 * NUDGE);
    POL_TRY(loss_of(arena, c, f, &down));
    move(w, along, NUDGE);
    const double have = (up - down) / (2 * NUDGE), error = fabs(have - want) / (1 + fabs(want));
    printf("  array %2d of the weights  %12.9f  %12.9f  %.1e\n", which, want, have, error);
    return error < TOLERANCE ? POL_OK
                             : pol_fail(POL_EUSER, "array %d: the gradient is wrong", which);
}

static pol_status check_same(const char *what, const struct fixture *f)
{
    const pol_array *const x = pol_arrays(&f->dw);
    const pol_array *const y = pol_arrays(&f->again);
    for (int i = 0; i < WEIGHTS; i++) {
        size_t nbytes = 0;
        POL_TRY(pol_nbytes(&x[i], &nbytes));
        if (nbytes != 0 && memcmp(x[i].data, y[i].data, nbytes) != 0)
            return pol_fail(POL_EUSER, "%s: array %d of the gradient differs", what, i);
    }
    return POL_OK;
}

/* The most that a step takes beyond what is there before it. */
static pol_status measure(const struct config *c, bool recompute, size_t *nbytes)
{
    pol_arena dry;
    struct fixture f;
    POL_TRY(pol_arena_measure(&dry, 0));
    POL_TRY(pol_alloc(&dry, &f, fixture_undef(c)));
    const size_t before = pol_arena_offset(&dry);
    POL_TRY(gradient(POL_SPACE(&dry), c, &f, recompute, &f.dw));
    *nbytes = pol_watermark(&dry) - before;
    return POL_OK;
}

static pol_status check_model(pol_arena *arena, const struct config *c)
{
    struct fixture f;
    POL_TRY(config_check(c));
    POL_TRY(prepare(arena, c, &f));
    const size_t before = pol_arena_offset(arena);
    POL_TRY(gradient(POL_SPACE(arena), c, &f, false, &f.dw));
    const size_t reached = pol_watermark(arena) - before;
    POL_TRY(gradient(POL_SPACE(arena), c, &f, true, &f.again));
    POL_TRY(check_same("recomputed", &f));
    POL_TRY(team_open(2));
    const pol_status status = gradient(POL_SPACE(arena), c, &f, false, &f.again);
    team_close();
    POL_TRY(status);
    POL_TRY(check_same("two threads", &f));

    /* Last, because the weights do not come back to the last digit. */
    for (int i = 0; i < WEIGHTS; i++)
        POL_TRY(check_array(arena, c, &f, i));

    size_t kept = 0, recomputed = 0;
    POL_TRY(measure(c, false, &kept));
    POL_TRY(measure(c, true, &recomputed));
    printf("  a step takes %zu bytes, %zu if it recomputes\n", kept, recomputed);
    if (reached != kept)
        return pol_fail(POL_EUSER, "the step took %zu bytes, its dry run %zu", reached, kept);
    return recomputed < kept ? POL_OK : pol_fail(POL_EUSER, "to recompute saves nothing");
}

static pol_status check_models(void)
{
    static const struct config configs[] = {
        {.dim = 12, .hidden = 10, .layers = 3, .heads = 3, .kv_heads = 1, .vocab = 7, .context = 5},
        {.dim = 8,
         .hidden = 16,
         .layers = 2,
         .heads = 2,
         .kv_heads = 2,
         .vocab = 9,
         .context = 6,
         .own_output = true},
    };
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        POL_SCRATCHSPACE(memory, pol_heap()) {
            pol_arena arena;
            POL_TRY(pol_arena_open(&arena, memory, (size_t)4 << 20, 0));
            printf("model %zu: gradient, difference quotient, relative error\n", i);
            POL_TRY(check_model(&arena, &configs[i]));
        }
    return POL_OK;
}

int main(void)
{
    if (check_models() == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

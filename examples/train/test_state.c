/* SPDX-License-Identifier: MIT */
/*
 * Steps on one small batch: the loss falls, the same with and without recomputation, and the arena
 * reaches what the plan says, to the byte. What the plan adds up is the total.
 */
#include "plan.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { STEPS = 30, BATCH = 3, WEIGHTS = pol_count_arrays((struct weights *)NULL) };

static const struct config CONFIG = {
    .dim = 16, .hidden = 24, .layers = 2, .heads = 4, .kv_heads = 2, .vocab = 11, .context = 9};

static struct step step_of(bool recompute)
{
    return (struct step){
        .config = &CONFIG,
        .batch = BATCH,
        .recompute = recompute,
        .rate = 0.01,
        .decay = 0.1,
        .clip = 1,
    };
}

static pol_status init(const struct state *s)
{
    const pol_array *const w = pol_arrays(&s->w.at);
    const struct part *const zeros[] = {&s->dw, &s->m, &s->v};
    uint64_t random = 3;
    size_t nbytes = 0;
    POL_TRY(pol_nbytes(&s->w.flat, &nbytes));
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        memset(zeros[i]->flat.data, 0, nbytes);
    memset(s->w.flat.data, 0, nbytes);
    for (int i = 0; i < WEIGHTS; i++) {
        int64_t n = 0;
        POL_TRY(pol_len(&w[i], &n));
        for (int64_t j = 0; j < n; j++)
            pol_data(&w[i], real)[j] = (real)0.2 * (2 * random_unit(&random) - 1);
    }
    for (int64_t i = 0; i < s->tokens.dims[0]; i++) {
        pol_data(&s->tokens, int32_t)[i] = (int32_t)random_below(&random, (uint32_t)CONFIG.vocab);
        pol_data(&s->targets, int32_t)[i] = (int32_t)random_below(&random, (uint32_t)CONFIG.vocab);
    }
    return POL_OK;
}

static pol_status run(pol_arena *arena, bool recompute, double *last)
{
    struct step step = step_of(recompute);
    struct state state;
    double first = 0, alone = 0;
    POL_TRY(state_open(&state, arena, &CONFIG, BATCH));
    POL_TRY(init(&state));
    POL_TRY(step_loss(&state, arena, &step, &alone));
    for (step.number = 1; step.number <= STEPS; step.number++) {
        POL_TRY(step_train(&state, arena, &step, last));
        if (step.number == 1)
            first = *last;
    }
    printf("loss %.6f, after %d steps %.6f\n", first, STEPS, *last);
    if (first < alone || alone < first)
        return pol_fail(POL_EUSER, "the loss alone is %.9g, a step's %.9g", alone, first);
    return *last < 0.7 * first ? POL_OK : pol_fail(POL_EUSER, "the loss hardly falls");
}

/* Without a limit a step is that of a limit far away; and a gradient that is no number moves
   nothing. */
static pol_status check_clip(void)
{
    struct step step = step_of(false);
    struct plan plan;
    POL_TRY(plan_measure(&plan, &step));
    POL_SCRATCHSPACE(memory, pol_heap()) {
        pol_arena arena;
        struct state state[2];
        double loss = 0;
        POL_TRY(pol_arena_open(&arena, memory, 2 * plan.total, 0));
        for (int i = 0; i < 2; i++) {
            POL_TRY(state_open(&state[i], &arena, &CONFIG, BATCH));
            POL_TRY(init(&state[i]));
            step.number = 1;
            step.clip = i == 0 ? 0 : 1e9;
            POL_TRY(step_train(&state[i], &arena, &step, &loss));
        }
        const size_t nbytes = (size_t)state[0].w.flat.dims[0] * sizeof(real);
        if (memcmp(state[0].w.flat.data, state[1].w.flat.data, nbytes) != 0)
            return pol_fail(POL_EUSER, "a clip of 0 clips");
        pol_data(&state[0].w.at.norm_final, real)[1] = (real)INFINITY;
        memcpy(state[1].w.flat.data, state[0].w.flat.data, nbytes);
        if (step_train(&state[0], &arena, &step, &loss) != POL_EUSER ||
            memcmp(state[0].w.flat.data, state[1].w.flat.data, nbytes) != 0)
            return pol_fail(POL_EUSER, "a gradient that is no number moves the weights");
    }
    return POL_OK;
}

static pol_status check_run(bool recompute, double *last)
{
    const struct step step = step_of(recompute);
    struct plan plan;
    POL_TRY(plan_measure(&plan, &step));
    POL_SCRATCHSPACE(memory, pol_heap()) {
        pol_arena arena;
        POL_TRY(pol_arena_open(&arena, memory, plan.total, 0));
        POL_TRY(run(&arena, recompute, last));
        if (pol_watermark(&arena) != plan.total)
            return pol_fail(POL_EUSER, "the run reached %zu bytes, its plan is %zu",
                            pol_watermark(&arena), plan.total);
    }
    return POL_OK;
}

static pol_status check_sum(const struct plan *p)
{
    const size_t sum =
        p->parameters + p->gradients + p->moments + p->kept + p->kept_gradients + p->scratch;
    return sum == p->total ? POL_OK
                           : pol_fail(POL_EUSER, "a plan of %zu adds up to %zu", p->total, sum);
}

/* A shape of GPT-2's small one: more than half is saved, whichever way. */
static pol_status check_large(void)
{
    static const struct config gpt2 = {.dim = 768,
                                       .hidden = 2048,
                                       .layers = 12,
                                       .heads = 12,
                                       .kv_heads = 12,
                                       .vocab = 50257,
                                       .context = 1024};
    struct step step = {.config = &gpt2, .batch = 4};
    struct plan kept, again, by_hand;
    POL_TRY(plan_measure(&kept, &step));
    step.recompute = true;
    POL_TRY(plan_measure(&again, &step));
    POL_TRY(plan_by_hand(&by_hand, &step, true));
    POL_TRY(check_sum(&kept));
    POL_TRY(check_sum(&again));
    POL_TRY(check_sum(&by_hand));
    POL_TRY(plan_print(stdout, &step));
    if (kept.total >= by_hand.total / 2 || again.total >= kept.total)
        return pol_fail(POL_EUSER, "the plans save less than they should");
    return POL_OK;
}

static pol_status check(void)
{
    double kept = 0, recomputed = 0;
    POL_TRY(check_run(false, &kept));
    POL_TRY(check_run(true, &recomputed));
    if (memcmp(&kept, &recomputed, sizeof kept) != 0)
        return pol_fail(POL_EUSER, "to recompute changes the result");
    POL_TRY(check_clip());
    return check_large();
}

int main(void)
{
    if (check() == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

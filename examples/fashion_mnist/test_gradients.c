/* SPDX-License-Identifier: MIT */
/*
 * Compares what a training step leaves in the parameters' shadows with finite differences of the
 * loss. The step runs with rate 0, so the parameters stay, and on shadows full of rubbish, because
 * a shadow is overwritten, never added to.
 */
#include "net.h"
#include "random.h"

#include <math.h>
#include <stdio.h>

enum { BATCH = 6, HIDDEN = 5, SLAB = 1 << 20 };

/* Small, so that hardly any relu changes sides; yet well above what f32 rounds off a loss. */
static const float NUDGE = 1e-3f;

struct fixture {
    struct net net;
    struct samples samples;
};

static pol_status prepare(pol_arena *arena, struct fixture *f, uint64_t seed)
{
    POL_TRY(pol_alloc(arena, f,
                      (struct fixture){
                          .net = net_undef(HIDDEN),
                          .samples.images = pol_undef(POL_U8, BATCH, IMAGE_SIDE, IMAGE_SIDE),
                          .samples.labels = pol_undef(POL_U8, BATCH),
                      }));
    uint8_t *const pixels = pol_data(&f->samples.images, uint8_t);
    uint8_t *const labels = pol_data(&f->samples.labels, uint8_t);
    for (int i = 0; i < BATCH * PIXELS; i++)
        pixels[i] = (uint8_t)random_below(&seed, 256);
    for (int i = 0; i < BATCH; i++)
        labels[i] = (uint8_t)random_below(&seed, CLASSES);
    net_init(&f->net, seed);
    return POL_OK;
}

static pol_status spoil(const pol_array *a)
{
    int64_t n;
    POL_TRY(pol_len(a, &n));
    for (int64_t i = 0; i < n; i++)
        pol_data(a, float)[i] = 1e9f;
    return POL_OK;
}

static pol_status loss_of(pol_arena *arena, const struct fixture *f, double *loss)
{
    const struct test_step_args args = {.net = &f->net, .batch = {f->samples, .count = BATCH}};
    POL_SCRATCHSPACE(step, arena) {
        struct test_step_outputs score;
        POL_TRY(pol_call(test_step, step, &args, &score));
        *loss = (double)*pol_data(&score.loss, float);
    }
    return POL_OK;
}

static pol_status write_shadows(pol_arena *arena, const struct fixture *f)
{
    const struct train_step_args args = {.net = &f->net, .batch = {f->samples, .count = BATCH}};
    struct train_step_outputs score;
    POL_TRY(spoil(pol_shadow(&f->net.w1.at)));
    POL_TRY(spoil(pol_shadow(&f->net.b1.at)));
    POL_TRY(spoil(pol_shadow(&f->net.w2.at)));
    POL_TRY(spoil(pol_shadow(&f->net.b2.at)));
    return pol_call(train_step, arena, &args, &score);
}

/* Every `stride`-th element of a parameter. */
static pol_status compare(pol_arena *arena, const struct fixture *f, const char *name,
                          const pol_shadowed *p, int64_t stride)
{
    int64_t n;
    POL_TRY(pol_len(pol_primal(p), &n));
    float *const x = pol_data(pol_primal(p), float);
    const float *const dx = pol_data(pol_shadow(p), float);
    for (int64_t i = 0; i < n; i += stride) {
        const float before = x[i];
        double above, below;
        x[i] = before + NUDGE;
        POL_TRY(loss_of(arena, f, &above));
        x[i] = before - NUDGE;
        POL_TRY(loss_of(arena, f, &below));
        x[i] = before;
        const double wanted = (above - below) / (2 * (double)NUDGE);
        if (!(fabs((double)dx[i] - wanted) <= 1e-3 + 0.01 * fabs(wanted)))
            return pol_fail(POL_EUSER, "d loss / d %s[%lld] is %g, by differences %g", name,
                            (long long)i, (double)dx[i], wanted);
    }
    return POL_OK;
}

static pol_status test(void)
{
    POL_SCRATCHSPACE(memory, pol_heap()) {
        pol_arena arena;
        struct fixture f;
        POL_TRY(pol_arena_open(&arena, memory, SLAB, 0));
        POL_TRY(prepare(&arena, &f, 7));
        POL_TRY(write_shadows(&arena, &f));
        POL_TRY(compare(&arena, &f, "w1", &f.net.w1.at, 17));
        POL_TRY(compare(&arena, &f, "b1", &f.net.b1.at, 1));
        POL_TRY(compare(&arena, &f, "w2", &f.net.w2.at, 1));
        POL_TRY(compare(&arena, &f, "b2", &f.net.b2.at, 1));
    }
    return POL_OK;
}

int main(void)
{
    if (test() == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * What scratch costs beside the work that it is for: the softmax of 1000 floats, with its 4000 bytes
 * of scratch out of a static buffer, a frame, pol_call, malloc. The arithmetic is one function, in
 * all of them, and quick: exp() by a polynomial that the compiler vectorizes.
 */
#include "peer.h"

#include <pol/pol.h>

#include <string.h>

static const bench_group group = {"softmax", "Softmax of 1000 floats, its scratch from", "softmax",
                                  NULL};

enum { LENGTH = 1000, LANES = 8 };

/* exp(x) for -87 <= x <= 0, to about 1e-4: 2^f by a polynomial, 2^i in the exponent's bits. */
static inline float fast_exp(float x)
{
    const float t = x * 1.44269504f + 127.0f;
    const int32_t whole = (int32_t)t;
    const float f = t - (float)whole;
    const float p = 1.0f + f * (0.695556856f + f * (0.226173572f + f * 0.0781455737f));
    const uint32_t bits = (uint32_t)whole << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

__attribute__((noinline, optimize("O3"))) static void
compute(float *restrict y, const float *restrict x, float *restrict tmp)
{
    float most[LANES], sums[LANES] = {0};
    memcpy(most, x, sizeof most);
    for (size_t i = 0; i < LENGTH; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
    for (size_t j = 1; j < LANES; j++)
        most[0] = most[j] > most[0] ? most[j] : most[0];
    const float largest = most[0];
    for (size_t i = 0; i < LENGTH; i++)
        tmp[i] = fast_exp(x[i] - largest);
    for (size_t i = 0; i < LENGTH; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            sums[j] += tmp[i + j];
    for (size_t j = 1; j < LANES; j++)
        sums[0] += sums[j];
    const float scale = 1 / sums[0];
    for (size_t i = 0; i < LENGTH; i++)
        y[i] = tmp[i] * scale;
}

static float x[LENGTH], y[LENGTH];

struct softmax_args {
    pol_array x; /* (n) f32 */
};
struct softmax_outputs {
    pol_array y; /* (n) f32 */
};
struct softmax_scratch {
    pol_array tmp; /* (n) f32 */
};

static struct softmax_outputs softmax_outputs(const struct softmax_args *a)
{
    return (struct softmax_outputs){.y = pol_undef_like(&a->x)};
}

static struct softmax_scratch softmax_scratch(const struct softmax_args *a)
{
    return (struct softmax_scratch){.tmp = pol_undef_like(&a->x)};
}

static pol_status softmax(const struct softmax_outputs *out, const struct softmax_args *a,
                          const struct softmax_scratch *s)
{
    compute(pol_data(&out->y, float), pol_data(&a->x, float), pol_data(&s->tmp, float));
    return POL_OK;
}

POL_ALLOCATING(softmax, outputs, scratch);

static void run_static(const bench_case *c, uint64_t n)
{
    static float tmp[LENGTH];
    (void)c;
    for (uint64_t k = 0; k < n; k++) {
        compute(y, x, tmp);
        bench_keep(y);
    }
}

static void run_frame(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++)
        POL_SCRATCHSPACE(frame, arena) {
            compute(y, x, pol_new(frame, float, LENGTH));
            bench_keep(y);
        }
}

/* The output is given, so that all of them write to the same place. */
static void run_call_into(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    const struct softmax_args args = {pol_wrap(x, POL_F32, LENGTH)};
    const struct softmax_outputs given = {pol_wrap(y, POL_F32, LENGTH)};
    for (uint64_t k = 0; k < n; k++) {
        bench_try(pol_call_into(softmax, arena, &args, NULL, given));
        bench_keep(y);
    }
}

/* The output too, taken back so that the next one lies in its place. */
static void run_call(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    const struct softmax_args args = {pol_wrap(x, POL_F32, LENGTH)};
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        struct softmax_outputs out;
        bench_try(pol_call(softmax, arena, &args, &out));
        bench_keep(out.y.data);
        bench_try(pol_retract(arena, mark));
    }
}

static void run_peer(const bench_case *c, uint64_t n)
{
    static const size_t nbytes = LENGTH * sizeof(float);
    const opened *const o = (const opened *)c->with;
    void *tmp;
    for (uint64_t k = 0; k < n; k++) {
        o->p->carve(o->context, &tmp, &nbytes, 1);
        compute(y, x, (float *)tmp);
        bench_keep(y);
        o->p->clear(o->context, &tmp, 1);
    }
}

void bench_add_softmax(bench *b)
{
    static pol_arena arena;
    static peer peers[BENCH_PEERS];
    static opened contexts[BENCH_PEERS];
    const size_t nbytes = 1 << 16, count = bench_peers(peers);
    bench_try(pol_arena_init(&arena, bench_slab(nbytes), nbytes, 0));
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = (float)(i % 17);
    const bench_case cases[] = {
        {&group, "static", "a static buffer", BENCH_FLOOR, 1, .run = run_static},
        {&group, "frame", "a frame", BENCH_LIBPOL, 1, .with = &arena, .run = run_frame},
        {&group, "pol_call", "pol_call, its output too", BENCH_LIBPOL, 1, .with = &arena,
         .run = run_call},
        {&group, "pol_call_into", "pol_call_into", BENCH_LIBPOL, 1, .with = &arena,
         .run = run_call_into},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_add(b, &cases[i]);
    for (size_t i = 0; i < count; i++)
        if (peers[i].kind == BENCH_GENERAL) {
            contexts[i] = (opened){&peers[i], bench_peer_open(&peers[i], 4 * LENGTH, 16)};
            const bench_case c = {&group, peers[i].name,        peers[i].label, BENCH_GENERAL,
                                  1,      .with = &contexts[i], .run = run_peer};
            bench_add(b, &c);
        }
}

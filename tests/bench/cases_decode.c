/* SPDX-License-Identifier: MIT */
/*
 * The buffers of one decoding step of a transformer: 3 arrays for the step, and 12 for each of 32
 * layers, of 4 to 128 KiB, in 33 frames. First the allocator alone, then with one byte of each page
 * written, on a line that walks, so that not all of them fall into the same set of the cache.
 *
 * Peers have no frames: a region is kept for the step and another for the layer, and cleared.
 */
#include "peer.h"

#include <pol/pol.h>

#include "bump.h"

static const bench_group alone = {"decode", "Decode step, 387 arrays in 33 frames", "step", NULL};
static const bench_group touched = {"touched", "Decode step, one byte of each page written", "step",
                                    NULL};

enum { STEP = 3, LAYERS = 32, LAYER = 12, PAGE = 4096, ALIGNMENT = 16 };

static size_t step_sizes[STEP];
static size_t layer_sizes[LAYERS][LAYER];
static size_t step_total, layer_total; /* of the largest layer */
static void *step_out[STEP], *layer_out[LAYER];
static size_t line; /* of each page; each step begins at the first, so that it finds its own warm */

typedef struct on {
    bool touch;
    bump by_hand;
    pol_arena *arena;
    const peer *p;
    void *step, *layer;
} on;

static void touch(const on *o, void **out, const size_t *sizes, size_t count)
{
    if (!o->touch)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t page = 0; page < sizes[i] / PAGE; page++) {
            ((char *)out[i])[page * PAGE + line] = 1;
            line = (line + 64) % PAGE;
        }
}

static void run_bump(const bench_case *c, uint64_t n)
{
    on *const o = (on *)c->with;
    bump *const b = &o->by_hand;
    for (uint64_t k = 0; k < n; k++) {
        const size_t step = b->offset;
        line = 0;
        for (size_t i = 0; i < STEP; i++)
            bench_keep(step_out[i] = bump_new(b, step_sizes[i]));
        touch(o, step_out, step_sizes, STEP);
        for (size_t l = 0; l < LAYERS; l++) {
            const size_t layer = b->offset;
            for (size_t i = 0; i < LAYER; i++)
                bench_keep(layer_out[i] = bump_new(b, layer_sizes[l][i]));
            touch(o, layer_out, layer_sizes[l], LAYER);
            b->offset = layer;
        }
        b->offset = step;
    }
}

static void run_inlined(const bench_case *c, uint64_t n)
{
    const on *const o = (const on *)c->with;
    for (uint64_t k = 0; k < n; k++)
        POL_SCRATCHSPACE(step, o->arena) {
            line = 0;
            for (size_t i = 0; i < STEP; i++)
                bench_keep(step_out[i] = pol_new(step, char, step_sizes[i]));
            touch(o, step_out, step_sizes, STEP);
            for (size_t l = 0; l < LAYERS; l++)
                POL_SCRATCHSPACE(layer, step) {
                    for (size_t i = 0; i < LAYER; i++)
                        bench_keep(layer_out[i] = pol_new(layer, char, layer_sizes[l][i]));
                    touch(o, layer_out, layer_sizes[l], LAYER);
                }
        }
}

static void describe(pol_frame *frame, void **out, const size_t *sizes, size_t count)
{
    pol_space *const space = POL_SPACE(frame);
    for (size_t i = 0; i < count; i++) {
        pol_array a;
        bench_try(pol_alloc(space, &a, pol_undef(POL_U8, (int64_t)sizes[i])));
        bench_keep(out[i] = a.data);
    }
}

/* Descriptions, and every call into the library. */
static void run_library(const bench_case *c, uint64_t n)
{
    const on *const o = (const on *)c->with;
    pol_frame step, layer;
    for (uint64_t k = 0; k < n; k++) {
        (pol_frame_begin)(&step, POL_SPACE(o->arena));
        line = 0;
        describe(&step, step_out, step_sizes, STEP);
        touch(o, step_out, step_sizes, STEP);
        for (size_t l = 0; l < LAYERS; l++) {
            (pol_frame_begin)(&layer, &step.space);
            describe(&layer, layer_out, layer_sizes[l], LAYER);
            touch(o, layer_out, layer_sizes[l], LAYER);
            bench_try((pol_frame_end)(&layer));
        }
        bench_try((pol_frame_end)(&step));
    }
}

static void run_peer(const bench_case *c, uint64_t n)
{
    const on *const o = (const on *)c->with;
    const peer *const p = o->p;
    for (uint64_t k = 0; k < n; k++) {
        line = 0;
        p->carve(o->step, step_out, step_sizes, STEP);
        touch(o, step_out, step_sizes, STEP);
        for (size_t l = 0; l < LAYERS; l++) {
            p->carve(o->layer, layer_out, layer_sizes[l], LAYER);
            touch(o, layer_out, layer_sizes[l], LAYER);
            p->clear(o->layer, layer_out, LAYER);
        }
        p->clear(o->step, step_out, STEP);
    }
}

static void choose_sizes(void)
{
    bench_sizes(step_sizes, STEP, PAGE, 128 << 10, 2);
    bench_sizes(layer_sizes[0], (size_t)LAYERS * LAYER, PAGE, 128 << 10, 3);
    for (size_t i = 0; i < STEP; i++)
        step_total += step_sizes[i];
    for (size_t l = 0; l < LAYERS; l++) {
        size_t total = 0;
        for (size_t i = 0; i < LAYER; i++)
            total += layer_sizes[l][i];
        layer_total = total > layer_total ? total : layer_total;
    }
}

static void add_ours(bench *b, const bench_group *group, on *o)
{
    const size_t nbytes = step_total + layer_total + (STEP + LAYER + 1) * ALIGNMENT;
    static pol_arena arenas[2];
    o->arena = &arenas[o->touch];
    o->by_hand = (bump){bench_slab(nbytes), 0, nbytes, ALIGNMENT};
    bench_try(pol_arena_init(o->arena, bench_slab(nbytes), nbytes, ALIGNMENT));
    const bench_case cases[] = {
        {group, "bump", "checked bump, by hand", BENCH_FLOOR, 1, .with = o, .run = run_bump},
        {group, "inlined", "frames, pol_new", BENCH_LIBPOL, 1, .with = o, .run = run_inlined},
        {group, "library", "frames, pol_alloc, library", BENCH_LIBPOL, 1, .with = o,
         .run = run_library},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_add(b, &cases[i]);
}

static void add_peer(bench *b, const bench_group *group, const peer *p, on *o)
{
    o->p = p;
    o->step = bench_peer_open(p, step_total, ALIGNMENT);
    o->layer = bench_peer_open(p, layer_total, ALIGNMENT);
    const bench_case c = {group, p->name, p->label, p->kind, 1, .with = o, .run = run_peer};
    bench_add(b, &c);
}

void bench_add_decode(bench *b)
{
    static peer peers[BENCH_PEERS];
    static on all[2][BENCH_PEERS + 1];
    const size_t count = bench_peers(peers);
    choose_sizes();
    for (size_t t = 0; t < 2; t++) {
        const bench_group *const group = t ? &touched : &alone;
        for (size_t i = 0; i <= count; i++)
            all[t][i].touch = t != 0;
        add_ours(b, group, &all[t][count]);
        for (size_t i = 0; i < count; i++)
            add_peer(b, group, &peers[i], &all[t][i]);
    }
}

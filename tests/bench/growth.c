/* SPDX-License-Identifier: MIT */
/*
 * Growth: what must not grow. The cost of a carve with 1 to 10^6 arrays alive, out of slabs of 4 KiB
 * to 64 GiB, of a frame with up to 63 beneath it, of an entry in bundles of up to 1000.
 *
 * No slab here is touched, so the large ones cost nothing but addresses.
 */
#include "bench.h"

#include <pol/pol.h>

#include <string.h>

#include "bump.h"

static const bench_group live = {"growth_live", "Carving, by arrays alive", "array",
                                 "arrays alive before"};
static const bench_group slabs = {"growth_slab", "Carving, by size of the slab", "array",
                                  "bytes of slab"};
static const bench_group nested = {"growth_nested", "Frames, by depth", "frame", "frames open"};
static const bench_group bundles = {"growth_bundle", "Bundles, by entries", "entry",
                                    "entries in the bundle"};

enum { DEEPEST = 64, WIDEST = 1000, MOST = 1000000, SMALL = 64, FEW = 32 };

static pol_arena arena;
static pol_frame frames[DEEPEST];
static pol_array described[WIDEST], bundle[WIDEST];

/* What is alive was carved beforehand; an operation is 32 more, which are taken back. */
static void run_live_bump(const bench_case *c, uint64_t n)
{
    bump *const b = (bump *)c->with;
    for (uint64_t k = 0; k < n; k++) {
        const size_t mark = b->offset;
        for (size_t i = 0; i < FEW; i++)
            bench_keep(bump_new(b, SMALL));
        b->offset = mark;
    }
}

static void run_live_new(const bench_case *c, uint64_t n)
{
    pol_arena *const on = (pol_arena *)c->with;
    const struct pol_mark mark = pol_mark(on);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < FEW; i++)
            bench_keep(pol_new(on, char, SMALL));
        bench_try(pol_retract(on, mark));
    }
}

static void run_live_alloc(const bench_case *c, uint64_t n)
{
    pol_arena *const on = (pol_arena *)c->with;
    const struct pol_mark mark = pol_mark(on);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < FEW; i++) {
            pol_array a;
            bench_try(pol_alloc(POL_SPACE(on), &a, pol_undef(POL_U8, SMALL)));
            bench_keep(&a);
        }
        bench_try(pol_retract(on, mark));
    }
}

/* 32 arrays that fill three quarters of the slab. */
static void run_slab(const bench_case *c, uint64_t n)
{
    pol_arena *const on = (pol_arena *)c->with;
    const struct pol_mark mark = pol_mark(on);
    const size_t nbytes = c->x / FEW / 4 * 3;
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < FEW; i++)
            bench_keep(pol_new(on, char, nbytes));
        bench_try(pol_retract(on, mark));
    }
}

static void run_nested(const bench_case *c, uint64_t n)
{
    pol_arena *const on = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++) {
        pol_frame_begin(&frames[0], on);
        for (uint64_t i = 1; i < c->x; i++)
            pol_frame_begin(&frames[i], &frames[i - 1]);
        bench_keep(frames);
        for (uint64_t i = c->x; i-- > 0;)
            bench_try(pol_frame_end(&frames[i]));
    }
}

static void run_bundle(const bench_case *c, uint64_t n)
{
    pol_arena *const on = (pol_arena *)c->with;
    const struct pol_mark mark = pol_mark(on);
    for (uint64_t k = 0; k < n; k++) {
        memcpy(bundle, described, c->x * sizeof *bundle);
        bench_try(pol_alloc_arrays(POL_SPACE(on), bundle, c->x));
        bench_keep(bundle);
        bench_try(pol_retract(on, mark));
    }
}

static void add_live(bench *b, const pol_array *slab)
{
    static const uint64_t counts[] = {1, 10, 100, 1000, 10000, 100000, MOST};
    static pol_arena arenas[sizeof counts / sizeof *counts];
    static bump bumps[sizeof counts / sizeof *counts];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint64_t x = counts[i];
        bench_try(pol_arena_over(&arenas[i], slab, 0));
        bumps[i] = (bump){(char *)slab->data, 0, (size_t)slab->dims[0], 256};
        for (uint64_t alive = 0; alive < x; alive++)
            if (!pol_new(&arenas[i], char, SMALL) || !bump_new(&bumps[i], SMALL))
                bench_die("growth", "the slab is too small");
        const bench_case cases[] = {
            {&live, "bump", "checked bump", BENCH_FLOOR, FEW, x, .with = &bumps[i],
             .run = run_live_bump},
            {&live, "pol_new", "pol_new, arena", BENCH_LIBPOL, FEW, x, .with = &arenas[i],
             .run = run_live_new},
            {&live, "pol_alloc", "pol_alloc, library", BENCH_LIBPOL, FEW, x, .with = &arenas[i],
             .run = run_live_alloc},
        };
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
            bench_add(b, &cases[j]);
    }
}

static void add_slabs(bench *b)
{
    enum { SLABS = 13 };
    static pol_arena arenas[SLABS];
    uint64_t nbytes = 4 << 10;
    for (size_t i = 0; i < SLABS; i++, nbytes *= 4) {
        bench_try(pol_arena_open(&arenas[i], pol_pages(), nbytes, 16));
        const bench_case c = {&slabs, "pol_new", "pol_new, arena",   BENCH_LIBPOL,
                              FEW,    nbytes,    .with = &arenas[i], .run = run_slab};
        bench_add(b, &c);
    }
}

static void add_nested_and_bundles(bench *b)
{
    static const uint64_t counts[] = {1, 3, 10, 30, 100, 300, WIDEST};
    for (uint64_t x = 1; x <= DEEPEST; x *= 2) {
        const bench_case c = {&nested, "frame", "begin and end", BENCH_LIBPOL,
                              x,       x,       .with = &arena,  .run = run_nested};
        bench_add(b, &c);
    }
    for (size_t i = 0; i < WIDEST; i++)
        described[i] = pol_undef(POL_F32, 16);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const bench_case c = {&bundles,  "bundle",  "pol_alloc_arrays", BENCH_LIBPOL,
                              counts[i], counts[i], .with = &arena,     .run = run_bundle};
        bench_add(b, &c);
    }
}

void bench_add_growth(bench *b)
{
    static pol_array slab;
    const size_t nbytes = ((size_t)MOST + FEW + 2) * 256;
    bench_try(pol_alloc(pol_pages(), &slab, pol_undef(POL_U8, (int64_t)nbytes)));
    bench_try(pol_arena_over(&arena, &slab, 0));
    add_live(b, &slab);
    add_slabs(b);
    add_nested_and_bundles(b);
}

/* SPDX-License-Identifier: MIT */
/* Frames with nothing in them. */
#include "bench.h"

#include <pol/pol.h>

static const bench_group group = {"frame", "Open and end an empty frame", "frame", NULL};

enum { DEPTH = 8 };

/* Over a pol_arena *, as most programs write it: what the headers can inline, they do. */
static void run_macro(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++)
        POL_SCRATCHSPACE(frame, arena)
            bench_keep(frame);
}

static void run_macro_nested(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++)
        POL_SCRATCHSPACE(f1, arena)
            POL_SCRATCHSPACE(f2, f1)
                POL_SCRATCHSPACE(f3, f2)
                    POL_SCRATCHSPACE(f4, f3)
                        POL_SCRATCHSPACE(f5, f4)
                            POL_SCRATCHSPACE(f6, f5)
                                POL_SCRATCHSPACE(f7, f6)
                                    POL_SCRATCHSPACE(f8, f7)
                                        bench_keep(f8);
}

/* The two functions themselves, over a pol_space *, as other languages call them. */
static void run_calls(const bench_case *c, uint64_t n)
{
    pol_space *const space = POL_SPACE((pol_arena *)c->with);
    pol_frame frame;
    for (uint64_t k = 0; k < n; k++) {
        (pol_frame_begin)(&frame, space);
        bench_keep(&frame);
        bench_try((pol_frame_end)(&frame));
    }
}

static void run_calls_nested(const bench_case *c, uint64_t n)
{
    pol_space *const space = POL_SPACE((pol_arena *)c->with);
    pol_frame frames[DEPTH];
    for (uint64_t k = 0; k < n; k++) {
        (pol_frame_begin)(&frames[0], space);
        for (size_t i = 1; i < DEPTH; i++)
            (pol_frame_begin)(&frames[i], &frames[i - 1].space);
        bench_keep(frames);
        for (size_t i = DEPTH; i-- > 0;)
            bench_try((pol_frame_end)(&frames[i]));
    }
}

static void run_mark(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    for (uint64_t k = 0; k < n; k++) {
        const struct pol_mark mark = pol_mark(arena);
        bench_keep(&mark);
        bench_try(pol_retract(arena, mark));
    }
}

void bench_add_frame(bench *b)
{
    static pol_arena arena;
    bench_try(pol_arena_init(&arena, bench_slab(4096), 4096, 0));
    const bench_case cases[] = {
        {&group, "inlined", "POL_SCRATCHSPACE, arena", BENCH_LIBPOL, 1, .run = run_macro},
        {&group, "inlined8", "the same, 8 nested", BENCH_LIBPOL, DEPTH, .run = run_macro_nested},
        {&group, "library", "pol_frame_begin, _end", BENCH_LIBPOL, 1, .run = run_calls},
        {&group, "library8", "the same, 8 nested", BENCH_LIBPOL, DEPTH, .run = run_calls_nested},
        {&group, "mark", "pol_mark, pol_retract", BENCH_LIBPOL, 1, .run = run_mark},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case c = cases[i];
        c.with = &arena;
        bench_add(b, &c);
    }
}

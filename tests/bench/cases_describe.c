/* SPDX-License-Identifier: MIT */
/*
 * Describing and materializing: pol_alloc of one small array in one to four dims, or of a bundle of
 * four, out of a named space or the ambient one. Every 64 of them the arena is retracted.
 */
#include "bench.h"

#include <pol/pol.h>

static const bench_group group = {"describe", "Describe and materialize", "pol_alloc", NULL};
static const bench_group lookup = {"ambient", "Ambient against explicit", "request", NULL};

typedef struct four {
    pol_array a, b, c, d;
} four;

static size_t dim = 2; /* hidden, so that no shape is known to the compiler */

static void run_empty(const bench_case *c, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++) {
            pol_array a;
            bench_keep(&a);
            bench_try(bench_empty_call(c->with, &a, 1));
        }
    }
}

/* A loop of materializations in a space of that type. */
#define RUN(name, type, space, dst_type, ...)                                                      \
    static void run_##name(const bench_case *c, uint64_t n)                                        \
    {                                                                                              \
        pol_arena *const arena = (pol_arena *)c->with;                                             \
        type *const on = (type *)(void *)arena;                                                    \
        const int64_t d = (int64_t)bench_hide(dim);                                                \
        const struct pol_mark mark = pol_mark(arena);                                              \
        (void)on;                                                                                  \
        for (uint64_t k = 0; k < n; k++) {                                                         \
            for (size_t i = 0; i < BENCH_ARRAYS; i++) {                                            \
                dst_type dst;                                                                      \
                bench_try(pol_alloc(space, &dst, __VA_ARGS__));                                    \
                bench_keep(&dst);                                                                  \
            }                                                                                      \
            bench_try(pol_retract(arena, mark));                                                   \
        }                                                                                          \
    }

#define FOUR                                                                                       \
    (four)                                                                                         \
    {                                                                                              \
        pol_undef(POL_F32, d), pol_undef(POL_F32, d), pol_undef(POL_F32, d), pol_undef(POL_F32, d) \
    }

RUN(arena_1d, pol_arena, on, pol_array, pol_undef(POL_F32, d))
RUN(arena_2d, pol_arena, on, pol_array, pol_undef(POL_F32, d, d))
RUN(arena_4d, pol_arena, on, pol_array, pol_undef(POL_F32, d, d, d, d))
RUN(arena_four, pol_arena, on, four, FOUR)
RUN(space_1d, pol_space, on, pol_array, pol_undef(POL_F32, d))
RUN(space_2d, pol_space, on, pol_array, pol_undef(POL_F32, d, d))
RUN(space_4d, pol_space, on, pol_array, pol_undef(POL_F32, d, d, d, d))
RUN(space_four, pol_space, on, four, FOUR)
RUN(ambient_1d, pol_space, pol_ambientspace(), pol_array, pol_undef(POL_F32, d))

static void run_lookup(const bench_case *c, uint64_t n)
{
    (void)c;
    for (uint64_t k = 0; k < n; k++)
        for (size_t i = 0; i < BENCH_ARRAYS; i++)
            bench_keep(pol_ambientspace());
}

/* Bound for the whole batch, as a program's outermost block does. */
static void run_ambient(const bench_case *c, uint64_t n)
{
    POL_WITHSPACE((pol_arena *)c->with)
        run_ambient_1d(c, n);
}

static void run_lookup_bound(const bench_case *c, uint64_t n)
{
    POL_WITHSPACE((pol_arena *)c->with)
        run_lookup(c, n);
}

void bench_add_describe(bench *b)
{
    static pol_arena arena;
    const size_t nbytes = 1 << 20;
    bench_try(pol_arena_init(&arena, bench_slab(nbytes), nbytes, 0));
    const bench_case cases[] = {
        {&group, "empty", "empty library call", BENCH_FLOOR, .run = run_empty},
        {&group, "library1", "1-d array, library", BENCH_LIBPOL, .run = run_space_1d},
        {&group, "library2", "2-d array, library", BENCH_LIBPOL, .run = run_space_2d},
        {&group, "library4", "4-d array, library", BENCH_LIBPOL, .run = run_space_4d},
        {&group, "library_bundle", "bundle of 4, library", BENCH_LIBPOL, .run = run_space_four},
        {&group, "inlined1", "1-d array, arena", BENCH_LIBPOL, .run = run_arena_1d},
        {&group, "inlined2", "2-d array, arena", BENCH_LIBPOL, .run = run_arena_2d},
        {&group, "inlined4", "4-d array, arena", BENCH_LIBPOL, .run = run_arena_4d},
        {&group, "inlined_bundle", "bundle of 4, arena", BENCH_LIBPOL, .run = run_arena_four},
        {&lookup, "lookup", "pol_ambientspace alone", BENCH_LIBPOL, .run = run_lookup_bound},
        {&lookup, "explicit", "1-d array, library", BENCH_LIBPOL, .run = run_space_1d},
        {&lookup, "ambient", "1-d array, ambient", BENCH_LIBPOL, .run = run_ambient},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case c = cases[i];
        c.with = &arena;
        c.units = BENCH_ARRAYS;
        bench_add(b, &c);
    }
}

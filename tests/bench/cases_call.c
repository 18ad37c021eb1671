/* SPDX-License-Identifier: MIT */
/* Calling a verb that does nothing: one output, one scratch array. */
#include "bench.h"

#include <pol/pol.h>

static const bench_group group = {"call", "Call an empty verb", "call", NULL};

struct empty_args {
    pol_array x;
};
struct empty_outputs {
    pol_array y;
};
struct empty_scratch {
    pol_array tmp;
};

static struct empty_outputs empty_outputs(const struct empty_args *a)
{
    return (struct empty_outputs){.y = pol_undef_like(&a->x)};
}

static struct empty_scratch empty_scratch(const struct empty_args *a)
{
    return (struct empty_scratch){.tmp = pol_undef_like(&a->x)};
}

static pol_status empty(const struct empty_outputs *out, const struct empty_args *a,
                        const struct empty_scratch *s)
{
    bench_keep(out->y.data);
    bench_keep(a->x.data);
    bench_keep(s->tmp.data);
    return POL_OK;
}

POL_ALLOCATING(empty, outputs, scratch);

static float x[16];

static void call(pol_arena *arena, pol_space *space, uint64_t n)
{
    const struct empty_args args = {pol_wrap(x, POL_F32, 16)};
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++) {
            struct empty_outputs out;
            bench_try(pol_call(empty, space, &args, &out));
            bench_keep(&out);
        }
        bench_try(pol_retract(arena, mark));
    }
}

static void run_call(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    call(arena, POL_SPACE(arena), n);
}

static void run_ambient(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    POL_WITHSPACE(arena)
        call(arena, pol_ambientspace(), n);
}

/* What pol_call stands for, written out. */
static void run_by_hand(const bench_case *c, uint64_t n)
{
    pol_arena *const arena = (pol_arena *)c->with;
    const struct empty_args args = {pol_wrap(x, POL_F32, 16)};
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++) {
            struct empty_outputs out;
            bench_try(pol_outputs(arena, empty, &args, &out));
            POL_SCRATCHSPACE(frame, arena) {
                struct empty_scratch s;
                bench_try(pol_scratch(frame, empty, &args, &s));
                bench_try(empty(&out, &args, &s));
            }
        }
        bench_try(pol_retract(arena, mark));
    }
}

void bench_add_call(bench *b)
{
    static pol_arena arena;
    const size_t nbytes = 1 << 20;
    bench_try(pol_arena_init(&arena, bench_slab(nbytes), nbytes, 0));
    const bench_case cases[] = {
        {&group, "pol_call", "pol_call", BENCH_LIBPOL, .run = run_call},
        {&group, "ambient", "pol_call, ambient", BENCH_LIBPOL, .run = run_ambient},
        {&group, "by_hand", "the same, written out", BENCH_LIBPOL, .run = run_by_hand},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_case c = cases[i];
        c.with = &arena;
        c.units = BENCH_ARRAYS;
        bench_add(b, &c);
    }
}

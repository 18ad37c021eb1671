/* SPDX-License-Identifier: MIT */
/* What libpol is to reach. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIMES "x"

typedef struct wish {
    const char *what;
    const char *of;
    const char *over; /* NULL: nanoseconds are wanted, not a ratio */
    const char *unit;
    double wanted;
    int decimals;
} wish;

/* The figures of the library's array cases are stated where an empty library call takes 1.5 ns, so
   they are ratios to one: 2.1 / 1.5 and so on. */
static const wish wishes[] = {
    {"pol_new, inlined, to the checked bump (alignment 256)", "carve256/pol_new", "carve256/bump",
     TIMES, 0.8, 1},
    {"pol_new, inlined, to the checked bump (alignment 16)", "carve16/pol_new", "carve16/bump",
     TIMES, 0.8, 1},
    {"1-d array by the library, to an empty call (2.1 to 1.5 ns)", "describe/library1",
     "describe/empty", TIMES, 1.40, 2},
    {"2-d array by the library, to an empty call (2.9 to 1.5 ns)", "describe/library2",
     "describe/empty", TIMES, 1.93, 2},
    {"4-d array by the library, to an empty call (4.3 to 1.5 ns)", "describe/library4",
     "describe/empty", TIMES, 2.87, 2},
    {"frame, begin and end, inlined", "frame/inlined", NULL, "ns", 0.8, 1},
    {"frame, begin and end, library", "frame/library", NULL, "ns", 2.8, 1},
    {"pol_call of an empty verb", "call/pol_call", NULL, "ns", 15, 0},
    {"decode step, allocator alone, inlined", "decode/inlined", NULL, "ns", 350, 0},
    {"decode step, allocator alone, library", "decode/library", NULL, "ns", 800, 0},
    {"softmax, scratch of a frame, to a static buffer", "softmax/frame", "softmax/static", TIMES,
     1.01, 2},
    {"softmax by pol_call, to a static buffer", "softmax/pol_call", "softmax/static", TIMES, 1.08,
     2},
    {"two threads, to one", "threads/two", "threads/one", TIMES, 1.0, 1},
};

static bool at_most(double measured, double wanted, int decimals)
{
    const double scale = pow(10, decimals);
    return round(measured * scale) <= round(wanted * scale);
}

static void grant(const bench *b, const wish *w, bench_target *t)
{
    const size_t of = bench_find(b, w->of);
    const size_t over = w->over ? bench_find(b, w->over) : of;
    (void)snprintf(t->what, sizeof t->what, "%s", w->what);
    t->unit = w->unit;
    t->wanted = w->wanted;
    t->decimals = w->decimals;
    t->measured = NAN;
    if (of < b->count && over < b->count)
        t->measured = w->over ? bench_ratio(b, of, over) : b->cases[of].result.median;
    t->met = at_most(t->measured, t->wanted, t->decimals);
}

/* Carving against the best peer of a kind: faster than that one is faster than each. */
static void against(const bench *b, const char *group, bench_kind kind, bench_target *t)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s/pol_new", group);
    const size_t ours = bench_find(b, name);
    size_t best = b->count;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->cases[i].group->id, group) == 0 && b->cases[i].kind == kind &&
            (best == b->count || b->cases[i].result.median < b->cases[best].result.median))
            best = i;
    (void)snprintf(t->what, sizeof t->what, "%s: pol_new to the best %s (%s)", group,
                   kind == BENCH_REGION ? "region" : "general allocator",
                   best < b->count ? b->cases[best].label : "none was run");
    t->unit = TIMES;
    t->wanted = 0.99;
    t->decimals = 2;
    t->measured = ours < b->count && best < b->count ? bench_ratio(b, ours, best) : NAN;
    t->met = at_most(t->measured, t->wanted, t->decimals);
}

static void steady(const bench *b, bool heap, bench_target *t)
{
    uint64_t most = 0;
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        const uint64_t counted = heap ? c->result.heap : c->result.faults;
        if (c->kind == BENCH_LIBPOL && !c->group->axis && counted > most)
            most = counted;
    }
    (void)snprintf(t->what, sizeof t->what, "%s after warm-up, the most of any case of libpol",
                   heap ? "heap allocations" : "page faults");
    t->unit = "";
    t->wanted = 0;
    t->decimals = 0;
    t->measured = (double)most;
    t->met = most == 0;
}

size_t bench_targets(const bench *b, bench_target targets[BENCH_TARGETS])
{
    static const char *const groups[] = {"carve256", "carve16"};
    size_t count = 0;
    for (; count < sizeof wishes / sizeof *wishes; count++)
        grant(b, &wishes[count], &targets[count]);
    for (size_t i = 0; i < 2; i++) {
        against(b, groups[i], BENCH_REGION, &targets[count++]);
        against(b, groups[i], BENCH_GENERAL, &targets[count++]);
    }
    steady(b, false, &targets[count++]);
    steady(b, true, &targets[count++]);
    return count;
}

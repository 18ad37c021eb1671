/* SPDX-License-Identifier: MIT */
/* The results as a table for people. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

enum { LABEL = 36 };

static void print_number(double value)
{
    if (isnan(value))
        printf("%10s", "-");
    else
        printf("%10.*f", value < 100 ? 2 : 0, value);
}

/* What one unit took from the system; a batch may be one operation or thousands. */
static void print_share(uint64_t counted, const bench_case *c)
{
    if (counted == 0)
        printf(" %8s", "0");
    else
        printf(" %8.2g", (double)counted / (double)(c->result.steady * c->units));
}

static void print_group(const bench *b, const bench_group *g)
{
    char per[64];
    printf("\n%s\n", g->title);
    (void)snprintf(per, sizeof per, "  per %s", g->unit);
    printf("%-*s %10s %10s %10s %10s %8s %8s\n", LABEL + 2, per, "ns", "quartile", "quartile",
           "x bump", "faults", "mallocs");
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        if (c->group != g)
            continue;
        printf("  %-*s ", LABEL, c->label);
        print_number(c->result.median);
        putchar(' ');
        print_number(c->result.lower);
        putchar(' ');
        print_number(c->result.upper);
        putchar(' ');
        print_number(c->result.ratio);
        print_share(c->result.faults, c);
        print_share(c->result.heap, c);
        putchar('\n');
    }
}

static void print_growth(const bench *b, const bench_group *g)
{
    printf("\n%s: ns for one %s\n", g->title, g->unit);
    printf("  %16s  %-26s %10s\n", g->axis, "", "ns");
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        if (c->group != g)
            continue;
        printf("  %16llu  %-26s ", (unsigned long long)c->x, c->label);
        print_number(c->result.median);
        putchar('\n');
    }
}

/* Times depend on the machine; this says how it compares with the one that the targets are of. */
static void print_yardsticks(const bench *b)
{
    const size_t bump = bench_find(b, "carve256/bump"), call = bench_find(b, "describe/empty");
    if (bump < b->count && call < b->count)
        printf("  The targets in ns are of a machine where the checked bump takes 0.85 ns and an "
               "empty library\n  call 1.5 ns; here they take %.2f and %.2f ns.\n",
               b->cases[bump].result.median, b->cases[call].result.median);
}

static void print_targets(const bench *b)
{
    static bench_target targets[BENCH_TARGETS];
    const size_t count = bench_targets(b, targets);
    printf("\nTargets\n  %-76s %8s %10s\n", "", "target", "measured");
    for (size_t i = 0; i < count; i++) {
        const bench_target *const t = &targets[i];
        printf("  %-76s %8.*f ", t->what, t->decimals, t->wanted);
        if (isnan(t->measured))
            printf("%10s %-2s not run\n", "-", t->unit);
        else
            printf("%10.*f %-2s %s\n", t->decimals > 0 || t->measured < 100 ? 2 : 0, t->measured,
                   t->unit, t->met ? "met" : "missed");
    }
    printf("  Met: at most the target, rounded as the target is. x: the median of the rounds' "
           "ratios.\n");
    print_yardsticks(b);
}

static bool is_first_of_group(const bench *b, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (b->cases[j].group == b->cases[i].group)
            return false;
    return true;
}

void bench_report_table(const bench *b, const bench_machine *m)
{
    printf("libpol's benchmark: %zu cases, %zu rounds, %.0f seconds\n", b->count, b->rounds,
           b->took);
    printf("%s, %s, %s, %s -O2\n", m->processor, m->threads, m->kernel, m->compiler);
    for (size_t i = 0; i < b->count; i++)
        if (is_first_of_group(b, i)) {
            if (b->cases[i].group->axis)
                print_growth(b, b->cases[i].group);
            else
                print_group(b, b->cases[i].group);
        }
    printf("\nFaults and mallocs: page faults and heap allocations of one unit after warm-up.\n");
    print_targets(b);
}

/* SPDX-License-Identifier: MIT */
/*
 * The runner: round after round, one batch of each case.
 *
 * Each batch begins with an eighth of its operations untimed, which brings back what the other
 * cases drove out of the caches. Each round shuffles the cases, so that none always follows the same
 * one.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "heap_count.h"
#include "random.h"

double bench_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void bench_add(bench *b, const bench_case *c)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s/%s", c->group->id, c->name);
    /* what all ratios are to is never left out */
    if (b->filter && !strstr(name, b->filter) && strcmp(name, "carve256/bump") != 0)
        return;
    if (b->count == BENCH_CASES)
        bench_die(name, "is one case more than BENCH_CASES");
    b->cases[b->count++] = *c;
}

static double measure(const bench_case *c, uint64_t n)
{
    if (c->timed)
        return c->timed(c, n);
    const double start = bench_clock();
    c->run(c, n);
    return bench_clock() - start;
}

/* As many operations as take BENCH_BATCH_NS, or one if that takes longer. */
static uint64_t calibrate(const bench_case *c)
{
    uint64_t n = 1;
    double took = measure(c, n);
    for (took = measure(c, n); took < BENCH_BATCH_NS / 2.0 && n < UINT32_MAX; n *= 2)
        took = measure(c, 2 * n);
    const double wanted = (double)n * BENCH_BATCH_NS / took;
    return wanted > 1 ? (uint64_t)wanted : 1;
}

static double sample(const bench_case *c)
{
    if (!c->timed)
        c->run(c, c->batch / 8 + 1);
    return measure(c, c->batch) / ((double)c->batch * (double)c->units);
}

static uint64_t minor_faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* What a batch takes from the system once everything is warm. */
static void count_steady(bench_case *c)
{
    (void)sample(c);
    heap_count_begin();
    const uint64_t faults = minor_faults();
    (void)measure(c, c->batch);
    c->result.faults = minor_faults() - faults;
    c->result.heap = heap_count_end();
    c->result.steady = c->batch;
}

static void shuffle(size_t *order, size_t count, uint64_t *seed)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = random_below(seed, (uint32_t)i);
        const size_t last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}

void bench_run(bench *b)
{
    static size_t order[BENCH_CASES];
    uint64_t seed = 5;
    const double start = bench_clock();
    size_t round = 0;
    if (!heap_count_works())
        bench_die("heap count", "this malloc cannot be counted; run without a tool around it");
    b->samples = (double *)calloc(b->rounds * b->count, sizeof *b->samples);
    if (!b->samples)
        bench_die("samples", "the system refused their memory; ask for fewer rounds");
    for (size_t i = 0; i < b->count; i++) {
        order[i] = i;
        if (b->cases[i].batch == 0)
            b->cases[i].batch = calibrate(&b->cases[i]);
    }
    for (; round < b->rounds && (round < 2 || bench_clock() - start < b->seconds * 1e9); round++) {
        shuffle(order, b->count, &seed);
        for (size_t i = 0; i < b->count; i++)
            b->samples[round * b->count + order[i]] = sample(&b->cases[order[i]]);
    }
    b->rounds = round;
    for (size_t i = 0; i < b->count; i++)
        count_steady(&b->cases[i]);
    b->took = (bench_clock() - start) / 1e9;
    bench_summarize(b);
}

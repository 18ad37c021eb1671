/* SPDX-License-Identifier: MIT */
/*
 * Two threads, an arena each, both drawn from one slab: does one slow down the other?
 *
 * The workers sleep between batches. In a batch they meet, and each times itself from there; the
 * figure is that of the slower one.
 */
#include "bench.h"

#include <pol/pol.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

static const bench_group group = {"threads", "Two threads, an arena each out of one slab", "array",
                                  NULL};

enum { WORKERS = 2, BATCH = 4000 };

typedef struct worker {
    pol_arena arena;
    pthread_t thread;
    sem_t go, done;
    double took;
    void *out[BENCH_ARRAYS];
    char apart[128]; /* two workers' lines are not neighbours */
} worker;

static worker workers[WORKERS];
static pol_arena parent;
static size_t sizes[BENCH_ARRAYS];
static uint64_t operations;
static unsigned wanted;
static atomic_uint met;

static void carve(worker *w, uint64_t n)
{
    pol_arena *const arena = &w->arena;
    const struct pol_mark mark = pol_mark(arena);
    for (uint64_t k = 0; k < n; k++) {
        for (size_t i = 0; i < BENCH_ARRAYS; i++)
            bench_keep(w->out[i] = pol_new(arena, char, sizes[i]));
        bench_try(pol_retract(arena, mark));
    }
}

static void meet(void)
{
    unsigned spins = 0;
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < wanted)
        if (++spins % 4096 == 0)
            (void)sched_yield(); /* the other may need this processor */
}

static void *work(void *argument)
{
    worker *const w = (worker *)argument;
    for (;;) {
        while (sem_wait(&w->go) != 0) {
        }
        carve(w, operations / 8 + 1);
        meet();
        const double start = bench_clock();
        carve(w, operations);
        w->took = bench_clock() - start;
        (void)sem_post(&w->done);
    }
    return NULL;
}

static double timed(const bench_case *c, uint64_t n)
{
    const unsigned count = *(const unsigned *)c->with;
    double slowest = 0;
    operations = n;
    wanted = count;
    atomic_store(&met, 0);
    for (unsigned i = 0; i < count; i++)
        (void)sem_post(&workers[i].go);
    for (unsigned i = 0; i < count; i++) {
        while (sem_wait(&workers[i].done) != 0) {
        }
        slowest = workers[i].took > slowest ? workers[i].took : slowest;
    }
    return slowest;
}

static void start(worker *w, size_t nbytes)
{
    bench_try(pol_arena_open(&w->arena, &parent, nbytes, 0));
    if (sem_init(&w->go, 0, 0) != 0 || sem_init(&w->done, 0, 0) != 0 ||
        pthread_create(&w->thread, NULL, work, w) != 0)
        bench_die("threads", "cannot start a worker");
}

void bench_add_threads(bench *b)
{
    static unsigned one = 1, two = 2;
    size_t nbytes = (BENCH_ARRAYS + 1) * 256;
    bench_sizes(sizes, BENCH_ARRAYS, 16, 64 << 10, 1);
    for (size_t i = 0; i < BENCH_ARRAYS; i++)
        nbytes += sizes[i];
    const size_t slab = WORKERS * (nbytes + 256);
    bench_try(pol_arena_init(&parent, bench_slab(slab), slab, 0));
    for (size_t i = 0; i < WORKERS; i++)
        start(&workers[i], nbytes);
    const bench_case cases[] = {
        {&group, "one", "one at work", BENCH_LIBPOL, BENCH_ARRAYS, .batch = BATCH, .with = &one,
         .timed = timed},
        {&group, "two", "both at work, each", BENCH_LIBPOL, BENCH_ARRAYS, .batch = BATCH,
         .with = &two, .timed = timed},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_add(b, &cases[i]);
}

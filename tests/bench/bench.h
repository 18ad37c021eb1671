/* SPDX-License-Identifier: MIT */
#ifndef BENCH_H
#define BENCH_H

/*
 * What the benchmark's files share: cases, the runner, the reports.
 *
 * A case is a loop over one operation. The runner gives each case one batch a round, about 60
 * microseconds long, and goes round many times, so that whatever disturbs the machine disturbs all
 * cases alike; a case's figure is the median over the rounds, and a ratio the median of the ratios
 * within each round. Nothing is computed from minima, and no outlier is dropped.
 *
 * Each file of cases adds its own in one function; what they carve from lives until the program
 * ends. Whatever goes wrong ends the program with a message: a benchmark that goes on would mislead.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BENCH_CASES = 256,      /* room for that many */
    BENCH_ARRAYS = 64,      /* carved by one operation of the carve cases */
    BENCH_PEERS = 16,       /* room for that many */
    BENCH_BATCH_NS = 60000, /* how long a batch is to take */
};

/* Who a case is about; the reports group and colour by it. */
typedef enum bench_kind {
    BENCH_FLOOR,   /* written by hand here, what the others are held against */
    BENCH_LIBPOL,  /* the library */
    BENCH_REGION,  /* allocators that free all at once */
    BENCH_GENERAL, /* allocators that free each array */
} bench_kind;

/* Cases that are compared with each other. */
typedef struct bench_group {
    const char *id;
    const char *title;
    const char *unit; /* what a figure is per */
    const char *axis; /* of a group whose cases differ in x: what x counts; else NULL */
} bench_group;

/* The figures of a case; times in nanoseconds per unit. */
typedef struct bench_result {
    double median, lower, upper; /* and the quartiles */
    double ratio;                /* to the checked bump */
    uint64_t faults, heap;       /* page faults and heap allocations of one batch, warmed up */
    uint64_t steady;             /* operations in that batch */
} bench_result;

/* A case. `run` does n operations of `units` units each; where `timed` is given it stands for both
   `run` and the clock: it returns the nanoseconds of what it wants measured. */
typedef struct bench_case {
    const bench_group *group;
    const char *name;  /* within the group */
    const char *label; /* for people */
    bench_kind kind;
    uint64_t units;
    uint64_t x;     /* where the group has an axis */
    uint64_t batch; /* operations a batch; 0: as many as fill it */
    void *with;     /* for the two functions: what they work on */
    void (*run)(const struct bench_case *c, uint64_t n);
    double (*timed)(const struct bench_case *c, uint64_t n);
    bench_result result; /* the runner's */
} bench_case;

typedef struct bench {
    bench_case cases[BENCH_CASES];
    size_t count;
    const char *filter; /* cases without it in their full name stay out; NULL: none */
    size_t rounds;      /* asked for, and then those that were run */
    double seconds;     /* no round starts later */
    double took;
    double *samples; /* (rounds, count) nanoseconds per unit */
} bench;

/* main.c */
/* Ends the program with a message. */
__attribute__((cold, noreturn)) void bench_die(const char *what, const char *why);
/* Ends it with libpol's last error. */
__attribute__((cold, noreturn)) void bench_die_of_pol(void);

/* runner.c */
/* Adds a case, unless the filter keeps it out. */
void bench_add(bench *b, const bench_case *c);
/* Runs all cases and fills in their results. */
void bench_run(bench *b);
/* Returns the nanoseconds since some moment. */
double bench_clock(void);

/* statistics.c */
/* Computes the results from the samples. */
void bench_summarize(bench *b);
/* Returns the index of a case, "group/name"; b->count if it was not run. */
size_t bench_find(const bench *b, const char *name);
/* Returns the median over the rounds of one case's figure divided by another's. */
double bench_ratio(const bench *b, size_t over, size_t under);

/* sizes.c */
/* Fills in `count` sizes, log-uniform from `least` to `most`; the same ones for the same seed. */
void bench_sizes(size_t *sizes, size_t count, size_t least, size_t most, uint64_t seed);
/* Returns `nbytes` bytes aligned to 4096, each page of them touched. */
char *bench_slab(size_t nbytes);

/* cases_*.c and growth.c */
void bench_add_carve(bench *b);
void bench_add_frame(bench *b);
void bench_add_describe(bench *b);
void bench_add_call(bench *b);
void bench_add_decode(bench *b);
void bench_add_softmax(bench *b);
void bench_add_threads(bench *b);
void bench_add_cold(bench *b);
void bench_add_growth(bench *b);

/* targets.c */
typedef struct bench_target {
    char what[112];
    const char *unit;
    double wanted, measured; /* measured is NAN if its cases were left out */
    int decimals;            /* of `wanted`; the comparison rounds to as many */
    bool met;
} bench_target;
enum { BENCH_TARGETS = 32 };
/* Fills in what libpol is to reach and what it reached; returns how many that are. */
size_t bench_targets(const bench *b, bench_target targets[BENCH_TARGETS]);

/* report_*.c, machine.c */
typedef struct bench_machine {
    char processor[128];
    char kernel[256];
    char compiler[64];
    char threads[32];
} bench_machine;
void bench_describe_machine(bench_machine *m);
void bench_report_table(const bench *b, const bench_machine *m);
void bench_report_json(const bench *b, const bench_machine *m, const char *path);
void bench_report_svg(const bench *b, const bench_machine *m, const char *path);
void bench_report_growth_svg(const bench *b, const bench_machine *m, const char *path);

/* empty.c, a shared library of its own: a call as libpol's are, with nothing behind it. */
int bench_empty_call(void *space, void *arrays, size_t count);

/* Makes the compiler believe that a pointer is used, and that memory may have changed: what is
   between two requests in a program does no less. */
static inline void bench_keep(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Ends the program if libpol failed. */
static inline void bench_try(int status)
{
    if (__builtin_expect(status != 0, 0))
        bench_die_of_pol();
}

/* Hides a value's origin from the compiler. */
static inline size_t bench_hide(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

#ifdef __cplusplus
}
#endif

#endif

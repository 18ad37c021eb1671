/* SPDX-License-Identifier: MIT */
/* Medians, quartiles and ratios. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Between the two nearest of the sorted values. */
static double quantile(const double *sorted, size_t count, double q)
{
    const double at = q * (double)(count - 1);
    const size_t i = (size_t)at;
    const size_t next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - (double)i) * (sorted[next] - sorted[i]);
}

static double *scratch(const bench *b)
{
    double *const column = (double *)malloc(b->rounds * sizeof *column);
    if (!column)
        bench_die("statistics", "the system refused their memory");
    return column;
}

double bench_ratio(const bench *b, size_t over, size_t under)
{
    double *const column = scratch(b);
    for (size_t r = 0; r < b->rounds; r++)
        column[r] = b->samples[r * b->count + over] / b->samples[r * b->count + under];
    qsort(column, b->rounds, sizeof *column, compare);
    const double median = quantile(column, b->rounds, 0.5);
    free(column);
    return median;
}

size_t bench_find(const bench *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        const size_t group = strlen(c->group->id);
        if (strncmp(name, c->group->id, group) == 0 && name[group] == '/' &&
            strcmp(name + group + 1, c->name) == 0 && c->x == 0)
            return i;
    }
    return b->count;
}

void bench_summarize(bench *b)
{
    double *const column = scratch(b);
    const size_t bump = bench_find(b, "carve256/bump");
    for (size_t i = 0; i < b->count; i++) {
        bench_result *const result = &b->cases[i].result;
        for (size_t r = 0; r < b->rounds; r++)
            column[r] = b->samples[r * b->count + i];
        qsort(column, b->rounds, sizeof *column, compare);
        result->median = quantile(column, b->rounds, 0.5);
        result->lower = quantile(column, b->rounds, 0.25);
        result->upper = quantile(column, b->rounds, 0.75);
        result->ratio = bump < b->count ? bench_ratio(b, i, bump) : NAN;
    }
    free(column);
}

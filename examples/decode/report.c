/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "console.h"

#include <stdio.h>

static void print_row(const char *what, uint64_t number, const char *remark)
{
    char n[GROUPED_BYTES];
    fprintf(stderr, "  %-34s %16s%s\n", what, grouped(n, number), remark);
}

void report_summary(const struct summary *s)
{
    const double seconds = s->seconds > 1e-9 ? s->seconds : 1e-9;
    const double rate = (double)s->steps / seconds;
    char steps[GROUPED_BYTES], per_second[GROUPED_BYTES];
    fprintf(stderr, "\n%s tokens in %.2f s: %s tokens per second, %lld job%s\n",
            grouped(steps, (uint64_t)s->steps), seconds, grouped(per_second, (uint64_t)rate),
            (long long)s->jobs, s->jobs == 1 ? "" : "s");
    fprintf(stderr, "memory, in bytes\n");
    print_row("weights, borrowed from the file", s->weights, "");
    print_row("tokenizer's tables, texts, angles", s->shared, "");
    print_row("caches of keys and values", s->caches, "");
    print_row("steps, at their peak", s->in_steps, "");
    print_row("slab asked for by the dry run", s->slab, "");
    print_row("watermark reached", s->watermark,
              s->watermark == s->slab ? ", equal" : ", NOT EQUAL");
    if (s->counted)
        print_row("heap allocations after set-up", s->allocations, "");
    else
        fprintf(stderr, "  %-34s %16s\n", "heap allocations after set-up", "not counted");
}

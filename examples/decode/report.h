/* SPDX-License-Identifier: MIT */
#ifndef REPORT_H
#define REPORT_H

/* What the program says at its end, on stderr: how fast it was, and where the memory went. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct summary {
    int64_t steps, jobs;
    double seconds;
    size_t weights;          /* bytes of the mapped file, borrowed */
    size_t shared;           /* of the slab: the tokenizer's tables, texts, angles */
    size_t caches, in_steps; /* of all jobs */
    size_t slab, watermark;  /* what the dry run asked for, what was reached */
    size_t allocations;      /* of the heap, after set-up */
    bool counted;            /* they could be */
};

void report_summary(const struct summary *s);

#endif

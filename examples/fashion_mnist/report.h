/* SPDX-License-Identifier: MIT */
#ifndef REPORT_H
#define REPORT_H

/* What the program prints, and the file it writes. */

#include "train.h"

#include <stdio.h>

/* The end of the run. */
struct summary {
    struct figures train, test; /* train: of all epochs */
    size_t slab;                /* bytes asked for: the dry run's watermark */
    size_t watermark;           /* bytes reached */
    size_t kept;                /* bytes, had nothing been freed before the end of a step */
    size_t allocations;         /* on the heap, after set-up */
    bool counted;               /* whether they were counted */
};

/* Opens the file for the run's figures and writes its first line, so that a file that cannot be
   written is known before the work. NULL opens none. */
POL_NODISCARD pol_status report_open(FILE **file, const char *path);

/* Ends the file; tells if anything written to it was lost. */
POL_NODISCARD pol_status report_close(FILE **file, const char *path);

/* Says what will be done. */
void report_plan(const struct options *o, const struct dataset *data, size_t slab);

/* Says how far an epoch is, if somebody is watching. */
void report_progress(const struct options *o, uint64_t epoch, const struct figures *sums,
                     int64_t images);

/* Says how an epoch went, and adds its line to `file`, if there is one. */
void report_epoch(FILE *file, const struct options *o, uint64_t epoch, const struct figures *train,
                  const struct figures *test);

/* Prints the table, and flushes it: tells if it was lost. */
POL_NODISCARD pol_status report_summary(const struct summary *s);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef REPORT_H
#define REPORT_H

/* What the program says, on stdout: how far it is, and at its end where the memory went. */

#include "plan.h"
#include "training.h"

struct progress {
    int64_t step, steps;
    double training;   /* mean loss since the last line */
    double validation; /* loss; of report_line() alone */
    double tokens_per_second, rate, seconds_left;
};

/* The end of the run. Sizes in bytes. */
struct summary {
    struct figures figures;
    size_t texts;           /* of the mapped files, borrowed */
    size_t tokens;          /* of the slab */
    size_t tables;          /* of the slab: the tokenizer's, the curve's */
    struct plan plan;       /* of the slab: the rest */
    struct plan other;      /* with recomputation, if this was without; else without */
    struct plan by_hand[2]; /* every array kept; and attention's matrices, and the logits */
    size_t slab, watermark; /* what the dry run asked for, what was reached */
    size_t resident;        /* of the process at its most; 0: not known */
    bool resident_is_ours;  /* and not a tool's too */
    size_t allocations;     /* of the heap, after set-up */
    bool counted;           /* they could be */
};

/* Says what will be done. POL_EUSER: stdout takes nothing. */
POL_NODISCARD pol_status report_start(const struct options *o, const struct texts *texts,
                                      size_t slab);

void report_first(double validation, int64_t steps);

/* Says how far the run is: in place, if somebody is watching, else on a line each half a minute. */
void report_progress(const struct progress *p);

/* Says so on a line of its own. */
void report_line(const struct progress *p);

/* Ends the line that stands on the terminal, if one does: an error's begins. */
void report_break(void);

/* Prints the table, and where the model is. POL_EUSER: some of the output was lost. */
POL_NODISCARD pol_status report_summary(const struct options *o, const struct summary *s);

/* Says where the curve is. POL_EUSER: some of the output was lost. */
POL_NODISCARD pol_status report_curve(const char *path);

/* Flushes stdout. POL_EUSER: some of the output was lost. */
POL_NODISCARD pol_status report_flush(void);

#endif

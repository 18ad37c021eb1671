/* SPDX-License-Identifier: MIT */
#ifndef PLAN_H
#define PLAN_H

/* Where the memory of a training run goes, known without taking any. */

#include "state.h"

#include <stdio.h>

struct plan {
    size_t parameters, gradients, moments;
    size_t kept;           /* activations that lie there from forward to backward */
    size_t kept_gradients; /* gradients that lie there as long; here they come and go */
    size_t scratch;        /* the most that is in use beyond all that */
    size_t total;
};

/* A dry run of a step. */
POL_NODISCARD pol_status plan_measure(struct plan *p, const struct step *step);

/* The same model by hand: each array that a layer makes is kept for the whole step, and a gradient
   for each. `matrices`: attention's scores and probabilities, the logits and their softmax too. */
POL_NODISCARD pol_status plan_by_hand(struct plan *p, const struct step *step, bool matrices);

/* Prints the four plans of a shape as a table. */
POL_NODISCARD pol_status plan_print(FILE *file, const struct step *step);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TRAINING_H
#define TRAINING_H

/* The run of steps: from the first weights to the last, with a look at the validation loss now and
   then. */

#include "curve.h"
#include "options.h"
#include "state.h"
#include "texts.h"

struct training {
    const struct options *options;
    const struct config *config;
    struct state state;
    struct curve curve;
};

/* How it went. */
struct figures {
    double training, validation; /* the last losses: a mean of steps, and of the validation part */
    int64_t steps;               /* taken: fewer than were asked for if the run was interrupted */
    int64_t tokens;              /* learned from */
    double seconds;              /* without the validations */
};

/* Materializes all that stays from step to step in `arena`, which may measure. */
POL_NODISCARD pol_status training_open(struct training *t, const struct options *o,
                                       const struct config *c, pol_arena *arena);

/* Takes a step of each kind on a measuring arena: its watermark is then what the run reaches. */
POL_NODISCARD pol_status training_rehearse(const struct training *t, pol_arena *arena);

/* Trains, until the last step or an interrupt, but a step at least. POL_EUSER: a loss, or the norm
   of the gradients, is no finite number. */
POL_NODISCARD pol_status training_run(const struct training *t, const struct texts *texts,
                                      pol_arena *arena, struct figures *f);

/* Returns step `number` of those that the options ask for; the first is 1. */
struct step training_step(const struct options *o, const struct config *c, int64_t number);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef STATE_H
#define STATE_H

/*
 * What a training run keeps from step to step, and the step.
 *
 * The parameters lie in one arena, their gradients in another, and so do the two running means of
 * the optimizer. Each arena is over an array of its own, so all gradients are also one array: one
 * call takes their norm, and one could average or exchange them.
 */

#include "lm.h"

struct part {
    pol_array flat; /* (n): all of it, padding too */
    struct weights at;
};

struct state {
    struct part w, dw, m, v;
    pol_array tokens, targets; /* (batch * context) i32 */
    struct angles_outputs angles;
};

/* A batch's shape, and what a step does with it. */
struct step {
    const struct config *config;
    int64_t batch; /* sequences of config->context tokens */
    bool recompute;
    int64_t number; /* 1 for the first */
    double rate, decay;
    double clip; /* the gradients are no longer than that together; 0: as long as they are */
};

/* Bytes of one part, which is what the parameters take. */
POL_NODISCARD pol_status state_part_nbytes(const struct config *c, size_t *nbytes);

/* Materializes the state in `arena`, which may measure. Nothing is initialized. */
POL_NODISCARD pol_status state_open(struct state *s, pol_arena *arena, const struct config *c,
                                    int64_t batch);

/* Describes what forward leaves for backward. */
struct forward_checkpoints step_checkpoints(const struct step *step);

/* One step on the tokens in the state: forward, backward, clip, move. In a frame of its own.
   POL_EUSER: the gradients' norm is no finite number; the weights are as they were. */
POL_NODISCARD pol_status step_train(const struct state *s, pol_arena *arena,
                                    const struct step *step, double *loss);

/* The loss alone. */
POL_NODISCARD pol_status step_loss(const struct state *s, pol_arena *arena, const struct step *step,
                                   double *loss);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TRAIN_H
#define TRAIN_H

/*
 * Training: what lives as long as the run, and the steps that come and go above it.
 *
 * Every step runs in a space of the caller's. In a measuring arena that is the dry run, in an arena
 * over a slab the real one, and in `struct keeping` the real one with a count of what frames save.
 */

#include "net.h"
#include "options.h"

/* A bundle: what the arena holds beneath the steps. */
struct state {
    struct net net;
    pol_array order; /* (training images) i32: the order of this epoch */
};

struct run {
    const struct options *options;
    struct dataset data;
    struct state state;
    uint64_t random;          /* of the order */
    int64_t steps, all_steps; /* taken so far, and in the whole run */
};

/* Sums over the images of some steps. */
struct figures {
    double loss;
    int64_t correct, images;
    double seconds;
};

/* Describes the state of a run over `data`. */
struct state state_undef(const struct options *o, const struct dataset *data);

/* Computes the slab that the run needs, without memory; `data` may be described only. */
POL_NODISCARD pol_status train_measure(const struct options *o, const struct dataset *data,
                                       size_t *nbytes);

/* Gives the materialized state its first values. */
void train_init(struct run *r);

/* Takes one training step and one testing step, on the largest batches there will be, and leaves
   the parameters where they are; their momentum is overwritten. */
POL_NODISCARD pol_status train_rehearse(const struct run *r, pol_space *space);

/* Goes once through the training images in a new order. */
POL_NODISCARD pol_status train_epoch(struct run *r, pol_space *space, uint64_t epoch,
                                     struct figures *sums);

/* Goes once through the test images. */
POL_NODISCARD pol_status train_test(const struct run *r, pol_space *space, struct figures *sums);

#endif

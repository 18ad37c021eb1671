/* SPDX-License-Identifier: MIT */
#ifndef NET_H
#define NET_H

/*
 * The network, pixels - hidden - classes, as verbs that call verbs.
 *
 * These take a frame instead of scratch: what their body calls for lies in it and is gone when they
 * return. Their dry run is themselves: on a measuring arena the bodies run and the kernels do not.
 */

#include "kernels.h"

/* One parameter: values, their gradient, and what momentum remembers of earlier gradients. */
struct parameter {
    pol_shadowed at;
    pol_array velocity;
};

/* A bundle: materialized by one pol_alloc(). */
struct net {
    struct parameter w1; /* (pixels, hidden) */
    struct parameter b1; /* (hidden) */
    struct parameter w2; /* (hidden, classes) */
    struct parameter b2; /* (classes) */
};

/* Describes a network; takes no memory. */
struct net net_undef(int64_t hidden);

/* Draws the weights of a materialized network from `seed`. */
void net_init(const struct net *net, uint64_t seed);

/* A step on one batch, forward. */
struct test_step_args {
    const struct net *net;
    struct gather_args batch;
};
struct test_step_outputs {
    pol_array loss;    /* scalar f32: the mean over the batch */
    pol_array correct; /* scalar i32 */
};
struct test_step_outputs test_step_outputs(const struct test_step_args *a);
pol_status test_step(const struct test_step_outputs *out, const struct test_step_args *a,
                     pol_frame *frame);
POL_ALLOCATING(test_step, outputs, space);

/* A step on one batch, forward and backward: overwrites the parameters' shadows, and moves the
   parameters along them by `rate`. */
struct train_step_args {
    const struct net *net;
    struct gather_args batch;
    float rate;
};
struct train_step_outputs {
    pol_array loss, correct; /* as test_step's, from before the parameters moved */
};
struct train_step_outputs train_step_outputs(const struct train_step_args *a);
pol_status train_step(const struct train_step_outputs *out, const struct train_step_args *a,
                      pol_frame *frame);
POL_ALLOCATING(train_step, outputs, space);

#endif

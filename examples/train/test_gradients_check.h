/* SPDX-License-Identifier: MIT */
#ifndef TEST_GRADIENTS_CHECK_H
#define TEST_GRADIENTS_CHECK_H

/*
 * Compares a backward verb with central differences of the forward one.
 *
 * What is differentiated is f = the sum of weight times output, over all outputs, plus the sum of
 * add times x for the first argument. With `weights` as the gradient of the outputs, backward must
 * give the gradient of f. It is run by teams of 1, 2 and 3, which must give the same bits, and its
 * outputs and scratch come from a guarded space.
 */

#include "backward.h"
#include "test_gradients_space.h"

enum { OUTPUTS_MOST = 3 };

struct gradient_case {
    const char *name;
    const pol_verb *forward;
    const void *forward_args;               /* without checkpoints */
    const pol_array *weights[OUTPUTS_MOST]; /* of each output; NULL: of the only element, 1 */
    const pol_verb *backward;
    const void *backward_args;
    const pol_array *x[OUTPUTS_MOST];      /* to which the outputs of backward are gradients */
    const pol_array *add;                  /* NULL: nothing */
    const pol_array *places[OUTPUTS_MOST]; /* arguments in whose place an output goes, or NULL */
};

/* Makes an array and fills it with numbers from -1 to 1. */
POL_NODISCARD pol_status random_array(struct guarded_space *g, pol_array *a, pol_array shape);

/* Makes an array of i32 from 0 to below - 1. */
POL_NODISCARD pol_status random_tokens(struct guarded_space *g, pol_array *a, int64_t n,
                                       int32_t below);

/* Fails if a gradient is off, or differs between teams; else prints a line with how far it was. */
POL_NODISCARD pol_status check_gradients(struct guarded_space *g, const struct gradient_case *c);

POL_NODISCARD pol_status test_attention(struct guarded_space *g);
POL_NODISCARD pol_status test_loss(struct guarded_space *g);

/* Compares gemm() with the definition, for all transpositions. */
POL_NODISCARD pol_status check_gemm(struct guarded_space *g);

#endif

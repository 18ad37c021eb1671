/* SPDX-License-Identifier: MIT */
#ifndef OPTIMIZER_H
#define OPTIMIZER_H

/* What moves the weights. Both verbs see arrays of any shape as so many elements, so one call can
   take all gradients at once, where they lie in one arena. */

#include "real.h"

/* The sum of squares, in an order that does not depend on the number of threads. */
struct squares_args {
    pol_array x; /* of any shape */
};
struct squares_outputs {
    pol_array sum; /* scalar f64 */
};
struct squares_scratch {
    pol_array parts; /* f64: the sum of each part of x */
};
struct squares_outputs squares_outputs(const struct squares_args *a);
struct squares_scratch squares_scratch(const struct squares_args *a);
pol_status squares(const struct squares_outputs *out, const struct squares_args *a,
                   const struct squares_scratch *s);
POL_ALLOCATING(squares, outputs, scratch);

/* A step of AdamW (Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization"), with the
   gradient times `scale`. Elementwise, so it may run in place. */
struct adamw_args {
    pol_shadowed w;
    pol_array m, v; /* shaped as w: running means of the gradient and of its square */
    double rate, decay, scale;
    int64_t step; /* 1 for the first */
};
struct adamw_outputs {
    pol_array w, m, v;
};
struct adamw_outputs adamw_outputs(const struct adamw_args *a);
pol_status adamw(const struct adamw_outputs *out, const struct adamw_args *a);
POL_ALLOCATING(adamw, outputs);

#endif

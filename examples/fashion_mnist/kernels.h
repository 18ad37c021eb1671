/* SPDX-License-Identifier: MIT */
#ifndef KERNELS_H
#define KERNELS_H

/*
 * The leaf verbs: kernels that write into buffers they are given.
 *
 * Above each stand its bundles; the functions V_outputs, V_checkpoints and V_scratch describe them
 * from the arguments, without memory. A checkpoint is written by the forward verb into `saved`,
 * which the caller materializes beforehand with pol_checkpoints(), or leaves absent when no
 * backward pass will follow. Elements are f32 unless a comment says otherwise.
 */

#include "dataset.h"

/* Picks a batch: pixels to [0, 1]. */
struct gather_args {
    struct samples samples;
    pol_array order; /* (n) i32: a permutation of the samples; absent: as they come */
    int64_t first;   /* where in that order the batch starts */
    int64_t count;
};
struct gather_outputs {
    pol_array x;      /* (batch, pixels) */
    pol_array labels; /* (batch) u8 */
};
struct gather_outputs gather_outputs(const struct gather_args *a);
pol_status gather(const struct gather_outputs *out, const struct gather_args *a);
POL_ALLOCATING(gather, outputs);

/* y = x w + b */
struct dense_args {
    pol_array x; /* (batch, in) */
    pol_array w; /* (in, out) */
    pol_array b; /* (out) */
};
struct dense_outputs {
    pol_array y; /* (batch, out) */
};
struct dense_outputs dense_outputs(const struct dense_args *a);
pol_status dense(const struct dense_outputs *out, const struct dense_args *a);
POL_ALLOCATING(dense, outputs);

/* The outputs are the shadows of x, w and b, those that are wanted: dx is absent if x is a
   constant. Overwritten, never added to. */
struct dense_backward_args {
    pol_shadowed x, w, b;
    pol_array dy; /* (batch, out) */
};
struct dense_backward_outputs {
    pol_array dx, dw, db; /* shaped as x, w, b */
};
struct dense_backward_scratch {
    pol_array xt; /* (in, batch): transposed, so that the inner loop runs along memory */
    pol_array wt; /* (out, in); absent if dx is */
};
struct dense_backward_outputs dense_backward_outputs(const struct dense_backward_args *a);
struct dense_backward_scratch dense_backward_scratch(const struct dense_backward_args *a);
pol_status dense_backward(const struct dense_backward_outputs *out,
                          const struct dense_backward_args *a,
                          const struct dense_backward_scratch *s);
POL_ALLOCATING(dense_backward, outputs, scratch);

/* y = max(x, 0) */
struct relu_checkpoints {
    pol_array positive; /* shaped as x, u8: 1 where x > 0. A quarter of keeping x. */
};
struct relu_args {
    pol_array x;
    struct relu_checkpoints saved;
};
struct relu_outputs {
    pol_array y; /* shaped as x */
};
struct relu_outputs relu_outputs(const struct relu_args *a);
struct relu_checkpoints relu_checkpoints(const struct relu_args *a);
pol_status relu(const struct relu_outputs *out, const struct relu_args *a);
POL_ALLOCATING(relu, outputs);

struct relu_backward_args {
    pol_array dy;
    struct relu_checkpoints saved;
};
struct relu_backward_outputs {
    pol_array dx; /* shaped as dy */
};
struct relu_backward_outputs relu_backward_outputs(const struct relu_backward_args *a);
pol_status relu_backward(const struct relu_backward_outputs *out,
                         const struct relu_backward_args *a);
POL_ALLOCATING(relu_backward, outputs);

/* Softmax cross-entropy: the mean over the batch of -log softmax(logits)[label]. */
struct xent_checkpoints {
    pol_array p; /* (batch, classes): softmax(logits) */
};
struct xent_args {
    pol_array logits; /* (batch, classes) */
    pol_array labels; /* (batch) u8 */
    struct xent_checkpoints saved;
};
struct xent_outputs {
    pol_array loss;    /* scalar */
    pol_array correct; /* scalar i32: rows whose largest logit is the label's */
};
struct xent_scratch {
    pol_array e; /* (classes): exponentials of one row */
};
struct xent_outputs xent_outputs(const struct xent_args *a);
struct xent_checkpoints xent_checkpoints(const struct xent_args *a);
struct xent_scratch xent_scratch(const struct xent_args *a);
pol_status xent(const struct xent_outputs *out, const struct xent_args *a,
                const struct xent_scratch *s);
POL_ALLOCATING(xent, outputs, scratch);

struct xent_backward_args {
    pol_array labels; /* (batch) u8 */
    struct xent_checkpoints saved;
};
struct xent_backward_outputs {
    pol_array dlogits; /* (batch, classes): of the mean */
};
struct xent_backward_outputs xent_backward_outputs(const struct xent_backward_args *a);
pol_status xent_backward(const struct xent_backward_outputs *out,
                         const struct xent_backward_args *a);
POL_ALLOCATING(xent_backward, outputs);

/* One step of gradient descent with momentum: velocity = momentum velocity + dw, w -= rate
   velocity. Elementwise, so it may run in place: pol_call_into() with w and velocity. */
struct sgd_args {
    pol_shadowed w;
    pol_array velocity; /* shaped as w */
    float rate, momentum;
};
struct sgd_outputs {
    pol_array w, velocity; /* shaped as w */
};
struct sgd_outputs sgd_outputs(const struct sgd_args *a);
pol_status sgd(const struct sgd_outputs *out, const struct sgd_args *a);
POL_ALLOCATING(sgd, outputs);

#endif

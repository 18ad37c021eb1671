/* SPDX-License-Identifier: MIT */
#ifndef LM_H
#define LM_H

/*
 * The whole model on a batch of sequences, forward to the loss and backward to the gradients.
 *
 * What is saved is a bundle, so that where it lies, and whether, is one choice of the caller's: all
 * of it in the frame of the step; or, to recompute, without the part of the blocks, which backward
 * then makes again, a layer at a time, in a frame of that layer; or nothing, to look at the loss.
 */

#include "block.h"

struct forward_checkpoints {
    pol_array stream; /* (layers + 1, rows, dim): what goes into each block, and out */
    struct block_checkpoints blocks; /* with a leading dim (layers); absent: backward recomputes */
    struct norm_checkpoints norm;    /* of the last norm */
    pol_array normed;                /* (rows, dim) */
    struct loss_checkpoints loss;
};
struct forward_args {
    const struct config *config;
    struct weights w;
    pol_array tokens;  /* (rows) i32 */
    pol_array targets; /* (rows) i32 */
    pol_array angles;  /* (context, head_size / 2, 2) */
    int64_t period;    /* rows of a sequence; divides rows, at most context */
    bool recompute;    /* do not save the blocks */
    struct forward_checkpoints saved;
};
struct forward_outputs {
    pol_array loss; /* scalar f64: the mean over the rows */
};
struct forward_outputs forward_outputs(const struct forward_args *a);
struct forward_checkpoints forward_checkpoints(const struct forward_args *a);
pol_status forward(const struct forward_outputs *out, const struct forward_args *a,
                   pol_frame *frame);
POL_ALLOCATING(forward, outputs, space);

struct backward_args {
    struct forward_args forward; /* with its checkpoints */
};
struct backward_outputs {
    struct weights dw;
};
struct backward_outputs backward_outputs(const struct backward_args *a);
pol_status backward(const struct backward_outputs *out, const struct backward_args *a,
                    pol_frame *frame);
POL_ALLOCATING(backward, outputs, space);

#endif

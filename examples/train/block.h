/* SPDX-License-Identifier: MIT */
#ifndef BLOCK_H
#define BLOCK_H

/*
 * One layer of the transformer, forward and backward, as verbs that call verbs:
 *
 *     middle = x + attention(norm(x)) wo^T
 *     y = middle + gate(norm(middle) w1^T, norm(middle) w3^T) w2^T
 *
 * What backward needs and cannot make again cheaply is a checkpoint; the norms and the gate are
 * made again. A block whose checkpoints are absent keeps them no longer than its own frame.
 */

#include "backward.h"
#include "model.h"

struct block_checkpoints {
    struct norm_checkpoints norm_att;
    pol_array q, k, v; /* (rows, dim), (rows, kv_dim): after the rotation */
    struct attention_checkpoints attention;
    pol_array attended; /* (rows, dim): before wo */
    pol_array middle;   /* (rows, dim) */
    struct norm_checkpoints norm_ffn;
    pol_array a, b; /* (rows, hidden): before the gate */
};

struct block_args {
    const struct config *config;
    struct layer_weights w;
    pol_array x;      /* (rows, dim) */
    pol_array angles; /* (context, head_size / 2, 2) */
    int64_t period;   /* rows of a sequence; divides rows, at most context */
    struct block_checkpoints saved;
};
struct block_outputs {
    pol_array y; /* (rows, dim); may be x if nobody goes backward */
};
struct block_outputs block_outputs(const struct block_args *a);
struct block_checkpoints block_checkpoints(const struct block_args *a);
pol_status block(const struct block_outputs *out, const struct block_args *a, pol_frame *frame);
POL_ALLOCATING(block, outputs, space);

struct block_backward_args {
    struct block_args forward; /* with its checkpoints */
    pol_array dy;              /* (rows, dim) */
};
struct block_backward_outputs {
    pol_array dx; /* (rows, dim); may be dy */
    struct layer_weights dw;
};
struct block_backward_outputs block_backward_outputs(const struct block_backward_args *a);
pol_status block_backward(const struct block_backward_outputs *out,
                          const struct block_backward_args *a, pol_frame *frame);
POL_ALLOCATING(block_backward, outputs, space);

/* The checkpoints of all layers in one: each description with a leading dim (layers). */
struct block_checkpoints block_checkpoints_stack(struct block_checkpoints each, int64_t layers);

/* The part of one layer; absent if the whole is. */
struct block_checkpoints block_checkpoints_of_layer(const struct block_checkpoints *all,
                                                    int64_t layer);

#endif

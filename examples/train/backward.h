/* SPDX-License-Identifier: MIT */
#ifndef BACKWARD_H
#define BACKWARD_H

/*
 * The way back through the layers, and the two kernels that only a trainer has: attention over a
 * whole sequence, and the loss.
 *
 * A backward verb is given what forward was, as pairs of an array and its shadow, and the gradient
 * of the outputs; it writes the shadows that are wanted. They are overwritten: where a gradient
 * flows together from two sides, the other side is an argument, `add`, that the result may take the
 * place of. A constant's shadow is absent, and so is the output.
 */

#include "layers.h"

struct embed_backward_args {
    pol_array tokens; /* (rows) i32 */
    pol_shadowed w;   /* (vocab, dim) */
    pol_array dx;     /* (rows, dim) */
    pol_array add;    /* (vocab, dim); absent: nothing */
};
struct embed_backward_outputs {
    pol_array dw; /* (vocab, dim); may be add */
};
struct embed_backward_outputs embed_backward_outputs(const struct embed_backward_args *a);
pol_status embed_backward(const struct embed_backward_outputs *out,
                          const struct embed_backward_args *a);
POL_ALLOCATING(embed_backward, outputs);

struct linear_backward_args {
    pol_shadowed x; /* (rows, in) */
    pol_shadowed w; /* (out, in) */
    pol_array dy;   /* (rows, out) */
    pol_array add;  /* (rows, in): added to dx; absent: nothing */
};
struct linear_backward_outputs {
    pol_array dx; /* (rows, in); may be add */
    pol_array dw; /* (out, in) */
};
struct linear_backward_scratch {
    struct gemm_scratch product;
};
struct linear_backward_outputs linear_backward_outputs(const struct linear_backward_args *a);
struct linear_backward_scratch linear_backward_scratch(const struct linear_backward_args *a);
pol_status linear_backward(const struct linear_backward_outputs *out,
                           const struct linear_backward_args *a,
                           const struct linear_backward_scratch *s);
POL_ALLOCATING(linear_backward, outputs, scratch);

/* Of norm, and of add_norm with x its sum: the gradients of add_norm's x and delta are both dx,
   with the gradient of the sum as `add`. */
struct norm_backward_args {
    pol_shadowed x;    /* (rows, dim) */
    pol_shadowed gain; /* (dim) */
    struct norm_checkpoints saved;
    pol_array dy;  /* (rows, dim) */
    pol_array add; /* (rows, dim): added to dx; absent: nothing */
};
struct norm_backward_outputs {
    pol_array dx;    /* (rows, dim); may be dy or add */
    pol_array dgain; /* (dim) */
};
struct norm_backward_outputs norm_backward_outputs(const struct norm_backward_args *a);
pol_status norm_backward(const struct norm_backward_outputs *out,
                         const struct norm_backward_args *a);
POL_ALLOCATING(norm_backward, outputs);

struct gate_backward_args {
    pol_shadowed a, b; /* of one shape */
    pol_array dy;      /* of that shape */
};
struct gate_backward_outputs {
    pol_array da, db; /* of that shape; each may be dy or its own argument */
};
struct gate_backward_outputs gate_backward_outputs(const struct gate_backward_args *a);
pol_status gate_backward(const struct gate_backward_outputs *out,
                         const struct gate_backward_args *a);
POL_ALLOCATING(gate_backward, outputs);

/* Causal attention over sequences of `period` rows each: y = softmax(q k^T / sqrt(head_size)) v, a
   query head at a time; heads / kv_heads query heads share a head of keys and values. The matrix of
   probabilities is nowhere: a row of it is made when it is needed, forward and backward, and what
   is saved is the logarithm of its sum (Dao et al. 2022, "FlashAttention"). */
struct attention_checkpoints {
    pol_array log_sum; /* (rows, heads): of exp(score) */
};
struct attention_args {
    pol_array q;             /* (rows, heads * head_size) */
    pol_array k, v;          /* (rows, kv_heads * head_size) */
    int64_t heads, kv_heads; /* kv_heads divides heads */
    int64_t period;          /* divides rows */
    struct attention_checkpoints saved;
};
struct attention_outputs {
    pol_array y; /* (rows, heads * head_size) */
};
struct attention_scratch {
    pol_array scores; /* (team, period): of one row */
};
struct attention_outputs attention_outputs(const struct attention_args *a);
struct attention_checkpoints attention_checkpoints(const struct attention_args *a);
struct attention_scratch attention_scratch(const struct attention_args *a);
pol_status attention(const struct attention_outputs *out, const struct attention_args *a,
                     const struct attention_scratch *s);
POL_ALLOCATING(attention, outputs, scratch);

struct attention_backward_args {
    pol_shadowed q, k, v;
    int64_t heads, kv_heads, period;
    struct attention_checkpoints saved;
    pol_array y, dy; /* (rows, heads * head_size) */
};
struct attention_backward_outputs {
    pol_array dq, dk, dv; /* shaped as q, k, v */
};
struct attention_backward_scratch {
    pol_array p; /* (team, period): probabilities of one row */
    pol_array d; /* (team, period): their gradients */
};
struct attention_backward_outputs
attention_backward_outputs(const struct attention_backward_args *a);
struct attention_backward_scratch
attention_backward_scratch(const struct attention_backward_args *a);
pol_status attention_backward(const struct attention_backward_outputs *out,
                              const struct attention_backward_args *a,
                              const struct attention_backward_scratch *s);
POL_ALLOCATING(attention_backward, outputs, scratch);

/* The output layer and the loss in one: the mean over the rows of -log softmax(x w^T)[target]. The
   logits are made a few rows at a time, forward and backward, so they never lie in memory whole. */
struct loss_checkpoints {
    pol_array log_sum; /* (rows): of exp(logit) */
};
struct loss_args {
    pol_array x;       /* (rows, dim) */
    pol_array w;       /* (vocab, dim) */
    pol_array targets; /* (rows) i32, each in 0 .. vocab - 1 */
    struct loss_checkpoints saved;
};
struct loss_outputs {
    pol_array loss; /* scalar f64 */
};
struct loss_scratch {
    pol_array logits; /* (some rows, vocab) */
    pol_array each;   /* (rows) f64: the loss of each row */
    struct gemm_scratch product;
};
struct loss_outputs loss_outputs(const struct loss_args *a);
struct loss_checkpoints loss_checkpoints(const struct loss_args *a);
struct loss_scratch loss_scratch(const struct loss_args *a);
pol_status loss(const struct loss_outputs *out, const struct loss_args *a,
                const struct loss_scratch *s);
POL_ALLOCATING(loss, outputs, scratch);

struct loss_backward_args {
    pol_shadowed x, w;
    pol_array targets;
    struct loss_checkpoints saved;
};
struct loss_backward_outputs {
    pol_array dx, dw; /* shaped as x, w */
};
struct loss_backward_scratch {
    pol_array logits; /* (some rows, vocab) */
    struct gemm_scratch product;
};
struct loss_backward_outputs loss_backward_outputs(const struct loss_backward_args *a);
struct loss_backward_scratch loss_backward_scratch(const struct loss_backward_args *a);
pol_status loss_backward(const struct loss_backward_outputs *out,
                         const struct loss_backward_args *a, const struct loss_backward_scratch *s);
POL_ALLOCATING(loss_backward, outputs, scratch);

#endif

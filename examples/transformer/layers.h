/* SPDX-License-Identifier: MIT */
#ifndef LAYERS_H
#define LAYERS_H

/*
 * The kernels that the decoder and the trainer share, as verbs.
 *
 * Elements are `real` unless a comment says otherwise. Rows are positions: one for the decoder, a
 * batch of sequences one after the other for the trainer. Checkpoints are absent where nobody goes
 * backward.
 */

#include "gemm.h"

/* Returns how many rows of `cost` operations each are a part worth giving to another thread. */
int64_t rows_of_a_part(int64_t cost);

/* x = the rows of w that the tokens name. */
struct embed_args {
    pol_array tokens; /* (rows) i32, each in 0 .. vocab - 1 */
    pol_array w;      /* (vocab, dim) */
};
struct embed_outputs {
    pol_array x; /* (rows, dim) */
};
struct embed_outputs embed_outputs(const struct embed_args *a);
pol_status embed(const struct embed_outputs *out, const struct embed_args *a);
POL_ALLOCATING(embed, outputs);

/* y = x w^T */
struct linear_args {
    pol_array x; /* (rows, in) */
    pol_array w; /* (out, in) */
};
struct linear_outputs {
    pol_array y; /* (rows, out) */
};
struct linear_scratch {
    struct gemm_scratch product; /* absent for one row */
};
struct linear_outputs linear_outputs(const struct linear_args *a);
struct linear_scratch linear_scratch(const struct linear_args *a);
pol_status linear(const struct linear_outputs *out, const struct linear_args *a,
                  const struct linear_scratch *s);
POL_ALLOCATING(linear, outputs, scratch);

/* Each row over its root mean square, times a gain (Zhang and Sennrich 2019, "Root Mean Square
   Layer Normalization"): y = x gain / sqrt(mean(x^2) + 1e-5). */
struct norm_checkpoints {
    pol_array scale; /* (rows): 1 / sqrt(mean(x^2) + 1e-5) */
};
struct norm_args {
    pol_array x;    /* (rows, dim) */
    pol_array gain; /* (dim) */
    struct norm_checkpoints saved;
};
struct norm_outputs {
    pol_array y; /* (rows, dim); may be x */
};
struct norm_outputs norm_outputs(const struct norm_args *a);
struct norm_checkpoints norm_checkpoints(const struct norm_args *a);
pol_status norm(const struct norm_outputs *out, const struct norm_args *a);
POL_ALLOCATING(norm, outputs);

/* The residual and the norm of it in one pass: sum = x + delta, y = norm(sum). */
struct add_norm_args {
    pol_array x, delta; /* (rows, dim) */
    pol_array gain;     /* (dim) */
    struct norm_checkpoints saved;
};
struct add_norm_outputs {
    pol_array sum; /* (rows, dim); may be x or delta */
    pol_array y;   /* (rows, dim) */
};
struct add_norm_outputs add_norm_outputs(const struct add_norm_args *a);
struct norm_checkpoints add_norm_checkpoints(const struct add_norm_args *a);
pol_status add_norm(const struct add_norm_outputs *out, const struct add_norm_args *a);
POL_ALLOCATING(add_norm, outputs);

/* sum = x + delta */
struct add_args {
    pol_array x, delta; /* of one shape */
};
struct add_outputs {
    pol_array sum; /* of that shape; may be x or delta */
};
struct add_outputs add_outputs(const struct add_args *a);
pol_status add(const struct add_outputs *out, const struct add_args *a);
POL_ALLOCATING(add, outputs);

/* The angles of the rotary embedding (Su et al. 2021, "RoFormer"): cosine and sine of
   position / 10000^(2 i / head_size) for pair i of a head. Made once. */
struct angles_args {
    int64_t context, head_size;
};
struct angles_outputs {
    pol_array table; /* (context, head_size / 2, 2) */
};
struct angles_outputs angles_outputs(const struct angles_args *a);
pol_status angles(const struct angles_outputs *out, const struct angles_args *a);
POL_ALLOCATING(angles, outputs);

/* Rotates adjacent pairs of each head. Row r is position first + r % period. v is passed through,
   so outputs that lie in a cache append to it. */
struct rotate_args {
    pol_array q;     /* (rows, heads * head_size) */
    pol_array k;     /* (rows, kv_heads * head_size); may be absent */
    pol_array v;     /* as k; may be absent */
    pol_array table; /* (context, head_size / 2, 2) */
    int64_t first;   /* first + period <= context */
    int64_t period;  /* 1 at least */
    bool back;       /* rotate by the opposite angle: this is its own backward verb */
};
struct rotate_outputs {
    pol_array q, k, v; /* shaped as the arguments; each may be its argument, or not overlap it */
};
struct rotate_outputs rotate_outputs(const struct rotate_args *a);
pol_status rotate(const struct rotate_outputs *out, const struct rotate_args *a);
POL_ALLOCATING(rotate, outputs);

/* The gate of the feed-forward (Shazeer 2020, "GLU Variants Improve Transformer"): y = silu(a) b
   with silu(a) = a / (1 + exp(-a)). */
struct gate_args {
    pol_array a, b; /* of one shape */
};
struct gate_outputs {
    pol_array y; /* of that shape; may be a or b */
};
struct gate_outputs gate_outputs(const struct gate_args *a);
pol_status gate(const struct gate_outputs *out, const struct gate_args *a);
POL_ALLOCATING(gate, outputs);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef KERNELS_H
#define KERNELS_H

/*
 * The kernels that only a decoder has, as verbs: one position looks back on all before it, and
 * chooses a token. What a kernel needs does not depend on the position but on the positions there
 * are room for, so that every step finds its memory at the same addresses.
 */

#include "layers.h"

/* Attention of one position to the `length` first ones of a cache. The cache is cut into stretches
   of SPLIT positions. Each head and stretch is a task that leaves a partial output, weighted by
   exponentials over the stretch's own maximum, with that maximum and the sum of the weights; a last
   pass combines them (Dao et al. 2023, "Flash-Decoding"). Query heads share kv heads evenly. */
enum { SPLIT = 64 };
struct attend_args {
    pol_array q;            /* (1, heads * head_size) */
    pol_array keys, values; /* (positions, kv_heads * head_size) */
    int64_t heads;
    int64_t kv_heads; /* divides heads */
    int64_t length;   /* 1 .. positions */
};
struct attend_outputs {
    pol_array y; /* (1, heads * head_size); may be q */
};
struct attend_scratch {
    pol_array partial;  /* (heads, splits, head_size) */
    pol_array max, sum; /* (heads, splits) */
};
struct attend_outputs attend_outputs(const struct attend_args *a);
struct attend_scratch attend_scratch(const struct attend_args *a);
pol_status attend(const struct attend_outputs *out, const struct attend_args *a,
                  const struct attend_scratch *s);
POL_ALLOCATING(attend, outputs, scratch);

/* The output layer, and the first of the largest logits: of each part, then of the parts. */
enum { CLASSIFY_PART = 256 };
struct classify_args {
    pol_array x; /* (1, dim) */
    pol_array w; /* (vocab, dim) */
};
struct classify_outputs {
    pol_array logits; /* (vocab) */
    pol_array best;   /* () i32 */
};
struct classify_scratch {
    pol_array part_best; /* (parts) i32 */
};
struct classify_outputs classify_outputs(const struct classify_args *a);
struct classify_scratch classify_scratch(const struct classify_args *a);
/* POL_EUSER: the best logit is no finite number, so the model is of no use. */
pol_status classify(const struct classify_outputs *out, const struct classify_args *a,
                    const struct classify_scratch *s);
POL_ALLOCATING(classify, outputs, scratch);

/* Draws a token with the probabilities softmax(logits / temperature), from the nucleus alone: the
   fewest tokens, the likeliest first, that together have at least top_p (Holtzman et al. 2020, "The
   Curious Case of Neural Text Degeneration"). Of equally likely ones the first is first. */
struct sample_args {
    pol_array logits;  /* (vocab) */
    float temperature; /* > 0 */
    float top_p;       /* 0: the likeliest token alone; 1: all */
    float coin;        /* in [0, 1): which one */
};
struct sample_outputs {
    pol_array token; /* () i32 */
};
struct sample_scratch {
    pol_array weight; /* (vocab): not divided by their sum */
    pol_array order;  /* (vocab) i32: a heap of tokens, then the nucleus from the end on */
};
struct sample_outputs sample_outputs(const struct sample_args *a);
struct sample_scratch sample_scratch(const struct sample_args *a);
/* POL_EUSER: the logits are no finite numbers. */
pol_status sample(const struct sample_outputs *out, const struct sample_args *a,
                  const struct sample_scratch *s);
POL_ALLOCATING(sample, outputs, scratch);

#endif

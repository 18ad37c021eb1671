/* SPDX-License-Identifier: MIT */
#ifndef MODEL_H
#define MODEL_H

/*
 * The shape of a model and its weights: a transformer with RMS norms, rotary embeddings, grouped
 * query heads and gated feed-forwards. (head_size = dim / heads, kv_dim = kv_heads head_size.)
 */

#include "real.h"

struct config {
    int64_t dim;      /* of the residual stream */
    int64_t hidden;   /* of the feed-forward */
    int64_t layers;   /* 1 at least */
    int64_t heads;    /* of the queries; divides dim, and dim / heads is even */
    int64_t kv_heads; /* of keys and values; divides heads */
    int64_t vocab;    /* tokens */
    int64_t context;  /* positions */
    bool own_output;  /* the output layer has a matrix of its own, else the embedding serves */
};

int64_t config_head_size(const struct config *c);
int64_t config_kv_dim(const struct config *c);

/* Refuses what is no model (POL_EINVAL), or one that no address space holds (POL_EOVERFLOW). */
POL_NODISCARD pol_status config_check(const struct config *c);

/* A bundle, in the order in which the arrays lie in a model's file. */
struct weights {
    pol_array embedding;  /* (vocab, dim) */
    pol_array norm_att;   /* (layers, dim) */
    pol_array wq;         /* (layers, dim, dim) */
    pol_array wk, wv;     /* (layers, kv_dim, dim) */
    pol_array wo;         /* (layers, dim, dim) */
    pol_array norm_ffn;   /* (layers, dim) */
    pol_array w1, w2, w3; /* (layers, hidden, dim), (layers, dim, hidden), (layers, hidden, dim) */
    pol_array norm_final; /* (dim) */
    pol_array unused[2];  /* (context, head_size / 2): in files alone, absent elsewhere */
    pol_array output;     /* (vocab, dim); absent if the embedding serves */
};

/* Describes the weights; takes no memory. `in_file`: with the unused tables. */
struct weights weights_undef(const struct config *c, bool in_file);

/* The part of one layer. */
struct layer_weights {
    pol_array norm_att;   /* (dim) */
    pol_array wq;         /* (dim, dim) */
    pol_array wk, wv;     /* (kv_dim, dim) */
    pol_array wo;         /* (dim, dim) */
    pol_array norm_ffn;   /* (dim) */
    pol_array w1, w2, w3; /* (hidden, dim), (dim, hidden), (hidden, dim) */
};
struct layer_weights weights_of_layer(const struct weights *w, int64_t layer);

/* Returns the matrix of the output layer: its own, or the embedding. */
const pol_array *weights_output(const struct weights *w);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef STEP_H
#define STEP_H

/* One position's way through the model. */

#include "model.h"

/* What each position leaves for those after it. A bundle; caller lifetime. */
struct cache {
    pol_array keys, values; /* (layers, positions, kv_dim) */
};

/* Describes the cache for so many positions. */
struct cache cache_undef(const struct config *c, int64_t positions);

/* How the next token is chosen. */
struct choice {
    float temperature; /* 0: the best one */
    float top_p;
    float coin; /* in [0, 1) */
};

struct step_args {
    const struct config *config;
    const struct weights *weights;
    const struct cache *cache; /* holds the positions before; this one is appended */
    pol_array angles;          /* (positions, head_size / 2, 2) */
    int64_t position;
    int32_t token; /* at that position */
    struct choice choice;
};
struct step_outputs {
    pol_array next; /* () i32 */
};
struct step_outputs step_outputs(const struct step_args *a);
pol_status step(const struct step_outputs *out, const struct step_args *a, pol_frame *frame);
POL_ALLOCATING(step, outputs, space);

#endif

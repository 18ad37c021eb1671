/* SPDX-License-Identifier: MIT */
#ifndef BATCH_H
#define BATCH_H

/* What a step reads: sequences from the texts, each TOKEN_START and then text, of which every token
   is to be told from those before it. */

#include "state.h"

/* Fills the state's batch with sequences from anywhere in `part`, (n) i32. */
void batch_draw(const struct state *s, const pol_array *part, int64_t context, uint64_t *random);

/* Fills it with batch `number` of `batches` of those that lie evenly in `part`, from end to end. */
void batch_spread(const struct state *s, const pol_array *part, int64_t context, int64_t number,
                  int64_t batches);

#endif

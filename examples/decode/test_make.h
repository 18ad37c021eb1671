/* SPDX-License-Identifier: MIT */
#ifndef TEST_MAKE_H
#define TEST_MAKE_H

/* A small model with random weights and a tokenizer for it, so that tests need no others. */

#include "model.h"

/* Of the tokenizer: the three special ones, the bytes, and then some letters and words. */
int64_t make_vocab(void);

/* Fills the weights, which are all in memory. Equal seeds, equal weights. */
void make_weights(const struct weights *w, uint64_t seed);

/* Writes a model with weights of that seed. */
POL_NODISCARD pol_status make_model(const char *path, const struct config *c, uint64_t seed);

/* Writes the first `vocab` tokens; more than make_vocab() are made up. */
POL_NODISCARD pol_status make_tokenizer(const char *path, int64_t vocab);

/* Writes a file. */
POL_NODISCARD pol_status make_file(const char *path, const void *bytes, size_t nbytes);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TEXTS_H
#define TEXTS_H

/* The texts of a run: their prompts, and how each is continued. */

#include "layers.h"
#include "model_file.h"
#include "options.h"
#include "step.h"
#include "tokenizer.h"

/* What all texts share, and what each leaves. A bundle; caller lifetime. */
struct texts_memory {
    struct tokenizer_tables tables;
    pol_array tokens; /* (texts, steps + 1) i32: the prompt, then what follows it */
    pol_array known;  /* (texts) i64: tokens of the prompt, TOKEN_START included */
    pol_array count;  /* (texts) i64: tokens in all */
    struct angles_outputs angles;
};

struct texts {
    const struct options *options;
    const struct model_file *model;
    struct tokenizer tokenizer; /* its tables are those of the memory */
    int64_t texts, steps;
    struct texts_memory memory;
};

/* Opens the tokenizer, and checks the options against the model. Memory is described alone. */
POL_NODISCARD pol_status texts_open(struct texts *t, const struct options *o,
                                    const struct model_file *model);
void texts_close(struct texts *t);

/* Materializes the memory in `arena`, reads the tokenizer, makes the angles, encodes the prompts.
   On a measuring arena the addresses alone. POL_EUSER, POL_EINVAL: a prompt is too long, is not
   UTF-8, or the tokenizer is none of the model's. */
POL_NODISCARD pol_status texts_set_up(struct texts *t, pol_arena *arena);

/* Takes one step: writes what follows `token` to *next, unless it is measured. */
POL_NODISCARD pol_status texts_step(const struct texts *t, const struct cache *cache,
                                    pol_space *space, int64_t position, int32_t token, float coin,
                                    int32_t *next);

/* Continues text `text`, with each step in a frame on `space`. A run of one text writes it to the
   standard output as it comes. POL_EUSER: it cannot be written, or the model is of no use. */
POL_NODISCARD pol_status texts_continue(const struct texts *t, int64_t text,
                                        const struct cache *cache, pol_space *space);

/* Writes all texts in order, an empty line between them, unless that has been done; and counts the
   tokens: the steps that were taken. POL_EUSER: they cannot be written. */
POL_NODISCARD pol_status texts_write(const struct texts *t);
int64_t texts_count_steps(const struct texts *t);

#endif

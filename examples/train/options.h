/* SPDX-License-Identifier: MIT */
#ifndef OPTIONS_H
#define OPTIONS_H

/* The command line: text files, and options with their values. */

#include <pol/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    char *const *texts; /* files, one after the other */
    int ntexts;
    const char *out, *tokenizer, *curve; /* NULL: not given */
    uint64_t dim, hidden, layers, heads, kv_heads, vocab, context;
    uint64_t batch, steps, warmup, validate, threads, seed;
    double rate, decay, clip;
    bool recompute, plan, help;
};

/* Reads the command line. Moves the texts to the front of `argv`. POL_EINVAL: the text says what an
   option wants. */
POL_NODISCARD pol_status options_read(struct options *o, int argc, char **argv);

void options_print_help(void);

#endif

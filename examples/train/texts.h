/* SPDX-License-Identifier: MIT */
#ifndef TEXTS_H
#define TEXTS_H

/* What is learned: the tokens of all texts, one text after the other. The files are mapped one at a
   time, and only while they are read. */

#include "options.h"
#include "tokenizer.h"

/* A bundle; caller lifetime. */
struct texts_memory {
    struct tokenizer_tables tables; /* absent for bytes alone */
    pol_array tokens;               /* (nbytes) i32: as many as there can be, one a byte */
};

struct texts {
    const struct options *options;
    struct tokenizer tokenizer; /* its tables are those of the memory */
    size_t nbytes, largest;     /* of all files, and of one */
    struct texts_memory memory;
    pol_array training, validation; /* (tokens) i32: the last tenth validates; parts of memory */
};

/* Opens the tokenizer and measures the files. Memory is described alone. POL_EUSER: a file cannot
   be read, or is no tokenizer; the text names it. */
POL_NODISCARD pol_status texts_open(struct texts *t, const struct options *o);
void texts_close(struct texts *t);

/* Materializes the memory in `arena` and reads the texts into it; on a measuring arena the
   addresses alone. POL_EUSER: a file cannot be read, is not UTF-8 where a tokenizer wants that, or
   all are too short for a sequence in either part. */
POL_NODISCARD pol_status texts_set_up(struct texts *t, pol_arena *arena);

#endif

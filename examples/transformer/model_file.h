/* SPDX-License-Identifier: MIT */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

/*
 * Models in files, in the format of Andrej Karpathy's llama2.c: seven little-endian int32 (dim,
 * hidden, layers, heads, kv_heads, vocab, negative if the output layer has a matrix of its own, and
 * context), then the weights as float32 in the order of struct weights.
 */

#include "model.h"

/* A file in memory, read-only. */
struct mapped_file {
    const void *data; /* NULL if the file is empty, or not open */
    size_t nbytes;
};

/* Maps a file. POL_EUSER: it cannot be read; the text names it and says why. */
POL_NODISCARD pol_status mapped_file_open(struct mapped_file *f, const char *path);
void mapped_file_close(struct mapped_file *f);

struct model_file {
    struct mapped_file file;
    struct config config;
    struct weights weights; /* borrowed: they lie in the mapped file, until model_file_close() */
};

/* Maps a model and checks that it is one. The weights are materialized over the file, by an arena
   of 4-byte alignment, so a file that is too short is a slab that is too small. POL_EUSER: it
   cannot be read, is truncated, is longer than it says, or its shape is absurd; the text names the
   file. */
POL_NODISCARD pol_status model_file_open(struct model_file *m, const char *path);
void model_file_close(struct model_file *m);

/* Writes a model, whole or not at all, as new_file.h says. POL_EUSER: it cannot be written; what
   was there stays. */
POL_NODISCARD pol_status model_file_write(const char *path, const struct config *c,
                                          const struct weights *w);

#endif

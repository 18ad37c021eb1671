/* SPDX-License-Identifier: MIT */
#ifndef TOKENIZER_PIECE_H
#define TOKENIZER_PIECE_H

/* The bytes of a token, where they lie: what reading a tokenizer and using it share. */

#include "tokenizer.h"

#include <string.h>

struct piece {
    const char *bytes;
    size_t n;
};

/* A tokenizer of bytes alone has no file, and no tables. */
static inline bool has_file(const struct tokenizer *t)
{
    return !pol_is_absent(&t->tables.offset);
}

static inline struct piece piece_of(const struct tokenizer *t, int32_t token)
{
    const int64_t offset = pol_data(&t->tables.offset, int64_t)[token];
    const int32_t n = pol_data(&t->tables.length, int32_t)[token];
    return (struct piece){(const char *)t->file.data + offset, (size_t)n};
}

/* In the order of the bytes; less than, equal to or greater than 0. */
static inline int compare_pieces(struct piece x, struct piece y)
{
    const int order = memcmp(x.bytes, y.bytes, x.n < y.n ? x.n : y.n);
    return order != 0 ? order : (x.n > y.n) - (x.n < y.n);
}

#endif

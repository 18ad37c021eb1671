/* SPDX-License-Identifier: MIT */
#ifndef TOKENIZER_H
#define TOKENIZER_H

/*
 * Text to tokens and back: byte pair encoding with a vocabulary from a file in the format of
 * llama2.c's tokenizers (int32 length of the longest token; then a token each: float32 score, int32
 * length, bytes), or without a file: the bytes themselves.
 *
 * Tokens 0, 1, 2 are "<unk>", "<s>" and "</s>"; 3 + b is the byte b, written "<0x0A>". Text begins
 * after token 1.
 */

#include "model_file.h"

enum { TOKEN_START = 1, TOKEN_BYTE = 3, BYTES_VOCAB = 259 };

/* Where the tokens of a file lie, for looking them up. A bundle. */
struct tokenizer_tables {
    pol_array offset; /* (vocab) i64: of a token's bytes, in the file */
    pol_array length; /* (vocab) i32 */
    pol_array score;  /* (vocab) f32 */
    pol_array sorted; /* (vocab) i32: tokens in the order of their bytes */
};

struct tokenizer {
    const char *path;        /* for messages; borrowed. NULL: bytes alone */
    struct mapped_file file; /* not open: bytes alone */
    int64_t vocab;
    struct tokenizer_tables tables; /* absent for bytes alone */
};

/* Opens the file, or, with path NULL, the tokenizer of bytes, which needs vocab to be BYTES_VOCAB.
   A vocab of 0 is as many tokens as there are, and t->vocab says how many that is. The tables are
   described, not materialized: pol_alloc() them where they are to lie, then call tokenizer_load().
   `path` is borrowed. POL_EUSER: it cannot be read, or has no tokens; or, with a vocab of 0, what
   tokenizer_load() refuses. POL_EINVAL: bytes will not do for this vocab. */
POL_NODISCARD pol_status tokenizer_open(struct tokenizer *t, const char *path, int64_t vocab);
void tokenizer_close(struct tokenizer *t);

/* Reads the file into the tables. POL_EUSER: it is truncated, longer than `vocab` tokens, or no
   tokenizer. A tokenizer of bytes: nothing to do. */
POL_NODISCARD pol_status tokenizer_load(struct tokenizer *t);

/* Returns how many bytes of a text come before the first that is not UTF-8; all, if none is. */
size_t tokenizer_utf8_nbytes(const char *text, size_t nbytes);

/* Writes the tokens of a text, by merging; without TOKEN_START and the space before a prompt.
   `tokens` (nbytes) i32 has room for the most there can be; *count is how many there are. Takes
   time of nbytes times count. POL_EINVAL: the text is not UTF-8; where it is not is in the text. */
POL_NODISCARD pol_status tokenizer_encode(const struct tokenizer *t, const char *text,
                                          size_t nbytes, const pol_array *tokens, int64_t *count);

/* Writes the tokens of a prompt: TOKEN_START, then, if there is a text, a space and the text.
   `tokens` (2 + strlen(text)) i32. */
POL_NODISCARD pol_status tokenizer_encode_prompt(const struct tokenizer *t, const char *text,
                                                 const pol_array *tokens, int64_t *count);

/* Returns the longest prompt, in bytes, that can be `most` tokens or fewer. */
size_t tokenizer_longest_prompt(const struct tokenizer *t, int64_t most);

/* Returns the bytes that `token` stands for after `previous`, and how many there are. After
   TOKEN_START one leading space is dropped. The bytes are the tokenizer's, until it is closed. */
const char *tokenizer_decode(const struct tokenizer *t, int32_t previous, int32_t token,
                             size_t *nbytes);

#endif

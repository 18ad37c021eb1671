/* SPDX-License-Identifier: MIT */
/*
 * A text has no more tokens than bytes, so there is room for as many; and a piece of it is encoded
 * where its tokens are to lie, before pairs are merged too. What merging leaves over at the end is
 * never touched, so the system never commits it.
 */
#include "texts.h"

#include <string.h>

/* Encoding takes time of a piece's length squared. */
enum { PIECE_NBYTES = 128, VALIDATION = 10 /* one in ten */ };

/* The files */

static pol_status measure_files(struct texts *t)
{
    for (int i = 0; i < t->options->ntexts; i++) {
        struct mapped_file f;
        POL_TRY(mapped_file_open(&f, t->options->texts[i]));
        const size_t nbytes = f.nbytes;
        mapped_file_close(&f);
        if (nbytes > PTRDIFF_MAX - t->nbytes)
            return pol_fail(POL_EOVERFLOW, "the texts are too long: up to %s",
                            t->options->texts[i]);
        t->nbytes += nbytes;
        t->largest = nbytes > t->largest ? nbytes : t->largest;
    }
    return POL_OK;
}

pol_status texts_open(struct texts *t, const struct options *o)
{
    *t = (struct texts){.options = o};
    POL_TRY(measure_files(t));
    POL_TRY(tokenizer_open(&t->tokenizer, o->tokenizer, 0));
    t->memory = (struct texts_memory){
        .tables = t->tokenizer.tables,
        .tokens = pol_undef(POL_I32, (int64_t)t->nbytes),
    };
    return POL_OK;
}

void texts_close(struct texts *t)
{
    tokenizer_close(&t->tokenizer);
}

/* From bytes to tokens */

static void encode_bytes(int32_t *tokens, const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        tokens[i] = TOKEN_BYTE + bytes[i];
}

/* Returns where a piece ends: after a line, else before a word, else between characters. */
static size_t piece_nbytes(const char *text, size_t nbytes)
{
    const size_t most = nbytes < PIECE_NBYTES ? nbytes : PIECE_NBYTES;
    const char *const newline = (const char *)memchr(text, '\n', most);
    if (newline)
        return (size_t)(newline - text) + 1;
    if (most == nbytes)
        return nbytes;
    for (size_t end = most; end > 0; end--)
        if (text[end] == ' ')
            return end;
    size_t end = most;
    while (end > most - 3 && ((uint8_t)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

/* Tokens are bytes, whichever are chosen: none is lost, none invented. */
static bool reads_as(const struct tokenizer *t, const int32_t *tokens, int64_t count,
                     const char *text, size_t nbytes)
{
    for (int64_t i = 0; i < count; i++) {
        size_t n;
        const char *const bytes = tokenizer_decode(t, -1, tokens[i], &n);
        if (n > nbytes || memcmp(bytes, text, n) != 0)
            return false;
        text += n;
        nbytes -= n;
    }
    return nbytes == 0;
}

static pol_status encode_piece(const struct texts *t, const char *text, size_t nbytes,
                               int64_t *count)
{
    const pol_array room = pol_slice(&t->memory.tokens, *count, (int64_t)nbytes);
    int64_t n = 0;
    POL_TRY(tokenizer_encode(&t->tokenizer, text, nbytes, &room, &n));
    if (!reads_as(&t->tokenizer, pol_data(&room, int32_t), n, text, nbytes))
        return pol_fail(POL_EUSER, "the tokenizer's tokens do not read as the text");
    *count += n;
    return POL_OK;
}

static pol_status encode(const struct texts *t, const struct mapped_file *f, const char *path,
                         int64_t *count)
{
    const char *const text = (const char *)f->data;
    if (f->nbytes > (uint64_t)(t->memory.tokens.dims[0] - *count))
        return pol_fail(POL_EUSER, "it grew while it was read: %s", path);
    if (!t->tokenizer.path) {
        encode_bytes(pol_data(&t->memory.tokens, int32_t) + *count, (const uint8_t *)text,
                     f->nbytes);
        *count += (int64_t)f->nbytes;
        return POL_OK;
    }
    for (size_t at = 0; at < f->nbytes;) {
        const size_t nbytes = piece_nbytes(text + at, f->nbytes - at);
        const size_t utf8 = tokenizer_utf8_nbytes(text + at, nbytes);
        if (utf8 < nbytes)
            return pol_fail(POL_EUSER, "the text is not UTF-8, from its byte %zu on: %s", at + utf8,
                            path);
        const pol_status status = encode_piece(t, text + at, nbytes, count);
        if (status != POL_OK)
            return pol_fail(status == POL_EINVAL ? POL_EUSER : status, "after byte %zu, %.160s: %s",
                            at, pol_last_error(), path);
        at += nbytes;
    }
    return POL_OK;
}

static pol_status read_files(const struct texts *t, int64_t *count)
{
    *count = 0;
    for (int i = 0; i < t->options->ntexts; i++) {
        const char *const path = t->options->texts[i];
        struct mapped_file f;
        POL_TRY(mapped_file_open(&f, path));
        const pol_status status = encode(t, &f, path, count);
        mapped_file_close(&f);
        POL_TRY(status);
    }
    return POL_OK;
}

/* Both parts hold a sequence at least. */
static pol_status split(struct texts *t, int64_t count)
{
    const int64_t last = count / VALIDATION, context = (int64_t)t->options->context;
    const int64_t needed = VALIDATION * context;
    if (last < context)
        return pol_fail(POL_EUSER,
                        "the texts have %lld tokens where a context of %lld needs %lld: a sequence "
                        "in the last tenth too, which validates; take more text, or less --context",
                        (long long)count, (long long)context, (long long)needed);
    t->training = pol_slice(&t->memory.tokens, 0, count - last);
    t->validation = pol_slice(&t->memory.tokens, count - last, last);
    return POL_OK;
}

pol_status texts_set_up(struct texts *t, pol_arena *arena)
{
    int64_t count = 0;
    POL_TRY(pol_alloc(arena, &t->memory, t->memory));
    t->tokenizer.tables = t->memory.tables;
    if (pol_is_measuring(arena))
        return POL_OK;
    POL_TRY(tokenizer_load(&t->tokenizer));
    POL_TRY(read_files(t, &count));
    return split(t, count);
}

/* SPDX-License-Identifier: MIT */
/*
 * Texts are found among the tokens by binary search in the table that has them in order. The text
 * of a merged pair is compared piece by piece, so it is never put together anywhere.
 */
#include "tokenizer_piece.h"

enum { NO_TOKEN = -1 };

/* Compares x with a and b, one after the other. */
static int compare_with_pair(struct piece x, struct piece a, struct piece b)
{
    if (x.n < a.n)
        return compare_pieces(x, a);
    const int order = memcmp(x.bytes, a.bytes, a.n);
    return order != 0 ? order : compare_pieces((struct piece){x.bytes + a.n, x.n - a.n}, b);
}

/* Returns the token that reads `a`, then `b`: the first of several; NO_TOKEN if there is none. */
static int32_t find(const struct tokenizer *t, struct piece a, struct piece b)
{
    const int32_t *const sorted = pol_data(&t->tables.sorted, int32_t);
    int64_t first = 0, count = t->vocab;
    while (count > 0) {
        const int64_t half = count / 2;
        if (compare_with_pair(piece_of(t, sorted[first + half]), a, b) < 0) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    if (first < t->vocab && compare_with_pair(piece_of(t, sorted[first]), a, b) == 0)
        return sorted[first];
    return NO_TOKEN;
}

/* Encoding */

/* Returns the bytes of the UTF-8 character that begins the text, 0 if none does (RFC 3629). */
static size_t character_nbytes(const char *text, size_t nbytes)
{
    const uint8_t *const c = (const uint8_t *)text;
    const size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (n == 0 || n > nbytes || c[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    /* Nothing in more bytes than it takes, no surrogates, nothing past U+10FFFF. */
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return n;
}

size_t tokenizer_utf8_nbytes(const char *text, size_t nbytes)
{
    size_t at = 0;
    for (size_t n = 1; at < nbytes && n > 0; at += n)
        n = character_nbytes(text + at, nbytes - at);
    return at;
}

/* Appends a character's token, or those of its bytes. */
static pol_status append(const struct tokenizer *t, struct piece character, int32_t *tokens,
                         int64_t *count)
{
    const struct piece nothing = {"", 0};
    const int32_t whole = has_file(t) ? find(t, character, nothing) : NO_TOKEN;
    if (whole != NO_TOKEN) {
        tokens[(*count)++] = whole;
        return POL_OK;
    }
    for (size_t i = 0; i < character.n; i++) {
        const int32_t token = TOKEN_BYTE + (int32_t)(uint8_t)character.bytes[i];
        if (token >= t->vocab)
            return pol_fail(POL_EINVAL, "the tokenizer has no token for the byte 0x%02X",
                            (unsigned)(uint8_t)character.bytes[i]);
        tokens[(*count)++] = token;
    }
    return POL_OK;
}

struct merge {
    int32_t token;
    int64_t at;
};

/* Returns the merge of the highest score, the first of several. */
static struct merge best_merge(const struct tokenizer *t, const int32_t *tokens, int64_t count)
{
    const float *const scores = pol_data(&t->tables.score, float);
    struct merge best = {.token = NO_TOKEN};
    for (int64_t i = 0; i + 1 < count; i++) {
        const int32_t token = find(t, piece_of(t, tokens[i]), piece_of(t, tokens[i + 1]));
        if (token != NO_TOKEN && (best.token == NO_TOKEN || scores[token] > scores[best.token]))
            best = (struct merge){.token = token, .at = i};
    }
    return best;
}

static void merge_pairs(const struct tokenizer *t, int32_t *tokens, int64_t *count)
{
    for (;;) {
        const struct merge m = best_merge(t, tokens, *count);
        if (m.token == NO_TOKEN)
            return;
        tokens[m.at] = m.token;
        (*count)--;
        memmove(tokens + m.at + 1, tokens + m.at + 2, (size_t)(*count - m.at - 1) * sizeof *tokens);
    }
}

/* `spaced`: a space comes before the text. */
static pol_status encode(const struct tokenizer *t, struct piece text, bool spaced, int32_t *tokens,
                         int64_t *count)
{
    const struct piece space = {" ", 1};
    int64_t n = 0;
    if (spaced)
        POL_TRY(append(t, space, tokens, &n));
    for (size_t at = 0; at < text.n;) {
        const struct piece rest = {text.bytes + at, text.n - at};
        const size_t nbytes = character_nbytes(rest.bytes, rest.n);
        if (nbytes == 0)
            return pol_fail(POL_EINVAL, "the text is not UTF-8, from its byte %zu on", at);
        POL_TRY(append(t, (struct piece){rest.bytes, nbytes}, tokens, &n));
        at += nbytes;
    }
    if (has_file(t))
        merge_pairs(t, tokens, &n);
    *count = n;
    return POL_OK;
}

static pol_status check_room(const pol_array *tokens, size_t needed)
{
    if (!pol_is_array(tokens) || tokens->ndim != 1 || tokens->type.size != sizeof(int32_t) ||
        (uint64_t)tokens->dims[0] < needed)
        return pol_fail(POL_EINVAL, "tokenizer: tokens: not %zu of i32 in memory", needed);
    return POL_OK;
}

pol_status tokenizer_encode(const struct tokenizer *t, const char *text, size_t nbytes,
                            const pol_array *tokens, int64_t *count)
{
    POL_TRY(check_room(tokens, nbytes));
    return encode(t, (struct piece){text, nbytes}, false, pol_data(tokens, int32_t), count);
}

pol_status tokenizer_encode_prompt(const struct tokenizer *t, const char *text,
                                   const pol_array *tokens, int64_t *count)
{
    const struct piece piece = {text, strlen(text)};
    POL_TRY(check_room(tokens, 2 + piece.n));
    int32_t *const data = pol_data(tokens, int32_t);
    int64_t n = 0;
    POL_TRY(encode(t, piece, piece.n > 0, data + 1, &n));
    data[0] = TOKEN_START;
    *count = 1 + n;
    return POL_OK;
}

/* Decoding */

static const char *byte_of(uint8_t byte)
{
#define ROW(h) h, h + 1, h + 2, h + 3, h + 4, h + 5, h + 6, h + 7
#define BLOCK(h) ROW(h), ROW(h + 8), ROW(h + 16), ROW(h + 24)
    static const uint8_t bytes[256] = {
        BLOCK(0), BLOCK(32), BLOCK(64), BLOCK(96), BLOCK(128), BLOCK(160), BLOCK(192), BLOCK(224),
    };
#undef BLOCK
#undef ROW
    return (const char *)&bytes[byte];
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* "<0x0A>" is the byte 10; anything else is itself. */
static struct piece unescape(struct piece p)
{
    if (p.n == 6 && memcmp(p.bytes, "<0x", 3) == 0 && p.bytes[5] == '>') {
        const int high = hex_digit(p.bytes[3]), low = hex_digit(p.bytes[4]);
        if (high >= 0 && low >= 0)
            return (struct piece){byte_of((uint8_t)(16 * high + low)), 1};
    }
    return p;
}

static struct piece piece_without_file(int32_t token)
{
    static const struct piece specials[TOKEN_BYTE] = {{"<unk>", 5}, {"<s>", 3}, {"</s>", 4}};
    if (token < TOKEN_BYTE)
        return specials[token];
    return (struct piece){byte_of((uint8_t)(token - TOKEN_BYTE)), 1};
}

const char *tokenizer_decode(const struct tokenizer *t, int32_t previous, int32_t token,
                             size_t *nbytes)
{
    struct piece p = {"", 0};
    if (token >= 0 && token < t->vocab)
        p = has_file(t) ? unescape(piece_of(t, token)) : piece_without_file(token);
    if (previous == TOKEN_START && p.n > 0 && p.bytes[0] == ' ')
        p = (struct piece){p.bytes + 1, p.n - 1};
    *nbytes = p.n;
    return p.bytes;
}

/* SPDX-License-Identifier: MIT */
#include "test_make.h"

#include "model_file.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

/* Scores: a merge of a higher one comes first. "th" beats "he", so "the" is "th" and "e". */
static const struct {
    const char *text;
    float score;
} WORDS[] = {
    {" ", -1},    {"a", -2}, {"c", -2},   {"e", -3},   {"h", -4},  {"t", -5}, {"\xc3\xa9", -6},
    {"th", 9},    {"he", 8}, {"the", 10}, {" the", 7}, {"cat", 5}, {"ca", 4}, {"at", 4},
    {" cat", 20}, {"aa", 3}, {"aaa", 1},  {"aaaa", 2}, {"\n", -9}, {".", -9}, {" a", 1},
};

enum { SPECIALS = 3, BYTES = 256, WORD_COUNT = sizeof WORDS / sizeof *WORDS };

int64_t make_vocab(void)
{
    return SPECIALS + BYTES + WORD_COUNT;
}

static void fill(const pol_array *first, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const float middle =
            first[i].ndim <= 2 && first[i].dims[0] < 8 ? 1.0f : 0.0f; /* of gains */
        size_t nbytes = 0;
        if (pol_is_absent(&first[i]) || pol_nbytes(&first[i], &nbytes) != POL_OK)
            continue;
        for (size_t j = 0; j < nbytes / sizeof(float); j++)
            pol_data(&first[i], float)[j] = middle + random_unit(&seed) - 0.5f;
    }
}

void make_weights(const struct weights *w, uint64_t seed)
{
    fill(pol_arrays(w), pol_count_arrays(w), seed);
}

pol_status make_model(const char *path, const struct config *c, uint64_t seed)
{
    POL_SCRATCHSPACE(frame, pol_heap()) {
        struct weights w;
        POL_TRY(pol_alloc(frame, &w, weights_undef(c, false)));
        make_weights(&w, seed);
        POL_TRY(model_file_write(path, c, &w));
    }
    return POL_OK;
}

pol_status make_file(const char *path, const void *bytes, size_t nbytes)
{
    FILE *const file = fopen(path, "wb");
    if (!file)
        return pol_fail(POL_EUSER, "cannot write: %s", path);
    const bool written = fwrite(bytes, 1, nbytes, file) == nbytes;
    return fclose(file) == 0 && written ? POL_OK : pol_fail(POL_EUSER, "cannot write: %s", path);
}

static void put_u32(uint8_t *bytes, uint32_t u)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(u >> 8 * i);
}

static size_t put_token(uint8_t *bytes, const char *text, float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    const size_t n = strlen(text);
    put_u32(bytes, bits);
    put_u32(bytes + 4, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        bytes[8 + i] = (uint8_t)text[i];
    return 8 + n;
}

/* Returns its text, of 15 bytes at most. */
static const char *token_text(int64_t token, char text[16], float *score)
{
    static const char *const specials[SPECIALS] = {"<unk>", "\n<s>\n", "\n</s>\n"};
    *score = 0;
    if (token < SPECIALS)
        return specials[token];
    if (token < SPECIALS + BYTES) {
        (void)snprintf(text, 16, "<0x%02X>", (unsigned)(token - SPECIALS) & 0xffu);
    } else if (token < make_vocab()) {
        *score = WORDS[token - SPECIALS - BYTES].score;
        return WORDS[token - SPECIALS - BYTES].text;
    } else {
        (void)snprintf(text, 16, "#%u", (unsigned)token & 0xffffu);
    }
    return text;
}

pol_status make_tokenizer(const char *path, int64_t vocab)
{
    POL_SCRATCHSPACE(frame, pol_heap()) {
        uint8_t *const bytes = pol_new(frame, uint8_t, (size_t)(4 + vocab * 24));
        size_t at = 4, longest = 0;
        if (!bytes)
            return POL_ENOMEM;
        for (int64_t i = 0; i < vocab; i++) {
            char made[16];
            float score;
            const char *const text = token_text(i, made, &score);
            longest = strlen(text) > longest ? strlen(text) : longest;
            at += put_token(bytes + at, text, score);
        }
        put_u32(bytes, (uint32_t)longest);
        POL_TRY(make_file(path, bytes, at));
    }
    return POL_OK;
}

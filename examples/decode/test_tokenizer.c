/* SPDX-License-Identifier: MIT */
/*
 * Text to tokens and back, with the made vocabulary and with bytes alone. Called with a folder to
 * write to.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* chdir */
#endif
#include "test_make.h"
#include "test_run.h"
#include "tokenizer.h"

#include <string.h>
#include <unistd.h>

enum { MOST = 64, FIRST_WORD = 259 };

/* Opens the made vocabulary (`path`), or bytes (NULL), in a frame. */
static pol_status open_in(pol_frame *frame, struct tokenizer *t, const char *path)
{
    POL_TRY(tokenizer_open(t, path, path ? make_vocab() : BYTES_VOCAB));
    POL_TRY(pol_alloc(frame, &t->tables, t->tables));
    return tokenizer_load(t);
}

static pol_status encode(const struct tokenizer *t, const char *text, int32_t tokens[MOST],
                         int64_t *count)
{
    const pol_array room = pol_wrap(tokens, POL_I32, MOST);
    return tokenizer_encode(t, text, strlen(text), &room, count);
}

static pol_status expect_tokens(const struct tokenizer *t, const char *text, const int32_t *wanted,
                                int64_t wanted_count)
{
    int32_t tokens[MOST];
    int64_t count = -1;
    POL_TRY(encode(t, text, tokens, &count));
    if (count != wanted_count || memcmp(tokens, wanted, (size_t)count * sizeof *tokens) != 0)
        return pol_fail(POL_EUSER, "'%s' is %lld tokens, the first is %d", text, (long long)count,
                        tokens[0]);
    return POL_OK;
}
#define EXPECT_TOKENS(t, text, ...)                                                                \
    POL_TRY(expect_tokens((t), (text), (const int32_t[]){__VA_ARGS__},                             \
                          sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

/* In the order of test_make.c's words. */
enum {
    SPACE = FIRST_WORD,
    A,
    C,
    E,
    H,
    T,
    E_ACUTE,
    TH,
    HE,
    THE,
    SPACE_THE,
    CAT,
    CA,
    AT,
    SPACE_CAT,
    AA,
    AAA,
    AAAA,
    NEWLINE,
    DOT,
    SPACE_A
};

static pol_status pairs_are_merged_by_score(void)
{
    struct tokenizer t;
    POL_SCRATCHSPACE(frame, pol_heap()) {
        POL_TRY(open_in(frame, &t, "tokenizer.bin"));
        EXPECT_TOKENS(&t, "the", THE); /* "th" before "he", though both are there */
        EXPECT_TOKENS(&t, "hethe", HE, THE);
        EXPECT_TOKENS(&t, " the cat", SPACE_THE, SPACE_CAT);
        EXPECT_TOKENS(&t, "cat", CAT);       /* "ca" and "at" are even: the first */
        EXPECT_TOKENS(&t, "aaa", AAA);       /* the first of overlapping pairs */
        EXPECT_TOKENS(&t, "aaaaa", AAAA, A); /* "aaaa" beats "aaa" */
        EXPECT_TOKENS(&t, "\xc3\xa9", E_ACUTE);
        EXPECT_TOKENS(&t, "x\xc3\xb6.", 3 + 'x', 3 + 0xc3, 3 + 0xb6, DOT);
        EXPECT_TOKENS(&t, "\xf0\x9f\x98\x80\n", 3 + 0xf0, 3 + 0x9f, 3 + 0x98, 3 + 0x80, NEWLINE);
        tokenizer_close(&t);
    }
    return POL_OK;
}

static pol_status prompt_begins_with_start_and_a_space(void)
{
    int32_t tokens[MOST];
    int64_t count = 0;
    struct tokenizer t;
    const pol_array room = pol_wrap(tokens, POL_I32, MOST);
    POL_SCRATCHSPACE(frame, pol_heap()) {
        POL_TRY(open_in(frame, &t, "tokenizer.bin"));
        POL_TRY(tokenizer_encode_prompt(&t, "", &room, &count));
        CHECK(count == 1 && tokens[0] == TOKEN_START);
        POL_TRY(tokenizer_encode_prompt(&t, "the cat", &room, &count));
        CHECK(count == 3 && tokens[0] == TOKEN_START && tokens[1] == SPACE_THE &&
              tokens[2] == SPACE_CAT);
        const pol_array narrow = pol_wrap(tokens, POL_I32, 8);
        CHECK(tokenizer_encode_prompt(&t, "the cat", &narrow, &count) == POL_EINVAL);
        tokenizer_close(&t);
        POL_TRY(open_in(frame, &t, NULL));
        POL_TRY(tokenizer_encode_prompt(&t, "ab", &room, &count));
        CHECK(count == 4 && tokens[0] == TOKEN_START && tokens[1] == 3 + ' ');
        CHECK(tokens[2] == 3 + 'a' && tokens[3] == 3 + 'b');
        tokenizer_close(&t);
    }
    return POL_OK;
}

static pol_status expect_piece(const struct tokenizer *t, int32_t previous, int32_t token,
                               const char *wanted)
{
    size_t n = 0;
    const char *const bytes = tokenizer_decode(t, previous, token, &n);
    if (n != strlen(wanted) || memcmp(bytes, wanted, n) != 0)
        return pol_fail(POL_EUSER, "token %d is not '%s'", token, wanted);
    return POL_OK;
}

static pol_status decoding_drops_one_space_after_the_start(void)
{
    struct tokenizer t;
    POL_SCRATCHSPACE(frame, pol_heap()) {
        POL_TRY(open_in(frame, &t, "tokenizer.bin"));
        POL_TRY(expect_piece(&t, TOKEN_START, SPACE_THE, "the"));
        POL_TRY(expect_piece(&t, A, SPACE_THE, " the"));
        POL_TRY(expect_piece(&t, TOKEN_START, SPACE, ""));
        POL_TRY(expect_piece(&t, TOKEN_START, A, "a"));
        POL_TRY(expect_piece(&t, A, 3 + 0xe9, "\xe9")); /* written <0xE9> */
        POL_TRY(expect_piece(&t, A, 0, "<unk>"));
        POL_TRY(expect_piece(&t, A, -1, ""));
        POL_TRY(expect_piece(&t, A, (int32_t)make_vocab(), ""));
        tokenizer_close(&t);
        POL_TRY(open_in(frame, &t, NULL));
        POL_TRY(expect_piece(&t, TOKEN_START, 3 + ' ', ""));
        POL_TRY(expect_piece(&t, 3 + 'a', 3 + 0xff, "\xff"));
        POL_TRY(expect_piece(&t, 3 + 'a', 2, "</s>"));
        POL_TRY(expect_piece(&t, 3 + 'a', BYTES_VOCAB, ""));
        tokenizer_close(&t);
    }
    return POL_OK;
}

/* RFC 3629: the shortest and longest that are UTF-8, and their neighbours that are not. */
static const char *const GOOD[] = {
    "",
    "\x7f",
    "\xc2\x80",
    "\xdf\xbf",
    "\xe0\xa0\x80",
    "\xed\x9f\xbf",
    "\xee\x80\x80",
    "\xef\xbf\xbf",
    "\xf0\x90\x80\x80",
    "\xf4\x8f\xbf\xbf",
};
static const char *const BAD[] = {
    "\x80",
    "\xbf",
    "\xc0\x80",
    "\xc1\xbf",
    "\xc2",
    "\xc2\x41",
    "\xe0\x9f\xbf",
    "\xed\xa0\x80",
    "\xe1\x80",
    "\xe1\x80\x41",
    "\xf0\x8f\xbf\xbf",
    "\xf4\x90\x80\x80",
    "\xf5\x80\x80\x80",
    "\xf1\x80\x80",
    "\xff",
    "\xfe",
    "\xf8\x88\x80\x80\x80",
};

static pol_status text_is_utf8_or_refused(void)
{
    struct tokenizer t;
    int32_t tokens[MOST];
    int64_t count = 0;
    POL_SCRATCHSPACE(frame, pol_heap()) {
        POL_TRY(open_in(frame, &t, NULL));
        for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
            POL_TRY(encode(&t, GOOD[i], tokens, &count));
            CHECK(count == (int64_t)strlen(GOOD[i]));
        }
        for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
            char text[16];
            (void)snprintf(text, sizeof text, "ok%s", BAD[i]);
            CHECK(encode(&t, text, tokens, &count) == POL_EINVAL);
            CHECK(strstr(pol_last_error(), "UTF-8, from its byte 2 on"));
        }
        tokenizer_close(&t);
    }
    return POL_OK;
}

static pol_status bytes_alone_need_their_vocabulary(void)
{
    struct tokenizer t;
    CHECK(tokenizer_open(&t, NULL, BYTES_VOCAB + 1) == POL_EINVAL);
    CHECK(tokenizer_open(&t, NULL, 1) == POL_EINVAL);
    return POL_OK;
}

/* No prompt of more bytes fits; one of as many may. */
static pol_status longest_prompt_is_bounded(void)
{
    struct tokenizer t;
    POL_SCRATCHSPACE(frame, pol_heap()) {
        POL_TRY(open_in(frame, &t, NULL));
        CHECK(tokenizer_longest_prompt(&t, 10) == 8); /* start, space, and eight bytes */
        CHECK(tokenizer_longest_prompt(&t, 1) == 0);
        tokenizer_close(&t);
        POL_TRY(open_in(frame, &t, "tokenizer.bin"));
        CHECK(tokenizer_longest_prompt(&t, 3) == 2 * strlen("\n</s>\n") - 1);
        tokenizer_close(&t);
    }
    return POL_OK;
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"pairs_are_merged_by_score", pairs_are_merged_by_score},
        {"prompt_begins_with_start_and_a_space", prompt_begins_with_start_and_a_space},
        {"decoding_drops_one_space_after_the_start", decoding_drops_one_space_after_the_start},
        {"text_is_utf8_or_refused", text_is_utf8_or_refused},
        {"bytes_alone_need_their_vocabulary", bytes_alone_need_their_vocabulary},
        {"longest_prompt_is_bounded", longest_prompt_is_bounded},
    };
    if (argc != 2 || chdir(argv[1]) != 0 ||
        make_tokenizer("tokenizer.bin", make_vocab()) != POL_OK) {
        fprintf(stderr, "usage: decode_test_tokenizer FOLDER\n%s\n", pol_last_error());
        return 1;
    }
    return RUN_TESTS(tests);
}

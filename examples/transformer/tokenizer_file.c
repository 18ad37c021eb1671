/* SPDX-License-Identifier: MIT */
/*
 * A token's bytes stay in the mapped file; the tables say where. Each length is checked against
 * what is left of the file, so a file cut anywhere is found out.
 */
#include "tokenizer_piece.h"

#include <math.h>

enum { HEADER_NBYTES = 4, ENTRY_NBYTES = 8 };

static uint32_t read_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static float read_f32(const uint8_t *bytes)
{
    const uint32_t u = read_u32(bytes);
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static const uint8_t *file_bytes(const struct tokenizer *t)
{
    return (const uint8_t *)t->file.data;
}

/* Reading: what every token is checked against, and where the next one is. */
struct reading {
    const struct tokenizer *t; /* vocab 0: no model says how many tokens there are */
    int64_t token;
    size_t at;
    uint32_t longest, longest_seen;
};

struct entry {
    float score;
    size_t offset;
    uint32_t nbytes;
};

static pol_status begin(struct reading *r, const struct tokenizer *t)
{
    *r = (struct reading){.t = t, .at = HEADER_NBYTES};
    if (t->file.nbytes < HEADER_NBYTES)
        return pol_fail(POL_EUSER,
                        "the tokenizer is truncated: its header has %d bytes, it has %zu",
                        HEADER_NBYTES, t->file.nbytes);
    r->longest = read_u32(file_bytes(t));
    if (r->longest < 1 || r->longest > INT32_MAX)
        return pol_fail(POL_EUSER, "not a tokenizer: its longest token is to have %ld bytes",
                        (long)(int32_t)r->longest);
    return POL_OK;
}

static pol_status truncated(const struct reading *r, const char *what, size_t at)
{
    const size_t nbytes = r->t->file.nbytes;
    if (r->t->vocab == 0)
        return pol_fail(POL_EUSER, "the tokenizer is truncated: token %lld %s at byte %zu of %zu",
                        (long long)r->token, what, at, nbytes);
    return pol_fail(POL_EUSER,
                    "the tokenizer is truncated: token %lld of the model's %lld %s at byte %zu of "
                    "%zu",
                    (long long)r->token, (long long)r->t->vocab, what, at, nbytes);
}

static pol_status next(struct reading *r, struct entry *e)
{
    const struct tokenizer *const t = r->t;
    const uint8_t *const bytes = file_bytes(t) + r->at;
    if (t->file.nbytes - r->at < ENTRY_NBYTES)
        return truncated(r, "starts", r->at);
    *e = (struct entry){read_f32(bytes), r->at + ENTRY_NBYTES, read_u32(bytes + 4)};
    if (!isfinite(e->score))
        return pol_fail(POL_EUSER, "not a tokenizer: token %lld's score is no number",
                        (long long)r->token);
    if (e->nbytes > r->longest)
        return pol_fail(POL_EUSER,
                        "not a tokenizer: token %lld has %ld bytes, the longest is to have %ld",
                        (long long)r->token, (long)(int32_t)e->nbytes, (long)r->longest);
    if (e->nbytes > t->file.nbytes - e->offset)
        return truncated(r, "ends", e->offset + e->nbytes);
    r->token++;
    r->at = e->offset + e->nbytes;
    r->longest_seen = e->nbytes > r->longest_seen ? e->nbytes : r->longest_seen;
    return POL_OK;
}

static pol_status end(const struct reading *r)
{
    if (r->longest != r->longest_seen)
        return pol_fail(POL_EUSER,
                        "not a tokenizer: its longest token has %ld bytes, its header says %ld",
                        (long)r->longest_seen, (long)r->longest);
    return POL_OK;
}

/* What has no end where a token ends is refused here: nobody else says how many there are. */
static pol_status count_tokens(struct tokenizer *t)
{
    struct reading r;
    struct entry e;
    POL_TRY(begin(&r, t));
    if (r.longest > t->file.nbytes) /* a text, whose first letters are a vast number */
        return pol_fail(POL_EUSER,
                        "not a tokenizer: its longest token is to have %ld bytes, the file has %zu",
                        (long)r.longest, t->file.nbytes);
    while (r.at < t->file.nbytes)
        POL_TRY(next(&r, &e));
    POL_TRY(end(&r));
    t->vocab = r.token;
    return POL_OK;
}

static pol_status open_file(struct tokenizer *t)
{
    if (t->vocab == 0)
        POL_TRY(count_tokens(t));
    if (t->vocab <= TOKEN_START)
        return pol_fail(POL_EUSER, "not a tokenizer: it has no tokens to begin with");
    t->tables = (struct tokenizer_tables){
        .offset = pol_undef(POL_I64, t->vocab),
        .length = pol_undef(POL_I32, t->vocab),
        .score = pol_undef(POL_F32, t->vocab),
        .sorted = pol_undef(POL_I32, t->vocab),
    };
    return POL_OK;
}

/* Names come last in a message: a long one must not cut off the reason. */
static pol_status blame(pol_status status, const char *path)
{
    return pol_fail(status, "%.160s: %s", pol_last_error(), path);
}

pol_status tokenizer_open(struct tokenizer *t, const char *path, int64_t vocab)
{
    *t = (struct tokenizer){.path = path, .vocab = vocab};
    if (!path) {
        if (vocab == 0)
            t->vocab = BYTES_VOCAB;
        if (t->vocab == BYTES_VOCAB)
            return POL_OK;
        return pol_fail(POL_EINVAL,
                        "a model of %lld tokens needs its tokenizer's file (bytes alone would be "
                        "%d); say where it is with --tokenizer",
                        (long long)vocab, BYTES_VOCAB);
    }
    POL_TRY(mapped_file_open(&t->file, path));
    const pol_status status = open_file(t);
    if (status == POL_OK)
        return POL_OK;
    tokenizer_close(t);
    return blame(status, path);
}

void tokenizer_close(struct tokenizer *t)
{
    mapped_file_close(&t->file);
    *t = (struct tokenizer){.vocab = 0};
}

static pol_status read_tokens(const struct tokenizer *t)
{
    struct reading r;
    struct entry e;
    POL_TRY(begin(&r, t));
    while (r.token < t->vocab) {
        const int64_t token = r.token;
        POL_TRY(next(&r, &e));
        pol_data(&t->tables.score, float)[token] = e.score;
        pol_data(&t->tables.offset, int64_t)[token] = (int64_t)e.offset;
        pol_data(&t->tables.length, int32_t)[token] = (int32_t)e.nbytes;
    }
    if (r.at != t->file.nbytes)
        return pol_fail(POL_EUSER,
                        "a tokenizer of another vocabulary: the model's %lld tokens end at byte "
                        "%zu, the file at %zu",
                        (long long)t->vocab, r.at, t->file.nbytes);
    return end(&r);
}

/* The order of the tokens' bytes */

static bool comes_before(const struct tokenizer *t, int32_t x, int32_t y)
{
    const int order = compare_pieces(piece_of(t, x), piece_of(t, y));
    return order != 0 ? order < 0 : x < y;
}

static void sift_down(const struct tokenizer *t, int32_t *heap, int64_t at, int64_t n)
{
    const int32_t moved = heap[at];
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && comes_before(t, heap[child], heap[child + 1]))
            child++;
        if (!comes_before(t, moved, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* By a heap: in place, and without qsort(), which has no room for the tables and may allocate. */
static void sort_tokens(const struct tokenizer *t)
{
    int32_t *const sorted = pol_data(&t->tables.sorted, int32_t);
    for (int64_t i = 0; i < t->vocab; i++)
        sorted[i] = (int32_t)i;
    for (int64_t i = t->vocab / 2; i-- > 0;)
        sift_down(t, sorted, i, t->vocab);
    for (int64_t n = t->vocab; n-- > 1;) {
        const int32_t last = sorted[0];
        sorted[0] = sorted[n];
        sorted[n] = last;
        sift_down(t, sorted, 0, n);
    }
}

pol_status tokenizer_load(struct tokenizer *t)
{
    if (!has_file(t))
        return POL_OK;
    const pol_status status = read_tokens(t);
    if (status != POL_OK)
        return blame(status, t->path);
    sort_tokens(t);
    return POL_OK;
}

size_t tokenizer_longest_prompt(const struct tokenizer *t, int64_t most)
{
    /* One token begins the prompt, and the space before the text is no part of it. */
    const uint32_t longest =
        has_file(t) && t->file.nbytes >= HEADER_NBYTES ? read_u32(file_bytes(t)) : 1;
    const size_t tokens = most > 1 ? (size_t)most - 1 : 0;
    if (tokens > 0 && longest > PTRDIFF_MAX / tokens)
        return PTRDIFF_MAX;
    return tokens * longest > 0 ? tokens * longest - 1 : 0;
}

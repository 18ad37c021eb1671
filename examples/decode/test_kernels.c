/* SPDX-License-Identifier: MIT */
/*
 * The decoder's kernels against plain ones: attention over the cache in one pass with double, the
 * first largest logit, and the frequencies of draws.
 */
#include "kernels.h"
#include "random.h"
#include "test_run.h"

#include <math.h>
#include <string.h>

static pol_array random_array(pol_frame *frame, pol_array description, uint64_t *random)
{
    pol_array a;
    int64_t n = 0;
    if (pol_alloc(frame, &a, description) != POL_OK || pol_len(&a, &n) != POL_OK)
        return pol_undef_like(NULL);
    for (int64_t i = 0; i < n; i++)
        pol_data(&a, real)[i] = 4 * random_unit(random) - 2;
    return a;
}

/* Softmax over all positions at once; the largest difference to y. */
static double difference(const struct attend_args *a, int64_t head, const real *y, double *weights)
{
    const int64_t size = a->q.dims[1] / a->heads, kv_dim = a->keys.dims[1];
    const int64_t kv_head = head / (a->heads / a->kv_heads);
    const real *const q = pol_data(&a->q, real) + head * size;
    const real *const keys = pol_data(&a->keys, real) + kv_head * size;
    const real *const values = pol_data(&a->values, real) + kv_head * size;
    double sum = 0, worst = 0;
    for (int64_t t = 0; t < a->length; t++) {
        double product = 0;
        for (int64_t j = 0; j < size; j++)
            product += (double)q[j] * (double)keys[t * kv_dim + j];
        weights[t] = exp(product / sqrt((double)size));
        sum += weights[t];
    }
    for (int64_t j = 0; j < size; j++) {
        double wanted = 0;
        for (int64_t t = 0; t < a->length; t++)
            wanted += weights[t] / sum * (double)values[t * kv_dim + j];
        worst = fmax(worst, fabs(wanted - (double)y[head * size + j]));
    }
    return worst;
}

static pol_status compare_attention(int64_t heads, int64_t kv_heads, int64_t size,
                                    int64_t positions, int64_t length)
{
    uint64_t random = (uint64_t)(heads * 1000 + length);
    POL_SCRATCHSPACE(frame, pol_heap()) {
        const pol_array cache = pol_undef(REAL, positions, kv_heads * size);
        const struct attend_args args = {
            .q = random_array(frame, pol_undef(REAL, 1, heads * size), &random),
            .keys = random_array(frame, cache, &random),
            .values = random_array(frame, cache, &random),
            .heads = heads,
            .kv_heads = kv_heads,
            .length = length,
        };
        double *const weights = pol_new(frame, double, (size_t)length);
        struct attend_outputs out;
        POL_TRY(pol_call(attend, frame, &args, &out));
        for (int64_t head = 0; head < heads; head++)
            CHECK(difference(&args, head, pol_data(&out.y, real), weights) < 2e-6);

        pol_array apart = out.y; /* and in place, with the same result to the bit */
        POL_TRY(pol_call_into(attend, frame, &args, NULL, (struct attend_outputs){.y = args.q}));
        CHECK(memcmp(apart.data, args.q.data, (size_t)(heads * size) * sizeof(real)) == 0);
    }
    return POL_OK;
}

static pol_status attention_is_that_of_one_pass(void)
{
    const int64_t lengths[] = {1, 2, SPLIT - 1, SPLIT, SPLIT + 1, 3 * SPLIT, 3 * SPLIT + 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        POL_TRY(compare_attention(1, 1, 2, 3 * SPLIT + 7, lengths[i]));
        POL_TRY(compare_attention(6, 2, 10, 3 * SPLIT + 7, lengths[i]));
        POL_TRY(compare_attention(4, 4, 34, lengths[i], lengths[i]));
    }
    return POL_OK;
}

/* Products far beyond what an exponential holds, and splits that weigh nothing beside another. */
static pol_status attention_of_large_products_is_finite(void)
{
    enum { POSITIONS = 2 * SPLIT };
    real q[2] = {400, 0}, keys[POSITIONS][2] = {{0}}, values[POSITIONS][2] = {{0}}, y[2];
    for (int64_t t = 0; t < POSITIONS; t++)
        keys[t][0] = t == SPLIT + 3 ? 400 : -400;
    values[SPLIT + 3][0] = 7;
    const struct attend_args args = {
        .q = pol_wrap(q, REAL, 1, 2),
        .keys = pol_wrap(keys, REAL, POSITIONS, 2),
        .values = pol_wrap(values, REAL, POSITIONS, 2),
        .heads = 1,
        .kv_heads = 1,
        .length = POSITIONS,
    };
    const struct attend_outputs into = {.y = pol_wrap(y, REAL, 1, 2)};
    POL_TRY(pol_call_into(attend, pol_heap(), &args, NULL, into));
    CHECK(y[0] == 7 && y[1] == 0);
    return POL_OK;
}

static pol_status attention_refuses_what_does_not_fit(void)
{
    real q[4] = {0}, keys[3][2] = {{0}};
    const struct attend_args fits = {
        .q = pol_wrap(q, REAL, 1, 4),
        .keys = pol_wrap(keys, REAL, 3, 2),
        .values = pol_wrap(keys, REAL, 3, 2),
        .heads = 2,
        .kv_heads = 1,
        .length = 3,
    };
    struct attend_args wrong[6] = {fits, fits, fits, fits, fits, fits};
    wrong[0].length = 0;
    wrong[1].length = 4;
    wrong[2].heads = 3;
    wrong[3].kv_heads = 0;
    wrong[4].values = pol_wrap(keys, REAL, 2, 2);
    wrong[5].q = pol_wrap(q, POL_I32, 1, 4);
    for (int i = 0; i < 6; i++)
        POL_SCRATCHSPACE(frame, pol_heap()) {
            struct attend_outputs out;
            CHECK(pol_call(attend, frame, &wrong[i], &out) == POL_EINVAL);
        }
    return POL_OK;
}

/* classify */

enum { MOST_VOCAB = 3 * CLASSIFY_PART + 5 };

static pol_status check_best(real *w, int64_t vocab, int32_t best)
{
    real x = 1;
    const struct classify_args args = {.x = pol_wrap(&x, REAL, 1, 1),
                                       .w = pol_wrap(w, REAL, vocab, 1)};
    POL_SCRATCHSPACE(frame, pol_heap()) {
        struct classify_outputs out;
        POL_TRY(pol_call(classify, frame, &args, &out));
        CHECK(*pol_data(&out.best, int32_t) == best);
        CHECK(memcmp(out.logits.data, w, (size_t)vocab * sizeof *w) == 0);
    }
    return POL_OK;
}

static pol_status first_largest_logit_wins(void)
{
    static real w[MOST_VOCAB]; /* all 0: the first of all */
    const int32_t places[] = {0, 1, CLASSIFY_PART - 1, CLASSIFY_PART, MOST_VOCAB - 1};
    POL_TRY(check_best(w, MOST_VOCAB, 0));
    POL_TRY(check_best(w, 1, 0));
    for (int i = 4; i >= 0; i--) { /* later ones, as large, are there already */
        w[places[i]] = 3;
        POL_TRY(check_best(w, MOST_VOCAB, places[i]));
    }
    return POL_OK;
}

static pol_status logits_that_are_no_numbers_are_told(void)
{
    real w[3] = {(real)NAN, 1, 2};
    CHECK(check_best(w, 3, 2) == POL_EUSER);
    w[0] = (real)INFINITY;
    CHECK(check_best(w, 3, 0) == POL_EUSER);
    return POL_OK;
}

/* sample */

static pol_status draw(const real *logits, int64_t vocab, float top_p, float temperature,
                       float coin, int32_t *token)
{
    const struct sample_args args = {
        .logits = pol_wrap((void *)(uintptr_t)logits, REAL, vocab),
        .temperature = temperature,
        .top_p = top_p,
        .coin = coin,
    };
    const struct sample_outputs into = {.token = pol_wrap_scalar(token, POL_I32)};
    return pol_call_into(sample, pol_ambientspace(), &args, NULL, into);
}

/* The wanted probabilities are those of softmax(logits / temperature) over the nucleus. */
static pol_status compare_frequencies(float top_p, float temperature, const double wanted[5])
{
    enum { DRAWS = 4000 };
    const real logits[5] = {0, (real)1.5, -1, (real)1.5, (real)0.5};
    double counts[5] = {0};
    POL_SCRATCHSPACE(frame, pol_heap()) {
        unsigned char *const memory = pol_new(frame, unsigned char, 4096);
        pol_arena arena;
        POL_TRY(pol_arena_init(&arena, memory, 4096, 0));
        POL_WITHSPACE(&arena) {
            for (int i = 0; i < DRAWS; i++) { /* coins evenly spread: no chance is in it */
                int32_t token = -1;
                POL_TRY(draw(logits, 5, top_p, temperature, ((float)i + 0.5f) / DRAWS, &token));
                CHECK(token >= 0 && token < 5);
                counts[token] += 1.0 / DRAWS;
            }
        }
    }
    for (int i = 0; i < 5; i++)
        CHECK(fabs(counts[i] - wanted[i]) < 2.0 / DRAWS);
    return POL_OK;
}

static pol_status draws_have_the_models_probabilities(void)
{
    double e[5] = {1, exp(1.5), exp(-1.0), exp(1.5), exp(0.5)};
    const double sum = e[0] + e[1] + e[2] + e[3] + e[4];
    for (int i = 0; i < 5; i++)
        e[i] /= sum;
    return compare_frequencies(1, 1, e);
}

static pol_status temperature_flattens_and_sharpens(void)
{
    double e[5] = {1, exp(0.75), exp(-0.5), exp(0.75), exp(0.25)};
    const double sum = e[0] + e[1] + e[2] + e[3] + e[4];
    const double cold[5] = {0, 0.5, 0, 0.5, 0};
    for (int i = 0; i < 5; i++)
        e[i] /= sum;
    POL_TRY(compare_frequencies(1, 2, e));
    return compare_frequencies(1, 1e-3f, cold);
}

static pol_status nucleus_is_the_fewest_tokens_that_reach_top_p(void)
{
    /* Of 12: tokens 1 and 3 have 4.48 each, then 4 with 1.65, 0 with 1, 2 with 0.37. */
    const double two[5] = {0, 0.5, 0, 0.5, 0};
    const double first[5] = {0, 1, 0, 0, 0};
    const double three = 2 * exp(1.5) + exp(0.5);
    const double with_third[5] = {0, exp(1.5) / three, 0, exp(1.5) / three, exp(0.5) / three};
    POL_TRY(compare_frequencies(0, 1, first)); /* of two as likely the first */
    POL_TRY(compare_frequencies(0.3f, 1, first));
    POL_TRY(compare_frequencies(0.5f, 1, two));
    return compare_frequencies(0.8f, 1, with_third);
}

static pol_status draws_refuse_what_is_no_number(void)
{
    const real logits[2] = {0, (real)NAN};
    int32_t token = -1;
    POL_SCRATCHSPACE(frame, pol_heap()) {
        CHECK(draw(logits, 2, 1, 1, 0, &token) == POL_EUSER);
        CHECK(draw(logits, 1, 1, 0, 0, &token) == POL_EINVAL);
        CHECK(draw(logits, 1, 1, 1, 1, &token) == POL_EINVAL);
        POL_TRY(draw(logits, 1, 1, 1, 0, &token));
        CHECK(frame && token == 0);
    }
    return POL_OK;
}

int main(void)
{
    static const struct test tests[] = {
        {"attention_is_that_of_one_pass", attention_is_that_of_one_pass},
        {"attention_of_large_products_is_finite", attention_of_large_products_is_finite},
        {"attention_refuses_what_does_not_fit", attention_refuses_what_does_not_fit},
        {"first_largest_logit_wins", first_largest_logit_wins},
        {"logits_that_are_no_numbers_are_told", logits_that_are_no_numbers_are_told},
        {"draws_have_the_models_probabilities", draws_have_the_models_probabilities},
        {"temperature_flattens_and_sharpens", temperature_flattens_and_sharpens},
        {"nucleus_is_the_fewest_tokens_that_reach_top_p",
         nucleus_is_the_fewest_tokens_that_reach_top_p},
        {"draws_refuse_what_is_no_number", draws_refuse_what_is_no_number},
    };
    return RUN_TESTS(tests);
}

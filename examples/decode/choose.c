/* SPDX-License-Identifier: MIT */
/*
 * The output layer, and the choice of a token: the best one, or one drawn from the nucleus.
 *
 * To draw, the weights are not sorted but made a heap, from which the likeliest token is taken
 * until those taken are the nucleus: a few dozen of a vocabulary of thousands.
 */
#include "kernels.h"

#include "team.h"

#include <tgmath.h>

/* classify */

static int64_t parts_of(int64_t vocab)
{
    return vocab / CLASSIFY_PART + (vocab % CLASSIFY_PART > 0);
}

struct classify_outputs classify_outputs(const struct classify_args *a)
{
    return (struct classify_outputs){
        .logits = pol_undef(REAL, a->w.dims[0]),
        .best = pol_undef_scalar(POL_I32),
    };
}

struct classify_scratch classify_scratch(const struct classify_args *a)
{
    return (struct classify_scratch){.part_best = pol_undef(POL_I32, parts_of(a->w.dims[0]))};
}

struct classify_job {
    const real *x, *w;
    real *logits;
    int32_t *part_best;
    int64_t vocab, dim;
};

static void classify_part(const void *job, int64_t part, int member)
{
    const struct classify_job *const t = (const struct classify_job *)job;
    const int64_t first = part * CLASSIFY_PART, left = t->vocab - first;
    const int64_t end = first + (left < CLASSIFY_PART ? left : CLASSIFY_PART);
    int64_t best = first;
    (void)member;
    for (int64_t i = first; i < end; i++) {
        t->logits[i] = dot(t->w + i * t->dim, t->x, t->dim);
        best = t->logits[i] > t->logits[best] ? i : best;
    }
    t->part_best[part] = (int32_t)best;
}

pol_status classify(const struct classify_outputs *out, const struct classify_args *a,
                    const struct classify_scratch *s)
{
    const int64_t vocab = a->w.dims[0], dim = a->w.dims[1], parts = parts_of(vocab);
    POL_TRY(pol_expect("classify: x", &a->x, pol_undef(REAL, 1, dim)));
    POL_TRY(pol_expect("classify: w", &a->w, pol_undef(REAL, vocab, dim)));
    POL_TRY(pol_expect("classify: logits", &out->logits, classify_outputs(a).logits));
    POL_TRY(pol_expect("classify: best", &out->best, classify_outputs(a).best));
    POL_TRY(pol_expect("classify: part_best", &s->part_best, classify_scratch(a).part_best));
    if (vocab < 1 || vocab > INT32_MAX)
        return pol_fail(POL_EINVAL, "classify: %lld tokens", (long long)vocab);

    real *const logits = pol_data(&out->logits, real);
    int32_t *const part_best = pol_data(&s->part_best, int32_t);
    const struct classify_job job = {
        .x = pol_data(&a->x, real),
        .w = pol_data(&a->w, real),
        .logits = logits,
        .part_best = part_best,
        .vocab = vocab,
        .dim = dim,
    };
    team_run(parts, classify_part, &job);
    int32_t best = part_best[0];
    for (int64_t part = 1; part < parts; part++)
        best = logits[part_best[part]] > logits[best] ? part_best[part] : best;
    if (!isfinite(logits[best]))
        return pol_fail(POL_EUSER, "the model's logits are no finite numbers");
    *pol_data(&out->best, int32_t) = best;
    return POL_OK;
}

/* sample */

struct sample_outputs sample_outputs(const struct sample_args *a)
{
    (void)a;
    return (struct sample_outputs){.token = pol_undef_scalar(POL_I32)};
}

struct sample_scratch sample_scratch(const struct sample_args *a)
{
    return (struct sample_scratch){
        .weight = pol_undef_like(&a->logits),
        .order = pol_undef_like_type(&a->logits, POL_I32),
    };
}

/* Tokens in a heap, the likeliest at its root. */
struct heap {
    const real *weight;
    int32_t *tokens;
    int64_t n;
};

static bool is_likelier(const struct heap *h, int32_t x, int32_t y)
{
    return h->weight[x] != h->weight[y] ? h->weight[x] > h->weight[y] : x < y;
}

static void sift_down(const struct heap *h, int64_t at)
{
    const int32_t moved = h->tokens[at];
    for (int64_t child = 2 * at + 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && is_likelier(h, h->tokens[child + 1], h->tokens[child]))
            child++;
        if (!is_likelier(h, h->tokens[child], moved))
            break;
        h->tokens[at] = h->tokens[child];
        at = child;
    }
    h->tokens[at] = moved;
}

/* Moves the root to where the heap's last place was, which is no longer the heap's. */
static int32_t take(struct heap *h)
{
    const int32_t root = h->tokens[0];
    h->n--;
    h->tokens[0] = h->tokens[h->n];
    h->tokens[h->n] = root;
    if (h->n > 0)
        sift_down(h, 0);
    return root;
}

/* Sets the weights and makes the heap; returns the weights' sum. */
static double weigh(const struct sample_args *a, real *weight, const struct heap *h)
{
    const real *const logits = pol_data(&a->logits, real);
    real max = logits[0];
    double sum = 0;
    for (int64_t i = 1; i < h->n; i++)
        max = logits[i] > max ? logits[i] : max;
    for (int64_t i = 0; i < h->n; i++) {
        weight[i] = exp((logits[i] - max) / (real)a->temperature);
        h->tokens[i] = (int32_t)i;
        sum += (double)weight[i];
    }
    for (int64_t i = h->n / 2; i-- > 0;)
        sift_down(h, i);
    return sum;
}

/* Which token of the nucleus, whose weights are `mass` in all, the coin falls on. */
static int32_t pick(const struct heap *h, int64_t vocab, double mass, float coin)
{
    double left = (double)coin * mass;
    for (int64_t i = vocab; i-- > h->n;) { /* in the order in which they were taken */
        left -= (double)h->weight[h->tokens[i]];
        if (left < 0)
            return h->tokens[i];
    }
    return h->tokens[h->n]; /* by rounding alone: the last one taken */
}

pol_status sample(const struct sample_outputs *out, const struct sample_args *a,
                  const struct sample_scratch *s)
{
    const int64_t vocab = a->logits.dims[0];
    POL_TRY(pol_expect("sample: logits", &a->logits, pol_undef(REAL, vocab)));
    POL_TRY(pol_expect("sample: token", &out->token, sample_outputs(a).token));
    POL_TRY(pol_expect("sample: weight", &s->weight, sample_scratch(a).weight));
    POL_TRY(pol_expect("sample: order", &s->order, sample_scratch(a).order));
    if (vocab < 1 || vocab > INT32_MAX || !(a->temperature > 0) || !(a->coin >= 0 && a->coin < 1))
        return pol_fail(POL_EINVAL, "sample: %lld tokens, temperature %g, coin %g",
                        (long long)vocab, (double)a->temperature, (double)a->coin);

    real *const weight = pol_data(&s->weight, real);
    struct heap heap = {weight, pol_data(&s->order, int32_t), vocab};
    const double sum = weigh(a, weight, &heap);
    if (!isfinite(sum))
        return pol_fail(POL_EUSER, "the model's logits are no finite numbers");
    double mass = 0;
    do
        mass += (double)weight[take(&heap)];
    while (heap.n > 0 && mass < (double)a->top_p * sum);
    *pol_data(&out->token, int32_t) = pick(&heap, vocab, mass, a->coin);
    return POL_OK;
}

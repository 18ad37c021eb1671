/* SPDX-License-Identifier: MIT */
/*
 * Attention over the cache. Tasks are the same whoever does them, and each part is combined in the
 * order of the positions, so a result does not depend on the number of threads.
 */
#include "kernels.h"

#include "team.h"

#include <string.h>
#include <tgmath.h>

static int64_t splits_of(int64_t positions)
{
    return positions / SPLIT + (positions % SPLIT > 0);
}

struct attend_outputs attend_outputs(const struct attend_args *a)
{
    return (struct attend_outputs){.y = pol_undef_like(&a->q)};
}

struct attend_scratch attend_scratch(const struct attend_args *a)
{
    const int64_t splits = splits_of(a->keys.dims[0]);
    const int64_t head_size = a->heads > 0 ? a->q.dims[1] / a->heads : 0;
    return (struct attend_scratch){
        .partial = pol_undef(REAL, a->heads, splits, head_size),
        .max = pol_undef(REAL, a->heads, splits),
        .sum = pol_undef(REAL, a->heads, splits),
    };
}

struct attend_job {
    const real *q, *keys, *values;
    real *partial, *max, *sum, *y;
    int64_t heads_sharing; /* a kv head */
    int64_t head_size, kv_dim, length;
    int64_t splits; /* there is room for */
    int64_t in_use; /* of them */
};

/* Writes the scaled products of the query and `count` keys; returns the largest. */
static real score_keys(const struct attend_job *t, const real *q, const real *keys, int64_t count,
                       real *scores)
{
    const real scale = 1 / sqrt((real)t->head_size);
    real max = -(real)INFINITY;
    for (int64_t i = 0; i < count; i++) {
        scores[i] = scale * dot(q, keys + i * t->kv_dim, t->head_size);
        max = scores[i] > max ? scores[i] : max;
    }
    return max;
}

static void add_weighted(real *y, real weight, const real *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += weight * x[j];
}

static void attend_split(const void *job, int64_t task, int member)
{
    const struct attend_job *const t = (const struct attend_job *)job;
    const int64_t head = task / t->in_use, split = task % t->in_use;
    const int64_t first = split * SPLIT, left = t->length - first;
    const int64_t count = left < SPLIT ? left : SPLIT;
    const int64_t at = first * t->kv_dim + head / t->heads_sharing * t->head_size;
    const int64_t slot = head * t->splits + split;
    real *const y = t->partial + slot * t->head_size;
    real weights[SPLIT];
    (void)member;

    const real max = score_keys(t, t->q + head * t->head_size, t->keys + at, count, weights);
    real sum = 0;
    memset(y, 0, (size_t)t->head_size * sizeof *y);
    for (int64_t i = 0; i < count; i++) {
        weights[i] = exp(weights[i] - max);
        sum += weights[i];
        add_weighted(y, weights[i], t->values + at + i * t->kv_dim, t->head_size);
    }
    t->max[slot] = max;
    t->sum[slot] = sum;
}

/* The splits of a head: each was weighted over its own maximum, so they meet over the largest. */
static void combine_head(const struct attend_job *t, int64_t head)
{
    const real *const max = t->max + head * t->splits, *const sum = t->sum + head * t->splits;
    const real *const partial = t->partial + head * t->splits * t->head_size;
    real *const y = t->y + head * t->head_size;
    real largest = max[0], all = 0;
    for (int64_t i = 1; i < t->in_use; i++)
        largest = max[i] > largest ? max[i] : largest;
    for (int64_t i = 0; i < t->in_use; i++)
        all += exp(max[i] - largest) * sum[i];
    memset(y, 0, (size_t)t->head_size * sizeof *y);
    for (int64_t i = 0; i < t->in_use; i++)
        add_weighted(y, exp(max[i] - largest) / all, partial + i * t->head_size, t->head_size);
}

static pol_status check(const struct attend_outputs *out, const struct attend_args *a,
                        const struct attend_scratch *s)
{
    const int64_t dim = a->q.dims[1], positions = a->keys.dims[0];
    const struct attend_scratch wanted = attend_scratch(a);
    if (a->heads < 1 || a->kv_heads < 1 || a->heads % a->kv_heads != 0 || dim % a->heads != 0)
        return pol_fail(POL_EINVAL, "attend: %lld heads, of %lld elements, for %lld kv_heads",
                        (long long)a->heads, (long long)dim, (long long)a->kv_heads);
    if (a->length < 1 || a->length > positions)
        return pol_fail(POL_EINVAL, "attend: a length of %lld positions of %lld",
                        (long long)a->length, (long long)positions);
    const pol_array cache = pol_undef(REAL, positions, dim / a->heads * a->kv_heads);
    POL_TRY(pol_expect("attend: q", &a->q, pol_undef(REAL, 1, dim)));
    POL_TRY(pol_expect("attend: keys", &a->keys, cache));
    POL_TRY(pol_expect("attend: values", &a->values, cache));
    POL_TRY(pol_expect("attend: y", &out->y, attend_outputs(a).y));
    POL_TRY(pol_expect("attend: partial", &s->partial, wanted.partial));
    POL_TRY(pol_expect("attend: max", &s->max, wanted.max));
    return pol_expect("attend: sum", &s->sum, wanted.sum);
}

pol_status attend(const struct attend_outputs *out, const struct attend_args *a,
                  const struct attend_scratch *s)
{
    POL_TRY(check(out, a, s));
    const struct attend_job job = {
        .q = pol_data(&a->q, real),
        .keys = pol_data(&a->keys, real),
        .values = pol_data(&a->values, real),
        .partial = pol_data(&s->partial, real),
        .max = pol_data(&s->max, real),
        .sum = pol_data(&s->sum, real),
        .y = pol_data(&out->y, real),
        .heads_sharing = a->heads / a->kv_heads,
        .head_size = a->q.dims[1] / a->heads,
        .kv_dim = a->keys.dims[1],
        .length = a->length,
        .splits = splits_of(a->keys.dims[0]),
        .in_use = splits_of(a->length),
    };
    team_run(a->heads * job.in_use, attend_split, &job);
    for (int64_t head = 0; head < a->heads; head++)
        combine_head(&job, head);
    return POL_OK;
}

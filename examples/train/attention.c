/* SPDX-License-Identifier: MIT */
/*
 * Causal attention: row i of a sequence looks at rows 0 to i. With s_j = q_i k_j / sqrt(head_size)
 * and L_i = log of the sum over j of exp(s_j), the probabilities are p_j = exp(s_j - L_i), and
 *
 *     y_i = sum p_j v_j
 *     dv_j = sum over i of p_j dy_i
 *     ds_j = p_j (dy_i v_j - dy_i y_i)
 *     dq_i = sum ds_j k_j / sqrt(head_size)
 *     dk_j = sum over i of ds_j q_i / sqrt(head_size)
 *
 * (Dao et al. 2022, "FlashAttention", appendix B). A task of forward is a query head of a sequence;
 * one of backward a head of keys and values of a sequence, with all query heads that share it: dk
 * and dv sum over those.
 */
#include "backward.h"

#include "team.h"

#include <string.h>
#include <tgmath.h>

/* The shape of attention, as both directions see it. */
struct sizes {
    int64_t rows, heads, kv_heads, period;
    int64_t dim, kv_dim, head_size;
};

static pol_status sizes_of(struct sizes *z, const pol_array *q, const pol_array *k, int64_t heads,
                           int64_t kv_heads, int64_t period)
{
    *z = (struct sizes){.rows = q->dims[0],
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .period = period,
                        .dim = q->dims[1],
                        .kv_dim = k->dims[1]};
    if (kv_heads < 1 || heads < 1 || heads % kv_heads != 0 || z->dim % heads != 0)
        return pol_fail(POL_EINVAL, "attention: %lld columns in %lld heads over %lld",
                        (long long)z->dim, (long long)heads, (long long)kv_heads);
    z->head_size = z->dim / heads;
    if (z->kv_dim != kv_heads * z->head_size)
        return pol_fail(POL_EINVAL, "attention: %lld columns of keys for %lld heads of %lld",
                        (long long)z->kv_dim, (long long)kv_heads, (long long)z->head_size);
    if (period < 1 || z->rows % period != 0)
        return pol_fail(POL_EINVAL, "attention: %lld rows in sequences of %lld", (long long)z->rows,
                        (long long)period);
    return POL_OK;
}

/* y += factor x */
static void add_multiple(real *restrict y, real factor, const real *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

static real *part_of(const pol_array *scratch, int member)
{
    const pol_array part = pol_index(scratch, member);
    return pol_data(&part, real);
}

/* attention */

struct attention_outputs attention_outputs(const struct attention_args *a)
{
    return (struct attention_outputs){.y = pol_undef_like(&a->q)};
}

struct attention_checkpoints attention_checkpoints(const struct attention_args *a)
{
    return (struct attention_checkpoints){.log_sum = pol_undef(REAL, a->q.dims[0], a->heads)};
}

struct attention_scratch attention_scratch(const struct attention_args *a)
{
    return (struct attention_scratch){.scores = pol_undef(REAL, team_size(), a->period)};
}

struct attention_job {
    struct sizes z;
    const real *q, *k, *v;
    real *y, *log_sum; /* log_sum: NULL if nobody goes backward */
    const pol_array *scores;
};

/* scores = softmax of the scores with the `seen` first rows of keys; returns the logarithm of the
   sum of exp(score). Subtracting the largest keeps every exponential in range. */
static real soften(real *scores, const struct attention_job *t, const real *q, const real *k,
                   int64_t seen)
{
    const real scale = 1 / sqrt((real)t->z.head_size);
    real top = 0, sum = 0;
    for (int64_t j = 0; j < seen; j++) {
        scores[j] = scale * dot(q, k + j * t->z.kv_dim, t->z.head_size);
        top = j == 0 || scores[j] > top ? scores[j] : top;
    }
    for (int64_t j = 0; j < seen; j++) {
        scores[j] = exp(scores[j] - top);
        sum += scores[j];
    }
    for (int64_t j = 0; j < seen; j++)
        scores[j] /= sum;
    return top + log(sum);
}

static void attend(const void *job, int64_t task, int member)
{
    const struct attention_job *const t = (const struct attention_job *)job;
    const int64_t first = task / t->z.heads * t->z.period, head = task % t->z.heads;
    const int64_t kv_head = head / (t->z.heads / t->z.kv_heads);
    const int64_t at = first * t->z.kv_dim + kv_head * t->z.head_size;
    real *const scores = part_of(t->scores, member);

    for (int64_t i = 0; i < t->z.period; i++) {
        const int64_t row = (first + i) * t->z.dim + head * t->z.head_size;
        const real log_sum = soften(scores, t, t->q + row, t->k + at, i + 1);
        memset(t->y + row, 0, (size_t)t->z.head_size * sizeof(real));
        for (int64_t j = 0; j <= i; j++)
            add_multiple(t->y + row, scores[j], t->v + at + j * t->z.kv_dim, t->z.head_size);
        if (t->log_sum)
            t->log_sum[(first + i) * t->z.heads + head] = log_sum;
    }
}

pol_status attention(const struct attention_outputs *out, const struct attention_args *a,
                     const struct attention_scratch *s)
{
    struct sizes z;
    POL_TRY(sizes_of(&z, &a->q, &a->k, a->heads, a->kv_heads, a->period));
    POL_TRY(pol_expect("attention: q", &a->q, pol_undef(REAL, z.rows, z.dim)));
    POL_TRY(pol_expect("attention: k", &a->k, pol_undef(REAL, z.rows, z.kv_dim)));
    POL_TRY(pol_expect("attention: v", &a->v, pol_undef(REAL, z.rows, z.kv_dim)));
    POL_TRY(pol_expect("attention: y", &out->y, pol_undef(REAL, z.rows, z.dim)));
    POL_TRY(pol_expect("attention: scores", &s->scores, attention_scratch(a).scores));
    if (!pol_is_absent(&a->saved.log_sum))
        POL_TRY(
            pol_expect("attention: log_sum", &a->saved.log_sum, attention_checkpoints(a).log_sum));

    const struct attention_job job = {
        .z = z,
        .q = pol_data(&a->q, real),
        .k = pol_data(&a->k, real),
        .v = pol_data(&a->v, real),
        .y = pol_data(&out->y, real),
        .log_sum = pol_data(&a->saved.log_sum, real),
        .scores = &s->scores,
    };
    team_run(z.rows / z.period * z.heads, attend, &job);
    return POL_OK;
}

/* attention_backward */

struct attention_backward_outputs
attention_backward_outputs(const struct attention_backward_args *a)
{
    return (struct attention_backward_outputs){
        .dq = pol_undef_like(pol_shadow(&a->q)),
        .dk = pol_undef_like(pol_shadow(&a->k)),
        .dv = pol_undef_like(pol_shadow(&a->v)),
    };
}

struct attention_backward_scratch
attention_backward_scratch(const struct attention_backward_args *a)
{
    return (struct attention_backward_scratch){
        .p = pol_undef(REAL, team_size(), a->period),
        .d = pol_undef(REAL, team_size(), a->period),
    };
}

struct attention_backward_job {
    struct sizes z;
    const real *q, *k, *v, *log_sum, *y, *dy;
    real *dq, *dk, *dv; /* NULL where not wanted */
    const struct attention_backward_scratch *s;
};

/* Row i of a query head: `at` is where the head's part of the row begins, `kv` where that of the
   keys of row 0 does. */
static void return_row(const struct attention_backward_job *t, int64_t i, int64_t at, int64_t kv,
                       real log_sum, real *restrict p, real *restrict d)
{
    const int64_t size = t->z.head_size, step = t->z.kv_dim;
    const real *const q = t->q + at, *const dy = t->dy + at;
    const real scale = 1 / sqrt((real)size), along = dot(dy, t->y + at, size);
    for (int64_t j = 0; j <= i; j++) {
        p[j] = exp(scale * dot(q, t->k + kv + j * step, size) - log_sum);
        d[j] = scale * p[j] * (dot(dy, t->v + kv + j * step, size) - along);
    }
    if (t->dq) {
        memset(t->dq + at, 0, (size_t)size * sizeof(real));
        for (int64_t j = 0; j <= i; j++)
            add_multiple(t->dq + at, d[j], t->k + kv + j * step, size);
    }
    for (int64_t j = 0; j <= i && t->dk; j++)
        add_multiple(t->dk + kv + j * step, d[j], q, size);
    for (int64_t j = 0; j <= i && t->dv; j++)
        add_multiple(t->dv + kv + j * step, p[j], dy, size);
}

static void return_head(const void *job, int64_t task, int member)
{
    const struct attention_backward_job *const t = (const struct attention_backward_job *)job;
    const int64_t size = t->z.head_size, group = t->z.heads / t->z.kv_heads;
    const int64_t first = task / t->z.kv_heads * t->z.period, kv_head = task % t->z.kv_heads;
    const int64_t kv = first * t->z.kv_dim + kv_head * size;
    real *const p = part_of(&t->s->p, member), *const d = part_of(&t->s->d, member);

    for (int64_t j = 0; j < t->z.period; j++) {
        if (t->dk)
            memset(t->dk + kv + j * t->z.kv_dim, 0, (size_t)size * sizeof(real));
        if (t->dv)
            memset(t->dv + kv + j * t->z.kv_dim, 0, (size_t)size * sizeof(real));
    }
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; head++)
        for (int64_t i = 0; i < t->z.period; i++)
            return_row(t, i, (first + i) * t->z.dim + head * size, kv,
                       t->log_sum[(first + i) * t->z.heads + head], p, d);
}

static pol_status check_backward(const struct attention_backward_outputs *out,
                                 const struct attention_backward_args *a,
                                 const struct attention_backward_scratch *s, const struct sizes *z)
{
    const pol_array like_q = pol_undef(REAL, z->rows, z->dim);
    const pol_array like_k = pol_undef(REAL, z->rows, z->kv_dim);
    const struct attention_backward_scratch wanted = attention_backward_scratch(a);
    POL_TRY(pol_expect("attention_backward: q", pol_primal(&a->q), like_q));
    POL_TRY(pol_expect("attention_backward: k", pol_primal(&a->k), like_k));
    POL_TRY(pol_expect("attention_backward: v", pol_primal(&a->v), like_k));
    POL_TRY(pol_expect("attention_backward: log_sum", &a->saved.log_sum,
                       pol_undef(REAL, z->rows, z->heads)));
    POL_TRY(pol_expect("attention_backward: y", &a->y, like_q));
    POL_TRY(pol_expect("attention_backward: dy", &a->dy, like_q));
    if (!pol_is_absent(&out->dq))
        POL_TRY(pol_expect("attention_backward: dq", &out->dq, like_q));
    if (!pol_is_absent(&out->dk))
        POL_TRY(pol_expect("attention_backward: dk", &out->dk, like_k));
    if (!pol_is_absent(&out->dv))
        POL_TRY(pol_expect("attention_backward: dv", &out->dv, like_k));
    POL_TRY(pol_expect("attention_backward: p", &s->p, wanted.p));
    return pol_expect("attention_backward: d", &s->d, wanted.d);
}

pol_status attention_backward(const struct attention_backward_outputs *out,
                              const struct attention_backward_args *a,
                              const struct attention_backward_scratch *s)
{
    struct sizes z;
    const pol_array *const q = pol_primal(&a->q), *const k = pol_primal(&a->k);
    POL_TRY(sizes_of(&z, q, k, a->heads, a->kv_heads, a->period));
    POL_TRY(check_backward(out, a, s, &z));
    const struct attention_backward_job job = {
        .z = z,
        .q = pol_data(q, real),
        .k = pol_data(k, real),
        .v = pol_data(pol_primal(&a->v), real),
        .log_sum = pol_data(&a->saved.log_sum, real),
        .y = pol_data(&a->y, real),
        .dy = pol_data(&a->dy, real),
        .dq = pol_data(&out->dq, real),
        .dk = pol_data(&out->dk, real),
        .dv = pol_data(&out->dv, real),
        .s = s,
    };
    team_run(z.rows / z.period * z.kv_heads, return_head, &job);
    return POL_OK;
}

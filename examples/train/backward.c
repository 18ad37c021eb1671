/* SPDX-License-Identifier: MIT */
/*
 * The layers' ways back. Where a gradient sums over rows, of a gain or of the embedding, the
 * columns are split over the team and each part goes through the rows in order: no sum depends on
 * how many threads there are, and none needs a buffer for each.
 */
#include "backward.h"

#include "team.h"

#include <string.h>
#include <tgmath.h>

/* Copies `add` to the place where the sum will be; it may lie there already. */
static void begin_with(const pol_array *to, const pol_array *add, int64_t n)
{
    if (to->data != add->data)
        memcpy(to->data, add->data, (size_t)n * sizeof(real));
}

/* embed_backward */

struct embed_backward_outputs embed_backward_outputs(const struct embed_backward_args *a)
{
    return (struct embed_backward_outputs){.dw = pol_undef_like(pol_shadow(&a->w))};
}

struct embed_job {
    const int32_t *tokens;
    const real *dx, *add; /* add: NULL if absent */
    real *dw;
    int64_t rows, vocab, dim;
};

static void embed_columns(const void *job, int64_t first, int64_t count)
{
    const struct embed_job *const t = (const struct embed_job *)job;
    const size_t nbytes = (size_t)count * sizeof(real);
    for (int64_t at = first; at < t->vocab * t->dim && t->add != t->dw; at += t->dim)
        if (t->add)
            memcpy(t->dw + at, t->add + at, nbytes);
        else
            memset(t->dw + at, 0, nbytes);
    for (int64_t r = 0; r < t->rows; r++) {
        const real *const dx = t->dx + r * t->dim;
        real *const dw = t->dw + t->tokens[r] * t->dim;
        for (int64_t j = first; j < first + count; j++)
            dw[j] += dx[j];
    }
}

pol_status embed_backward(const struct embed_backward_outputs *out,
                          const struct embed_backward_args *a)
{
    const pol_array *const w = pol_primal(&a->w);
    const int64_t rows = a->tokens.dims[0], vocab = w->dims[0], dim = w->dims[1];
    if (pol_is_absent(&out->dw))
        return POL_OK;
    POL_TRY(pol_expect("embed_backward: tokens", &a->tokens, pol_undef(POL_I32, rows)));
    POL_TRY(pol_expect("embed_backward: dx", &a->dx, pol_undef(REAL, rows, dim)));
    POL_TRY(pol_expect("embed_backward: dw", &out->dw, pol_undef(REAL, vocab, dim)));
    if (!pol_is_absent(&a->add))
        POL_TRY(pol_expect("embed_backward: add", &a->add, pol_undef(REAL, vocab, dim)));

    const int32_t *const tokens = pol_data(&a->tokens, int32_t);
    for (int64_t i = 0; i < rows; i++)
        if (tokens[i] < 0 || tokens[i] >= vocab)
            return pol_fail(POL_EINVAL, "embed_backward: token %ld of %lld", (long)tokens[i],
                            (long long)vocab);
    const struct embed_job job = {
        .tokens = tokens,
        .dx = pol_data(&a->dx, real),
        .add = pol_data(&a->add, real),
        .dw = pol_data(&out->dw, real),
        .rows = rows,
        .vocab = vocab,
        .dim = dim,
    };
    team_split(dim, rows_of_a_part(rows + vocab), embed_columns, &job);
    return POL_OK;
}

/* linear_backward: dx = dy w, dw = dy^T x */

struct linear_backward_outputs linear_backward_outputs(const struct linear_backward_args *a)
{
    return (struct linear_backward_outputs){
        .dx = pol_undef_like(pol_shadow(&a->x)),
        .dw = pol_undef_like(pol_shadow(&a->w)),
    };
}

struct linear_backward_scratch linear_backward_scratch(const struct linear_backward_args *a)
{
    const int64_t rows = a->dy.dims[0], nout = a->dy.dims[1];
    const int64_t nin = pol_primal(&a->x)->dims[1];
    return (struct linear_backward_scratch){
        .product = gemm_scratch_larger(gemm_scratch_undef(rows, nin, nout),
                                       gemm_scratch_undef(nout, nin, rows)),
    };
}

pol_status linear_backward(const struct linear_backward_outputs *out,
                           const struct linear_backward_args *a,
                           const struct linear_backward_scratch *s)
{
    const pol_array *const x = pol_primal(&a->x), *const w = pol_primal(&a->w);
    const int64_t rows = x->dims[0], nin = x->dims[1], nout = w->dims[0];
    const bool adds = !pol_is_absent(&a->add);
    POL_TRY(pol_expect("linear_backward: dy", &a->dy, pol_undef(REAL, rows, nout)));

    if (!pol_is_absent(&out->dx)) {
        POL_TRY(pol_expect("linear_backward: w", w, pol_undef(REAL, nout, nin)));
        POL_TRY(pol_expect("linear_backward: dx", &out->dx, pol_undef(REAL, rows, nin)));
        if (adds) {
            POL_TRY(pol_expect("linear_backward: add", &a->add, pol_undef(REAL, rows, nin)));
            begin_with(&out->dx, &a->add, rows * nin);
        }
        gemm(&(struct gemm){.m = rows,
                            .n = nin,
                            .k = nout,
                            .a = pol_data(&a->dy, real),
                            .b = pol_data(w, real),
                            .accumulate = adds,
                            .c = pol_data(&out->dx, real)},
             &s->product);
    }
    if (!pol_is_absent(&out->dw)) {
        POL_TRY(pol_expect("linear_backward: x", x, pol_undef(REAL, rows, nin)));
        POL_TRY(pol_expect("linear_backward: dw", &out->dw, pol_undef(REAL, nout, nin)));
        gemm(&(struct gemm){.m = nout,
                            .n = nin,
                            .k = rows,
                            .a = pol_data(&a->dy, real),
                            .a_transposed = true,
                            .b = pol_data(x, real),
                            .c = pol_data(&out->dw, real)},
             &s->product);
    }
    return POL_OK;
}

/* norm_backward: with s the scale of a row and n its length,
   dx = s gain dy - x s^3 / n sum(gain dy x), dgain = the sum over rows of dy x s. */

struct norm_backward_outputs norm_backward_outputs(const struct norm_backward_args *a)
{
    return (struct norm_backward_outputs){
        .dx = pol_undef_like(pol_shadow(&a->x)),
        .dgain = pol_undef_like(pol_shadow(&a->gain)),
    };
}

struct norm_backward_job {
    const real *x, *gain, *scale, *dy, *add; /* add: NULL if absent */
    real *dx, *dgain;
    int64_t rows, dim;
};

static void norm_columns(const void *job, int64_t first, int64_t count)
{
    const struct norm_backward_job *const t = (const struct norm_backward_job *)job;
    memset(t->dgain + first, 0, (size_t)count * sizeof(real));
    for (int64_t r = 0; r < t->rows; r++) {
        const real *const x = t->x + r * t->dim, *const dy = t->dy + r * t->dim;
        for (int64_t j = first; j < first + count; j++)
            t->dgain[j] += dy[j] * (t->scale[r] * x[j]);
    }
}

/* Returns the sum of x y z, as dot() sums. */
static real dot_of_three(const real *x, const real *y, const real *z, int64_t n)
{
    enum { LANES = 8 };
    real sums[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int64_t j = 0; j < LANES; j++)
            sums[j] += x[i + j] * y[i + j] * z[i + j];
    for (; i < n; i++)
        sum += x[i] * y[i] * z[i];
    for (int64_t j = 0; j < LANES; j++)
        sum += sums[j];
    return sum;
}

static void norm_backward_rows(const void *job, int64_t first, int64_t count)
{
    const struct norm_backward_job *const t = (const struct norm_backward_job *)job;
    for (int64_t r = first; r < first + count; r++) {
        const int64_t at = r * t->dim;
        const real *const x = t->x + at, *const dy = t->dy + at;
        const real *const add = t->add ? t->add + at : NULL;
        real *const dx = t->dx + at;
        const real s = t->scale[r];
        const real along = s * s * s / (real)t->dim * dot_of_three(t->gain, dy, x, t->dim);
        for (int64_t j = 0; j < t->dim; j++)
            dx[j] = (add ? add[j] : 0) + (s * t->gain[j] * dy[j] - along * x[j]);
    }
}

pol_status norm_backward(const struct norm_backward_outputs *out,
                         const struct norm_backward_args *a)
{
    const pol_array *const x = pol_primal(&a->x), *const gain = pol_primal(&a->gain);
    const int64_t rows = x->dims[0], dim = x->dims[1];
    const pol_array like_x = pol_undef(REAL, rows, dim), like_gain = pol_undef(REAL, dim);
    POL_TRY(pol_expect("norm_backward: x", x, like_x));
    POL_TRY(pol_expect("norm_backward: gain", gain, like_gain));
    POL_TRY(pol_expect("norm_backward: scale", &a->saved.scale, pol_undef(REAL, rows)));
    POL_TRY(pol_expect("norm_backward: dy", &a->dy, like_x));
    if (!pol_is_absent(&a->add))
        POL_TRY(pol_expect("norm_backward: add", &a->add, like_x));
    if (!pol_is_absent(&out->dx))
        POL_TRY(pol_expect("norm_backward: dx", &out->dx, like_x));
    if (!pol_is_absent(&out->dgain))
        POL_TRY(pol_expect("norm_backward: dgain", &out->dgain, like_gain));

    const struct norm_backward_job job = {
        .x = pol_data(x, real),
        .gain = pol_data(gain, real),
        .scale = pol_data(&a->saved.scale, real),
        .dy = pol_data(&a->dy, real),
        .add = pol_data(&a->add, real),
        .dx = pol_data(&out->dx, real),
        .dgain = pol_data(&out->dgain, real),
        .rows = rows,
        .dim = dim,
    };
    if (job.dgain) /* first: dx may take the place of dy */
        team_split(dim, rows_of_a_part(3 * rows), norm_columns, &job);
    if (job.dx)
        team_split(rows, rows_of_a_part(8 * dim), norm_backward_rows, &job);
    return POL_OK;
}

/* gate_backward: with s = 1 / (1 + exp(-a)), da = dy b s (1 + a (1 - s)), db = dy a s. */

struct gate_backward_outputs gate_backward_outputs(const struct gate_backward_args *a)
{
    return (struct gate_backward_outputs){
        .da = pol_undef_like(pol_shadow(&a->a)),
        .db = pol_undef_like(pol_shadow(&a->b)),
    };
}

struct gate_backward_job {
    const real *a, *b, *dy;
    real *da, *db;
};

static void gate_backward_elements(const void *job, int64_t first, int64_t count)
{
    const struct gate_backward_job *const t = (const struct gate_backward_job *)job;
    for (int64_t i = first; i < first + count; i++) {
        const real a = t->a[i], b = t->b[i], dy = t->dy[i], s = 1 / (1 + exp(-a));
        if (t->da)
            t->da[i] = dy * b * s * (1 + a * (1 - s));
        if (t->db)
            t->db[i] = dy * a * s;
    }
}

pol_status gate_backward(const struct gate_backward_outputs *out,
                         const struct gate_backward_args *a)
{
    int64_t n;
    const pol_array *const x = pol_primal(&a->a);
    const pol_array like = pol_undef_like_type(x, REAL);
    POL_TRY(pol_expect("gate_backward: a", x, like));
    POL_TRY(pol_expect("gate_backward: b", pol_primal(&a->b), like));
    POL_TRY(pol_expect("gate_backward: dy", &a->dy, like));
    if (!pol_is_absent(&out->da))
        POL_TRY(pol_expect("gate_backward: da", &out->da, like));
    if (!pol_is_absent(&out->db))
        POL_TRY(pol_expect("gate_backward: db", &out->db, like));
    POL_TRY(pol_len(x, &n));
    const struct gate_backward_job job = {
        .a = pol_data(x, real),
        .b = pol_data(pol_primal(&a->b), real),
        .dy = pol_data(&a->dy, real),
        .da = pol_data(&out->da, real),
        .db = pol_data(&out->db, real),
    };
    team_split(n, rows_of_a_part(16), gate_backward_elements, &job);
    return POL_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * All layers but the rotary embedding. Each verb checks that the shapes fit before it writes: an
 * output must be what V_outputs describes. Rows, or elements, are split over the team where there
 * is enough to do; a row is computed by one thread, in one order.
 */
#include "layers.h"

#include "team.h"

#include <string.h>
#include <tgmath.h>

int64_t rows_of_a_part(int64_t cost)
{
    enum { OPERATIONS = 1 << 15 }; /* some ten times of what waking a thread takes */
    return cost < OPERATIONS ? OPERATIONS / (cost > 0 ? cost : 1) : 1;
}

/* embed */

struct embed_outputs embed_outputs(const struct embed_args *a)
{
    return (struct embed_outputs){.x = pol_undef(REAL, a->tokens.dims[0], a->w.dims[1])};
}

pol_status embed(const struct embed_outputs *out, const struct embed_args *a)
{
    const int64_t rows = a->tokens.dims[0], vocab = a->w.dims[0], dim = a->w.dims[1];
    POL_TRY(pol_expect("embed: tokens", &a->tokens, pol_undef(POL_I32, rows)));
    POL_TRY(pol_expect("embed: w", &a->w, pol_undef(REAL, vocab, dim)));
    POL_TRY(pol_expect("embed: x", &out->x, embed_outputs(a).x));

    const int32_t *const tokens = pol_data(&a->tokens, int32_t);
    const real *const w = pol_data(&a->w, real);
    real *x = pol_data(&out->x, real);
    for (int64_t i = 0; i < rows; i++, x += dim) {
        if (tokens[i] < 0 || tokens[i] >= vocab)
            return pol_fail(POL_EINVAL, "embed: token %ld of %lld", (long)tokens[i],
                            (long long)vocab);
        memcpy(x, w + tokens[i] * dim, (size_t)dim * sizeof(real));
    }
    return POL_OK;
}

/* linear */

struct linear_outputs linear_outputs(const struct linear_args *a)
{
    return (struct linear_outputs){.y = pol_undef(REAL, a->x.dims[0], a->w.dims[0])};
}

struct linear_scratch linear_scratch(const struct linear_args *a)
{
    if (a->x.dims[0] == 1)
        return (struct linear_scratch){.product = {.panels = pol_undef_like(NULL)}};
    return (struct linear_scratch){
        .product = gemm_scratch_undef(a->x.dims[0], a->w.dims[0], a->w.dims[1]),
    };
}

struct vector_job {
    real *y;
    const real *w, *x;
    int64_t in;
};

static void multiply_vector(const void *job, int64_t first, int64_t count)
{
    const struct vector_job *const v = (const struct vector_job *)job;
    for (int64_t i = first; i < first + count; i++)
        v->y[i] = dot(v->w + i * v->in, v->x, v->in);
}

pol_status linear(const struct linear_outputs *out, const struct linear_args *a,
                  const struct linear_scratch *s)
{
    const int64_t rows = a->x.dims[0], nout = a->w.dims[0], nin = a->w.dims[1];
    POL_TRY(pol_expect("linear: x", &a->x, pol_undef(REAL, rows, nin)));
    POL_TRY(pol_expect("linear: w", &a->w, pol_undef(REAL, nout, nin)));
    POL_TRY(pol_expect("linear: y", &out->y, linear_outputs(a).y));

    const real *const x = pol_data(&a->x, real), *const w = pol_data(&a->w, real);
    real *const y = pol_data(&out->y, real);
    if (rows == 1)
        team_split(nout, rows_of_a_part(nin), multiply_vector,
                   &(struct vector_job){.y = y, .w = w, .x = x, .in = nin});
    else
        gemm(
            &(struct gemm){
                .m = rows, .n = nout, .k = nin, .a = x, .b = w, .b_transposed = true, .c = y},
            &s->product);
    return POL_OK;
}

/* norm and add_norm */

struct norm_outputs norm_outputs(const struct norm_args *a)
{
    return (struct norm_outputs){.y = pol_undef_like(&a->x)};
}

struct norm_checkpoints norm_checkpoints(const struct norm_args *a)
{
    return (struct norm_checkpoints){.scale = pol_undef(REAL, a->x.dims[0])};
}

struct norm_job {
    const real *x, *gain;
    real *y, *scale; /* scale: NULL if nobody asks for it */
    int64_t dim;
};

static void norm_rows(const void *job, int64_t first, int64_t count)
{
    const struct norm_job *const t = (const struct norm_job *)job;
    for (int64_t r = first; r < first + count; r++) {
        const real *const x = t->x + r * t->dim;
        real *const y = t->y + r * t->dim;
        const real scale = 1 / sqrt(dot(x, x, t->dim) / (real)t->dim + (real)1e-5);
        for (int64_t j = 0; j < t->dim; j++)
            y[j] = t->gain[j] * (scale * x[j]);
        if (t->scale)
            t->scale[r] = scale;
    }
}

pol_status norm(const struct norm_outputs *out, const struct norm_args *a)
{
    const int64_t rows = a->x.dims[0], dim = a->x.dims[1];
    POL_TRY(pol_expect("norm: x", &a->x, pol_undef(REAL, rows, dim)));
    POL_TRY(pol_expect("norm: gain", &a->gain, pol_undef(REAL, dim)));
    POL_TRY(pol_expect("norm: y", &out->y, norm_outputs(a).y));
    if (!pol_is_absent(&a->saved.scale))
        POL_TRY(pol_expect("norm: scale", &a->saved.scale, norm_checkpoints(a).scale));

    const struct norm_job job = {
        .x = pol_data(&a->x, real),
        .gain = pol_data(&a->gain, real),
        .y = pol_data(&out->y, real),
        .scale = pol_data(&a->saved.scale, real),
        .dim = dim,
    };
    team_split(rows, rows_of_a_part(2 * dim), norm_rows, &job);
    return POL_OK;
}

struct add_norm_outputs add_norm_outputs(const struct add_norm_args *a)
{
    return (struct add_norm_outputs){.sum = pol_undef_like(&a->x), .y = pol_undef_like(&a->x)};
}

struct norm_checkpoints add_norm_checkpoints(const struct add_norm_args *a)
{
    return (struct norm_checkpoints){.scale = pol_undef(REAL, a->x.dims[0])};
}

struct add_norm_job {
    struct norm_job norm; /* of the sum */
    const real *x, *delta;
    real *sum;
};

static void add_norm_rows(const void *job, int64_t first, int64_t count)
{
    const struct add_norm_job *const t = (const struct add_norm_job *)job;
    const int64_t dim = t->norm.dim;
    for (int64_t r = first; r < first + count; r++) { /* while the row is in the cache */
        for (int64_t j = r * dim; j < (r + 1) * dim; j++)
            t->sum[j] = t->x[j] + t->delta[j];
        norm_rows(&t->norm, r, 1);
    }
}

pol_status add_norm(const struct add_norm_outputs *out, const struct add_norm_args *a)
{
    const int64_t rows = a->x.dims[0], dim = a->x.dims[1];
    POL_TRY(pol_expect("add_norm: x", &a->x, pol_undef(REAL, rows, dim)));
    POL_TRY(pol_expect("add_norm: delta", &a->delta, pol_undef(REAL, rows, dim)));
    POL_TRY(pol_expect("add_norm: gain", &a->gain, pol_undef(REAL, dim)));
    POL_TRY(pol_expect("add_norm: sum", &out->sum, add_norm_outputs(a).sum));
    POL_TRY(pol_expect("add_norm: y", &out->y, add_norm_outputs(a).y));
    if (!pol_is_absent(&a->saved.scale))
        POL_TRY(pol_expect("add_norm: scale", &a->saved.scale, add_norm_checkpoints(a).scale));

    real *const sum = pol_data(&out->sum, real);
    const struct add_norm_job job = {
        .norm = {.x = sum,
                 .gain = pol_data(&a->gain, real),
                 .y = pol_data(&out->y, real),
                 .scale = pol_data(&a->saved.scale, real),
                 .dim = dim},
        .x = pol_data(&a->x, real),
        .delta = pol_data(&a->delta, real),
        .sum = sum,
    };
    team_split(rows, rows_of_a_part(3 * dim), add_norm_rows, &job);
    return POL_OK;
}

/* add and gate: element by element */

struct pair_job {
    const real *a, *b;
    real *y;
};

static void add_elements(const void *job, int64_t first, int64_t count)
{
    const struct pair_job *const p = (const struct pair_job *)job;
    for (int64_t i = first; i < first + count; i++)
        p->y[i] = p->a[i] + p->b[i];
}

static void gate_elements(const void *job, int64_t first, int64_t count)
{
    const struct pair_job *const p = (const struct pair_job *)job;
    for (int64_t i = first; i < first + count; i++)
        p->y[i] = p->a[i] * (1 / (1 + exp(-p->a[i]))) * p->b[i];
}

struct add_outputs add_outputs(const struct add_args *a)
{
    return (struct add_outputs){.sum = pol_undef_like(&a->x)};
}

pol_status add(const struct add_outputs *out, const struct add_args *a)
{
    int64_t n;
    POL_TRY(pol_expect("add: x", &a->x, pol_undef_like_type(&a->x, REAL)));
    POL_TRY(pol_expect("add: delta", &a->delta, pol_undef_like(&a->x)));
    POL_TRY(pol_expect("add: sum", &out->sum, pol_undef_like(&a->x)));
    POL_TRY(pol_len(&a->x, &n));
    const struct pair_job job = {
        pol_data(&a->x, real),
        pol_data(&a->delta, real),
        pol_data(&out->sum, real),
    };
    team_split(n, rows_of_a_part(1), add_elements, &job);
    return POL_OK;
}

struct gate_outputs gate_outputs(const struct gate_args *a)
{
    return (struct gate_outputs){.y = pol_undef_like(&a->a)};
}

pol_status gate(const struct gate_outputs *out, const struct gate_args *a)
{
    int64_t n;
    POL_TRY(pol_expect("gate: a", &a->a, pol_undef_like_type(&a->a, REAL)));
    POL_TRY(pol_expect("gate: b", &a->b, pol_undef_like(&a->a)));
    POL_TRY(pol_expect("gate: y", &out->y, pol_undef_like(&a->a)));
    POL_TRY(pol_len(&a->a, &n));
    const struct pair_job job = {
        pol_data(&a->a, real),
        pol_data(&a->b, real),
        pol_data(&out->y, real),
    };
    team_split(n, rows_of_a_part(16), gate_elements, &job);
    return POL_OK;
}

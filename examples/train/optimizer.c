/* SPDX-License-Identifier: MIT */
#include "optimizer.h"

#include "team.h"

#include <tgmath.h>

enum { PART = 1 << 14 }; /* elements of a task */

static const double BETA1 = 0.9, BETA2 = 0.99, EPSILON = 1e-8;

static int64_t parts_of(int64_t n)
{
    return n / PART + (n % PART != 0);
}

static int64_t end_of_part(int64_t part, int64_t n)
{
    return n - part * PART < PART ? n : (part + 1) * PART;
}

struct squares_outputs squares_outputs(const struct squares_args *a)
{
    (void)a;
    return (struct squares_outputs){.sum = pol_undef_scalar(POL_F64)};
}

struct squares_scratch squares_scratch(const struct squares_args *a)
{
    int64_t n = 0;
    if (pol_len(&a->x, &n) != POL_OK)
        n = 0; /* the verb itself refuses what is no array */
    return (struct squares_scratch){.parts = pol_undef(POL_F64, parts_of(n))};
}

struct squares_job {
    const real *x;
    double *parts;
    int64_t n;
};

static void sum_part(const void *job, int64_t part, int member)
{
    const struct squares_job *const j = (const struct squares_job *)job;
    const int64_t end = end_of_part(part, j->n);
    double sum = 0;
    (void)member;
    for (int64_t i = part * PART; i < end; i++)
        sum += (double)j->x[i] * (double)j->x[i];
    j->parts[part] = sum;
}

pol_status squares(const struct squares_outputs *out, const struct squares_args *a,
                   const struct squares_scratch *s)
{
    POL_TRY(pol_expect("squares: x", &a->x, pol_undef_like_type(&a->x, REAL)));
    POL_TRY(pol_expect("squares: parts", &s->parts, squares_scratch(a).parts));
    POL_TRY(pol_expect("squares: sum", &out->sum, pol_undef_scalar(POL_F64)));

    struct squares_job job = {.x = pol_data(&a->x, real), .parts = pol_data(&s->parts, double)};
    double *const sum = pol_data(&out->sum, double);
    POL_TRY(pol_len(&a->x, &job.n));
    team_run(parts_of(job.n), sum_part, &job);
    *sum = 0;
    for (int64_t i = 0; i < parts_of(job.n); i++)
        *sum += job.parts[i];
    return POL_OK;
}

struct adamw_outputs adamw_outputs(const struct adamw_args *a)
{
    return (struct adamw_outputs){
        .w = pol_undef_like(&a->w.primal),
        .m = pol_undef_like(&a->m),
        .v = pol_undef_like(&a->v),
    };
}

struct adamw_job {
    const struct adamw_args *a;
    const real *w, *g, *m, *v;
    real *new_w, *new_m, *new_v;
    int64_t n;
    real correct1, correct2; /* for the means' start at 0 */
};

static void move_part(const void *job, int64_t part, int member)
{
    const struct adamw_job *const j = (const struct adamw_job *)job;
    const real beta1 = (real)BETA1, beta2 = (real)BETA2, epsilon = (real)EPSILON;
    const real rate = (real)j->a->rate, scale = (real)j->a->scale;
    const real keep = (real)(1 - j->a->rate * j->a->decay);
    const int64_t end = end_of_part(part, j->n);
    (void)member;
    for (int64_t i = part * PART; i < end; i++) {
        const real g = scale * j->g[i];
        const real m = beta1 * j->m[i] + (1 - beta1) * g;
        const real v = beta2 * j->v[i] + (1 - beta2) * g * g;
        const real step = m * j->correct1 / (sqrt(v * j->correct2) + epsilon);
        j->new_m[i] = m;
        j->new_v[i] = v;
        j->new_w[i] = keep * j->w[i] - rate * step;
    }
}

pol_status adamw(const struct adamw_outputs *out, const struct adamw_args *a)
{
    const pol_array like_w = pol_undef_like_type(&a->w.primal, REAL);
    POL_TRY(pol_expect("adamw: w", &a->w.primal, like_w));
    POL_TRY(pol_expect("adamw: gradient", &a->w.shadow, like_w));
    POL_TRY(pol_expect("adamw: m", &a->m, like_w));
    POL_TRY(pol_expect("adamw: v", &a->v, like_w));
    POL_TRY(pol_expect("adamw: new w", &out->w, like_w));
    POL_TRY(pol_expect("adamw: new m", &out->m, like_w));
    POL_TRY(pol_expect("adamw: new v", &out->v, like_w));

    struct adamw_job job = {
        .a = a,
        .w = pol_data(&a->w.primal, real),
        .g = pol_data(&a->w.shadow, real),
        .m = pol_data(&a->m, real),
        .v = pol_data(&a->v, real),
        .new_w = pol_data(&out->w, real),
        .new_m = pol_data(&out->m, real),
        .new_v = pol_data(&out->v, real),
        .correct1 = (real)(1 / (1 - pow(BETA1, (double)a->step))),
        .correct2 = (real)(1 / (1 - pow(BETA2, (double)a->step))),
    };
    POL_TRY(pol_len(&a->w.primal, &job.n));
    team_run(parts_of(job.n), move_part, &job);
    return POL_OK;
}

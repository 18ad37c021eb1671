/* SPDX-License-Identifier: MIT */
/*
 * RMS norm and its gradient.
 *
 *     y[i][j] = x[i][j] * r[i] * gain[j],   r[i] = 1 / sqrt(mean(x[i]^2) + eps)
 *
 * Forward saves r, its checkpoint, for backward. Backward overwrites the shadows that it is handed:
 * the primals are f32, the shadows f64. An absent shadow is a constant: nothing is computed for it.
 * The gradients are checked against finite differences.
 */
#include <pol/pol.h>

#include <math.h>
#include <stdio.h>

enum { ROWS = 4, COLUMNS = 6 };

/* --- forward ------------------------------------------------------------------------------- */

struct rmsnorm_checkpoints {
    pol_array r; /* (rows) f64 */
};
struct rmsnorm_args {
    pol_array x;    /* (rows, columns) f32 */
    pol_array gain; /* (columns) f32 */
    double eps;
    struct rmsnorm_checkpoints saved; /* absent: there is no backward pass, nothing is saved */
};
struct rmsnorm_outputs {
    pol_array y; /* (rows, columns) f32 */
};

static struct rmsnorm_checkpoints rmsnorm_checkpoints(const struct rmsnorm_args *a)
{
    return (struct rmsnorm_checkpoints){.r = pol_undef(POL_F64, a->x.dims[0])};
}

static struct rmsnorm_outputs rmsnorm_outputs(const struct rmsnorm_args *a)
{
    return (struct rmsnorm_outputs){.y = pol_undef_like(&a->x)};
}

static pol_status rmsnorm(const struct rmsnorm_outputs *out, const struct rmsnorm_args *a)
{
    const int64_t rows = a->x.dims[0], columns = a->x.dims[1];
    const float *x = pol_data(&a->x, float);
    const float *gain = pol_data(&a->gain, float);
    float *y = pol_data(&out->y, float);
    double *saved = pol_is_array(&a->saved.r) ? pol_data(&a->saved.r, double) : NULL;

    for (int64_t i = 0; i < rows; i++, x += columns, y += columns) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum += (double)x[j] * (double)x[j];
        const double r = 1 / sqrt(sum / (double)columns + a->eps);
        for (int64_t j = 0; j < columns; j++)
            y[j] = (float)((double)x[j] * r * (double)gain[j]);
        if (saved)
            saved[i] = r;
    }
    return POL_OK;
}
POL_ALLOCATING(rmsnorm, outputs);

/* --- backward ------------------------------------------------------------------------------ */

struct rmsnorm_backward_args {
    pol_shadowed x;    /* primal (rows, columns) f32; shadow f64 or absent */
    pol_shadowed gain; /* primal (columns) f32; shadow f64 or absent */
    struct rmsnorm_checkpoints saved;
    pol_array dy; /* (rows, columns) f64 */
};
struct rmsnorm_backward_outputs {
    pol_shadowed x, gain; /* those of the arguments; the shadows get their memory here */
};
struct rmsnorm_backward_scratch {
    pol_array dn; /* (columns) f64: the gradient of one normalized row */
};

/* Primals hold data and pass through, described shadows are materialized, absent ones stay so. */
static struct rmsnorm_backward_outputs
rmsnorm_backward_outputs(const struct rmsnorm_backward_args *a)
{
    return (struct rmsnorm_backward_outputs){.x = a->x, .gain = a->gain};
}

static struct rmsnorm_backward_scratch
rmsnorm_backward_scratch(const struct rmsnorm_backward_args *a)
{
    return (struct rmsnorm_backward_scratch){
        .dn = pol_undef_like_type(pol_primal(&a->gain), POL_F64)};
}

static pol_status rmsnorm_backward(const struct rmsnorm_backward_outputs *out,
                                   const struct rmsnorm_backward_args *a,
                                   const struct rmsnorm_backward_scratch *s)
{
    const int64_t rows = a->x.primal.dims[0], columns = a->x.primal.dims[1];
    const float *x = pol_data(pol_primal(&out->x), float);
    const float *gain = pol_data(pol_primal(&out->gain), float);
    const double *r = pol_data(&a->saved.r, double);
    const double *dy = pol_data(&a->dy, double);
    double *dx = pol_is_array(pol_shadow(&out->x)) ? pol_data(&out->x.shadow, double) : NULL;
    double *dgain =
        pol_is_array(pol_shadow(&out->gain)) ? pol_data(&out->gain.shadow, double) : NULL;
    double *dn = pol_data(&s->dn, double);

    for (int64_t j = 0; dgain && j < columns; j++)
        dgain[j] = 0;
    for (int64_t i = 0; i < rows; i++, x += columns, dy += columns) {
        double mean = 0;
        for (int64_t j = 0; j < columns; j++) {
            const double n = (double)x[j] * r[i];
            dn[j] = dy[j] * (double)gain[j];
            mean += dn[j] * n / (double)columns;
            if (dgain)
                dgain[j] += dy[j] * n;
        }
        for (int64_t j = 0; dx && j < columns; j++)
            dx[i * columns + j] = r[i] * (dn[j] - (double)x[j] * r[i] * mean);
    }
    return POL_OK;
}
POL_ALLOCATING(rmsnorm_backward, outputs, scratch);

/* --- the check ----------------------------------------------------------------------------- */

/* Sums dy * y: a loss whose gradient by y is dy. Nothing is saved, and y dies with the frame. */
static pol_status loss(pol_arena *arena, const struct rmsnorm_args *args, const pol_array *dy,
                       double *sum)
{
    struct rmsnorm_args inference = *args;
    inference.saved = (struct rmsnorm_checkpoints){.r = {0}};
    *sum = 0;
    POL_SCRATCHSPACE(frame, arena) {
        struct rmsnorm_outputs out;
        POL_TRY(pol_call(rmsnorm, frame, &inference, &out));
        const float *y = pol_data(&out.y, float);
        const double *weight = pol_data(dy, double);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            *sum += weight[i] * (double)y[i];
    }
    return POL_OK;
}

/* Compares each element of the shadow with the slope of the loss between two points around the
   element of the primal. */
static pol_status check(const char *name, pol_arena *arena, const struct rmsnorm_args *args,
                        const pol_array *dy, const pol_shadowed *pair)
{
    float *value = pol_data(pol_primal(pair), float);
    const double *gradient = pol_data(pol_shadow(pair), double);
    double worst = 0;
    int64_t n;
    POL_TRY(pol_len(pol_primal(pair), &n));

    for (int64_t i = 0; i < n; i++) {
        const float middle = value[i], above = middle + 0.01F, below = middle - 0.01F;
        double high, low;
        value[i] = above;
        POL_TRY(loss(arena, args, dy, &high));
        value[i] = below;
        POL_TRY(loss(arena, args, dy, &low));
        value[i] = middle;
        const double slope = (high - low) / ((double)above - (double)below);
        worst = fmax(worst, fabs(gradient[i] - slope) / (1 + fabs(slope)));
    }
    printf("d%-5s %2d elements, farthest from finite differences: %.1e\n", name, (int)n, worst);
    if (!(worst < 1e-3))
        return pol_fail(POL_EUSER, "d%s does not match finite differences", name);
    return POL_OK;
}

static pol_status run(pol_arena *arena)
{
    pol_array x, gain, dy;
    POL_TRY(pol_alloc(arena, &x, pol_undef(POL_F32, ROWS, COLUMNS)));
    POL_TRY(pol_alloc(arena, &gain, pol_undef(POL_F32, COLUMNS)));
    POL_TRY(pol_alloc(arena, &dy, pol_undef_like_type(&x, POL_F64)));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        pol_data(&x, float)[i] = (float)sin(1 + 2.3 * i);
        pol_data(&dy, double)[i] = cos(0.7 * i);
    }
    for (int j = 0; j < COLUMNS; j++)
        pol_data(&gain, float)[j] = 0.5F + 0.25F * (float)j;

    /* Forward: the checkpoints get memory that outlives the call. */
    struct rmsnorm_args args = {.x = x, .gain = gain, .eps = 1e-5};
    struct rmsnorm_outputs out;
    POL_TRY(pol_checkpoints(arena, rmsnorm, &args, &args.saved));
    POL_TRY(pol_call(rmsnorm, arena, &args, &out));

    /* Backward, into both shadows. */
    struct rmsnorm_backward_args back = {.x = pol_shadowed_like(&x, POL_F64),
                                         .gain = pol_shadowed_like(&gain, POL_F64),
                                         .saved = args.saved,
                                         .dy = dy};
    struct rmsnorm_backward_outputs both, one;
    POL_TRY(pol_call(rmsnorm_backward, arena, &back, &both));
    POL_TRY(check("x", arena, &args, &dy, &both.x));
    POL_TRY(check("gain", arena, &args, &dy, &both.gain));

    /* The same with a constant gain: no gradient is asked for, and no memory taken for it. */
    back.gain = pol_constant(gain);
    POL_TRY(pol_call(rmsnorm_backward, arena, &back, &one));
    POL_TRY(check("x", arena, &args, &dy, &one.x));
    if (!pol_is_absent(pol_shadow(&one.gain)))
        return pol_fail(POL_EUSER, "a constant got a gradient");
    printf("%-6s is a constant: no gradient\n", "gain");
    return POL_OK;
}

int main(void)
{
    pol_arena arena;

    if (pol_arena_open(&arena, pol_heap(), 8192, 0) == POL_OK && run(&arena) == POL_OK &&
        pol_arena_close(&arena) == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

/* SPDX-License-Identifier: MIT */
/* The softmax of each row of a matrix, as a verb, out of an arena. */
#include <pol/pol.h>

#include <math.h>
#include <stdio.h>

/* What the verb takes, what it makes, what it needs meanwhile. */
struct softmax_args {
    pol_array x; /* (rows, columns) f32 */
};
struct softmax_outputs {
    pol_array y; /* (rows, columns) f32 */
};
struct softmax_scratch {
    pol_array tmp; /* (columns) f64: the exponentials of one row */
};

static struct softmax_outputs softmax_outputs(const struct softmax_args *a)
{
    return (struct softmax_outputs){.y = pol_undef_like(&a->x)};
}

static struct softmax_scratch softmax_scratch(const struct softmax_args *a)
{
    return (struct softmax_scratch){.tmp = pol_undef(POL_F64, a->x.dims[1])};
}

/* The kernel allocates nothing: it writes into the buffers that it is given. */
static pol_status softmax(const struct softmax_outputs *out, const struct softmax_args *a,
                          const struct softmax_scratch *s)
{
    const int64_t rows = a->x.dims[0], columns = a->x.dims[1];
    const float *x = pol_data(&a->x, float);
    float *y = pol_data(&out->y, float);
    double *tmp = pol_data(&s->tmp, double);

    if (a->x.ndim != 2 || !x || !y || !tmp)
        return pol_fail(POL_EINVAL, "softmax: x must be a matrix of float");
    for (int64_t i = 0; i < rows; i++, x += columns, y += columns) {
        double largest = -HUGE_VAL, sum = 0;
        for (int64_t j = 0; j < columns; j++)
            largest = fmax(largest, (double)x[j]);
        for (int64_t j = 0; j < columns; j++)
            sum += tmp[j] = exp((double)x[j] - largest);
        for (int64_t j = 0; j < columns; j++)
            y[j] = (float)(tmp[j] / sum);
    }
    return POL_OK;
}

/* Writes the form of it that takes a space in place of the outputs. */
POL_ALLOCATING(softmax, outputs, scratch);

static pol_status check(const char *how, const pol_array *y, const pol_arena *arena)
{
    const float *p = pol_data(y, float);
    const double first = (double)p[0] + (double)p[1] + (double)p[2];
    const double second = (double)p[3] + (double)p[4] + (double)p[5];

    printf("%-8s rows sum to %.6f and %.6f, %zu bytes in use\n", how, first, second,
           pol_arena_offset(arena));
    if (fabs(first - 1) > 1e-6 || fabs(second - 1) > 1e-6)
        return pol_fail(POL_EUSER, "%s: a row does not sum to 1", how);
    return POL_OK;
}

static pol_status run(pol_arena *arena)
{
    float logits[2][3] = {{1, 2, 3}, {0, 0, 1000}};
    const struct softmax_args args = {.x = pol_wrap(logits, POL_F32, 2, 3)};
    struct softmax_outputs out;

    /* By hand: outputs from the caller's space, scratch in a frame that dies with the block. */
    POL_TRY(pol_outputs(arena, softmax, &args, &out));
    POL_SCRATCHSPACE(frame, arena) {
        struct softmax_scratch s;
        POL_TRY(pol_scratch(frame, softmax, &args, &s)); /* an early return closes the frame */
        POL_TRY(softmax(&out, &args, &s));
    }
    POL_TRY(check("by hand", &out.y, arena));

    /* The same in one line, in a space that is named... */
    POL_TRY(pol_call(softmax, arena, &args, &out));
    POL_TRY(check("call", &out.y, arena));

    /* ...or in the one that is bound around it. */
    POL_WITHSPACE(arena) {
        POL_TRY(pol_call(softmax, pol_ambientspace(), &args, &out));
    }
    return check("ambient", &out.y, arena);
}

int main(void)
{
    pol_arena arena;

    if (pol_arena_open(&arena, pol_heap(), 4096, 0) == POL_OK && run(&arena) == POL_OK &&
        pol_arena_close(&arena) == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

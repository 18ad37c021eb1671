/* SPDX-License-Identifier: MIT */
/* The kernels that only the trainer has: attention over sequences, and the loss. */
#include "test_gradients_check.h"

#include <math.h>

/* Compares with the definition: the first row of a head attends to itself alone, the others to all
   rows up to their own. */
static pol_status check_attention(const struct attention_args *a, const pol_array *made)
{
    const int64_t rows = a->q.dims[0], dim = a->q.dims[1], kv_dim = a->k.dims[1];
    const int64_t size = dim / a->heads, group = a->heads / a->kv_heads;
    const real *const k = pol_data(&a->k, real), *const v = pol_data(&a->v, real);
    for (int64_t i = 0; i < rows * dim; i++) {
        const int64_t row = i / dim, head = i % dim / size, at = head / group * size;
        const real *const q = pol_data(&a->q, real) + row * dim + head * size;
        double sum = 0, y = 0;
        for (int64_t j = row - row % a->period; j <= row; j++) {
            double score = 0;
            for (int64_t x = 0; x < size; x++)
                score += (double)(q[x] * k[j * kv_dim + at + x]);
            const double e = exp(score / sqrt((double)size));
            sum += e;
            y += e * (double)v[j * kv_dim + at + i % size];
        }
        if (!(fabs((double)pol_data(made, real)[i] - y / sum) <= 1e-13))
            return pol_fail(POL_EUSER, "attention: row %lld is off", (long long)row);
    }
    return POL_OK;
}

static pol_status check_loss(const struct loss_args *a, double made)
{
    const int64_t rows = a->x.dims[0], dim = a->x.dims[1], vocab = a->w.dims[0];
    const real *const x = pol_data(&a->x, real), *const w = pol_data(&a->w, real);
    double mean = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t target = pol_data(&a->targets, int32_t)[i];
        double sum = 0, of_target = 0;
        for (int32_t j = 0; j < vocab; j++) {
            double logit = 0;
            for (int64_t p = 0; p < dim; p++)
                logit += (double)(x[i * dim + p] * w[j * dim + p]);
            sum += exp(logit);
            of_target = j == target ? logit : of_target;
        }
        mean += (log(sum) - of_target) / (double)rows;
    }
    if (!(fabs(made - mean) <= 1e-13 * mean))
        return pol_fail(POL_EUSER, "loss: %.17g, by its definition %.17g", made, mean);
    return POL_OK;
}

static pol_status test_heads(struct guarded_space *g, int64_t sequences, int64_t period,
                             int64_t heads, int64_t kv_heads, int64_t head_size)
{
    const int64_t rows = sequences * period;
    struct attention_args plain = {.heads = heads, .kv_heads = kv_heads, .period = period};
    struct attention_outputs made;
    pol_array dy;
    POL_TRY(random_array(g, &plain.q, pol_undef(REAL, rows, heads * head_size)));
    POL_TRY(random_array(g, &plain.k, pol_undef(REAL, rows, kv_heads * head_size)));
    POL_TRY(random_array(g, &plain.v, pol_undef(REAL, rows, kv_heads * head_size)));
    POL_TRY(random_array(g, &dy, pol_undef_like(&plain.q)));
    struct attention_args forward = plain;
    POL_TRY(pol_checkpoints(&g->space, attention, &forward, &forward.saved));
    POL_TRY(pol_call(attention, &g->space, &forward, &made));
    POL_TRY(check_attention(&plain, &made.y));
    struct attention_backward_args args = {
        .q = pol_shadowed_like(&plain.q, REAL),
        .k = pol_shadowed_like(&plain.k, REAL),
        .v = pol_shadowed_like(&plain.v, REAL),
        .heads = heads,
        .kv_heads = kv_heads,
        .period = period,
        .saved = forward.saved,
        .y = made.y,
        .dy = dy,
    };
    struct gradient_case c = {.name = "attention_backward",
                              .forward = &attention_verb,
                              .forward_args = &plain,
                              .weights = {&dy},
                              .backward = &attention_backward_verb,
                              .backward_args = &args,
                              .x = {&plain.q, &plain.k, &plain.v}};
    POL_TRY(check_gradients(g, &c));
    c.name = "attention_backward, q and v constant";
    args.q = pol_constant(plain.q);
    args.v = pol_constant(plain.v);
    c.x[0] = c.x[2] = NULL;
    POL_TRY(check_gradients(g, &c));
    c.name = "attention_backward, k constant";
    args.v = pol_shadowed_like(&plain.v, REAL);
    args.k = pol_constant(plain.k);
    c.x[1] = NULL;
    c.x[2] = &plain.v;
    return check_gradients(g, &c);
}

pol_status test_attention(struct guarded_space *g)
{
    POL_TRY(test_heads(g, 4, 1, 2, 1, 3));
    POL_TRY(test_heads(g, 2, 7, 6, 2, 5));
    POL_TRY(test_heads(g, 1, 9, 3, 3, 18));
    return test_heads(g, 3, 5, 4, 1, 2);
}

static pol_status test_rows(struct guarded_space *g, int64_t rows, int32_t vocab, int64_t dim)
{
    struct loss_args plain;
    struct loss_outputs made;
    plain.saved.log_sum = pol_undef_like(NULL);
    POL_TRY(random_array(g, &plain.x, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &plain.w, pol_undef(REAL, vocab, dim)));
    POL_TRY(random_tokens(g, &plain.targets, rows, vocab));
    struct loss_args forward = plain;
    POL_TRY(pol_checkpoints(&g->space, loss, &forward, &forward.saved));
    POL_TRY(pol_call(loss, &g->space, &forward, &made));
    POL_TRY(check_loss(&plain, *pol_data(&made.loss, double)));
    struct loss_backward_args args = {
        .x = pol_shadowed_like(&plain.x, REAL),
        .w = pol_shadowed_like(&plain.w, REAL),
        .targets = plain.targets,
        .saved = forward.saved,
    };
    struct gradient_case c = {.name = "loss_backward",
                              .forward = &loss_verb,
                              .forward_args = &plain,
                              .backward = &loss_backward_verb,
                              .backward_args = &args,
                              .x = {&plain.x, &plain.w}};
    POL_TRY(check_gradients(g, &c));
    c.name = "loss_backward, x constant";
    args.x = pol_constant(plain.x);
    c.x[0] = NULL;
    POL_TRY(check_gradients(g, &c));
    c.name = "loss_backward, w constant";
    args.x = pol_shadowed_like(&plain.x, REAL);
    args.w = pol_constant(plain.w);
    c.x[0] = &plain.x;
    c.x[1] = NULL;
    return check_gradients(g, &c);
}

pol_status test_loss(struct guarded_space *g)
{
    POL_TRY(test_rows(g, 3, 700, 4)); /* of few rows that cost much */
    return test_rows(g, 131, 37, 5);  /* of a chunk and three rows */
}

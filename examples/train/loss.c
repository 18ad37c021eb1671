/* SPDX-License-Identifier: MIT */
/*
 * The output layer and the cross-entropy, CHUNK rows at a time: with a vocabulary of fifty thousand
 * the logits of a batch would take more memory than all else. Backward makes them again.
 */
#include "backward.h"

#include "team.h"

#include <tgmath.h>

/* Rows whose logits are in memory; enough for the product to run at full speed. */
enum { CHUNK = 128 };

static int64_t chunk_at(int64_t first, int64_t rows)
{
    return rows - first < CHUNK ? rows - first : CHUNK;
}

static pol_status check(const pol_array *x, const pol_array *w, const pol_array *targets)
{
    const int64_t rows = x->dims[0], dim = x->dims[1], vocab = w->dims[0];
    POL_TRY(pol_expect("loss: x", x, pol_undef(REAL, rows, dim)));
    POL_TRY(pol_expect("loss: w", w, pol_undef(REAL, vocab, dim)));
    POL_TRY(pol_expect("loss: targets", targets, pol_undef(POL_I32, rows)));
    if (rows < 1)
        return pol_fail(POL_EINVAL, "loss: the mean of no rows");
    const int32_t *const target = pol_data(targets, int32_t);
    for (int64_t i = 0; i < rows; i++)
        if (target[i] < 0 || target[i] >= vocab)
            return pol_fail(POL_EINVAL, "loss: target %ld of %lld", (long)target[i],
                            (long long)vocab);
    return POL_OK;
}

/* logits = x w^T for `count` rows from `first` on. */
static void make_logits(const pol_array *logits, const pol_array *x, const pol_array *w,
                        int64_t first, int64_t count, const struct gemm_scratch *s)
{
    const int64_t dim = w->dims[1];
    gemm(&(struct gemm){.m = count,
                        .n = w->dims[0],
                        .k = dim,
                        .a = pol_data(x, real) + first * dim,
                        .b = pol_data(w, real),
                        .b_transposed = true,
                        .c = pol_data(logits, real)},
         s);
}

/* A chunk's rows; the pointers are to the chunk's first. */
struct chunk_job {
    real *logits;
    const int32_t *targets;
    int64_t vocab;
    real *log_sum; /* NULL if nobody goes backward */
    double *each;
    real share; /* of a row in the mean */
};

/* loss */

struct loss_outputs loss_outputs(const struct loss_args *a)
{
    (void)a;
    return (struct loss_outputs){.loss = pol_undef_scalar(POL_F64)};
}

struct loss_checkpoints loss_checkpoints(const struct loss_args *a)
{
    return (struct loss_checkpoints){.log_sum = pol_undef(REAL, a->x.dims[0])};
}

struct loss_scratch loss_scratch(const struct loss_args *a)
{
    const int64_t rows = a->x.dims[0], vocab = a->w.dims[0], dim = a->w.dims[1];
    return (struct loss_scratch){
        .logits = pol_undef(REAL, chunk_at(0, rows), vocab),
        .each = pol_undef(POL_F64, rows),
        .product = gemm_scratch_undef(chunk_at(0, rows), vocab, dim),
    };
}

static void score_rows(const void *job, int64_t first, int64_t count)
{
    const struct chunk_job *const t = (const struct chunk_job *)job;
    for (int64_t r = first; r < first + count; r++) {
        const real *const x = t->logits + r * t->vocab;
        real top = x[0];
        double sum = 0;
        for (int64_t j = 1; j < t->vocab; j++)
            top = x[j] > top ? x[j] : top;
        for (int64_t j = 0; j < t->vocab; j++)
            sum += (double)exp(x[j] - top);
        const double log_sum = (double)top + log(sum);
        t->each[r] = log_sum - (double)x[t->targets[r]];
        if (t->log_sum)
            t->log_sum[r] = (real)log_sum;
    }
}

pol_status loss(const struct loss_outputs *out, const struct loss_args *a,
                const struct loss_scratch *s)
{
    const int64_t rows = a->x.dims[0], vocab = a->w.dims[0];
    POL_TRY(check(&a->x, &a->w, &a->targets));
    POL_TRY(pol_expect("loss: loss", &out->loss, pol_undef_scalar(POL_F64)));
    POL_TRY(pol_expect("loss: logits", &s->logits, loss_scratch(a).logits));
    POL_TRY(pol_expect("loss: each", &s->each, pol_undef(POL_F64, rows)));
    if (!pol_is_absent(&a->saved.log_sum))
        POL_TRY(pol_expect("loss: log_sum", &a->saved.log_sum, loss_checkpoints(a).log_sum));

    double sum = 0;
    double *const each = pol_data(&s->each, double);
    real *const log_sum = pol_data(&a->saved.log_sum, real);
    for (int64_t first = 0; first < rows; first += CHUNK) {
        const int64_t count = chunk_at(first, rows);
        make_logits(&s->logits, &a->x, &a->w, first, count, &s->product);
        const struct chunk_job job = {
            .logits = pol_data(&s->logits, real),
            .targets = pol_data(&a->targets, int32_t) + first,
            .vocab = vocab,
            .log_sum = log_sum ? log_sum + first : NULL,
            .each = each + first,
        };
        team_split(count, rows_of_a_part(16 * vocab), score_rows, &job);
    }
    for (int64_t i = 0; i < rows; i++)
        sum += each[i];
    *pol_data(&out->loss, double) = sum / (double)rows;
    return POL_OK;
}

/* loss_backward */

struct loss_backward_outputs loss_backward_outputs(const struct loss_backward_args *a)
{
    return (struct loss_backward_outputs){
        .dx = pol_undef_like(pol_shadow(&a->x)),
        .dw = pol_undef_like(pol_shadow(&a->w)),
    };
}

struct loss_backward_scratch loss_backward_scratch(const struct loss_backward_args *a)
{
    const int64_t rows = chunk_at(0, pol_primal(&a->x)->dims[0]);
    const int64_t vocab = pol_primal(&a->w)->dims[0], dim = pol_primal(&a->w)->dims[1];
    return (struct loss_backward_scratch){
        .logits = pol_undef(REAL, rows, vocab),
        .product = gemm_scratch_larger(gemm_scratch_undef(rows, vocab, dim),
                                       gemm_scratch_larger(gemm_scratch_undef(rows, dim, vocab),
                                                           gemm_scratch_undef(vocab, dim, rows))),
    };
}

/* logits = their gradient: (softmax(logits) - 1 at the target) / rows of the batch */
static void differentiate_rows(const void *job, int64_t first, int64_t count)
{
    const struct chunk_job *const t = (const struct chunk_job *)job;
    for (int64_t r = first; r < first + count; r++) {
        real *const x = t->logits + r * t->vocab;
        for (int64_t j = 0; j < t->vocab; j++)
            x[j] = t->share * exp(x[j] - t->log_sum[r]);
        x[t->targets[r]] -= t->share;
    }
}

/* The chunk's rows of dx = dlogits w, and its part of the sum dw = dlogits^T x. */
static void add_chunk(const struct loss_backward_outputs *out, const struct loss_backward_args *a,
                      const struct loss_backward_scratch *s, int64_t first, int64_t count)
{
    const pol_array *const x = pol_primal(&a->x), *const w = pol_primal(&a->w);
    const int64_t vocab = w->dims[0], dim = w->dims[1];
    const real *const dlogits = pol_data(&s->logits, real);
    if (pol_is_array(&out->dx))
        gemm(&(struct gemm){.m = count,
                            .n = dim,
                            .k = vocab,
                            .a = dlogits,
                            .b = pol_data(w, real),
                            .c = pol_data(&out->dx, real) + first * dim},
             &s->product);
    if (pol_is_array(&out->dw))
        gemm(&(struct gemm){.m = vocab,
                            .n = dim,
                            .k = count,
                            .a = dlogits,
                            .a_transposed = true,
                            .b = pol_data(x, real) + first * dim,
                            .accumulate = first > 0,
                            .c = pol_data(&out->dw, real)},
             &s->product);
}

pol_status loss_backward(const struct loss_backward_outputs *out,
                         const struct loss_backward_args *a, const struct loss_backward_scratch *s)
{
    const pol_array *const x = pol_primal(&a->x), *const w = pol_primal(&a->w);
    const int64_t rows = x->dims[0];
    POL_TRY(check(x, w, &a->targets));
    POL_TRY(pol_expect("loss_backward: log_sum", &a->saved.log_sum, pol_undef(REAL, rows)));
    POL_TRY(pol_expect("loss_backward: logits", &s->logits, loss_backward_scratch(a).logits));
    if (!pol_is_absent(&out->dx))
        POL_TRY(pol_expect("loss_backward: dx", &out->dx, pol_undef_like(x)));
    if (!pol_is_absent(&out->dw))
        POL_TRY(pol_expect("loss_backward: dw", &out->dw, pol_undef_like(w)));

    for (int64_t first = 0; first < rows; first += CHUNK) {
        const int64_t count = chunk_at(first, rows);
        make_logits(&s->logits, x, w, first, count, &s->product);
        const struct chunk_job job = {
            .logits = pol_data(&s->logits, real),
            .targets = pol_data(&a->targets, int32_t) + first,
            .vocab = w->dims[0],
            .log_sum = pol_data(&a->saved.log_sum, real) + first,
            .share = 1 / (real)rows,
        };
        team_split(count, rows_of_a_part(16 * job.vocab), differentiate_rows, &job);
        add_chunk(out, a, s, first, count);
    }
    return POL_OK;
}

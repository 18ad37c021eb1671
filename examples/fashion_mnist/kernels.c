/* SPDX-License-Identifier: MIT */
/*
 * Plain loops in an order that compilers vectorize: the innermost one runs along memory in all its
 * operands. There is one matrix product; operands that it would walk across memory are transposed
 * first, into scratch.
 */
#include "kernels.h"

#include <math.h>
#include <string.h>

/* c (m, n) += a (m, k) b (k, n). Four rows of b at a time, so that an element of c is loaded and
   stored once for four products. */
static void add_product(float *restrict c, const float *restrict a, const float *restrict b,
                        int64_t m, int64_t k, int64_t n)
{
    for (int64_t i = 0; i < m; i++, a += k, c += n) {
        int64_t p = 0;
        for (; p + 4 <= k; p += 4) {
            const float a0 = a[p], a1 = a[p + 1], a2 = a[p + 2], a3 = a[p + 3];
            const float *const b0 = b + p * n;
            const float *const b1 = b0 + n, *const b2 = b1 + n, *const b3 = b2 + n;
            for (int64_t j = 0; j < n; j++)
                c[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
        }
        for (; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[j] += a[p] * b[p * n + j];
    }
}

/* to (n, m) = transpose of from (m, n) */
static void transpose(float *restrict to, const float *restrict from, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            to[j * m + i] = from[i * n + j];
}

static void fill_zero(const pol_array *a, int64_t n)
{
    memset(a->data, 0, (size_t)n * sizeof(float));
}

/* gather */

struct gather_outputs gather_outputs(const struct gather_args *a)
{
    return (struct gather_outputs){
        .x = pol_undef(POL_F32, a->count, PIXELS),
        .labels = pol_undef_like_dims(&a->samples.labels, a->count),
    };
}

pol_status gather(const struct gather_outputs *out, const struct gather_args *a)
{
    const int32_t *const order = pol_is_array(&a->order) ? pol_data(&a->order, int32_t) : NULL;
    const uint8_t *const images = pol_data(&a->samples.images, uint8_t);
    const uint8_t *const labels = pol_data(&a->samples.labels, uint8_t);
    float *x = pol_data(&out->x, float);
    uint8_t *const y = pol_data(&out->labels, uint8_t);

    for (int64_t i = 0; i < a->count; i++, x += PIXELS) {
        const int64_t at = order ? order[a->first + i] : a->first + i;
        const uint8_t *const image = images + at * PIXELS;
        for (int64_t j = 0; j < PIXELS; j++)
            x[j] = (float)image[j] * (1.0f / 255.0f);
        y[i] = labels[at];
    }
    return POL_OK;
}

/* dense */

struct dense_outputs dense_outputs(const struct dense_args *a)
{
    return (struct dense_outputs){.y = pol_undef_like_dims(&a->x, a->x.dims[0], a->w.dims[1])};
}

pol_status dense(const struct dense_outputs *out, const struct dense_args *a)
{
    const int64_t batch = a->x.dims[0], nin = a->w.dims[0], nout = a->w.dims[1];
    POL_TRY(pol_expect("dense: x", &a->x, pol_undef(POL_F32, batch, nin)));
    POL_TRY(pol_expect("dense: w", &a->w, pol_undef(POL_F32, nin, nout)));
    POL_TRY(pol_expect("dense: b", &a->b, pol_undef(POL_F32, nout)));
    POL_TRY(pol_expect("dense: y", &out->y, dense_outputs(a).y));
    float *const y = pol_data(&out->y, float);
    for (int64_t i = 0; i < batch; i++)
        memcpy(y + i * nout, a->b.data, (size_t)nout * sizeof(float));
    add_product(y, pol_data(&a->x, float), pol_data(&a->w, float), batch, nin, nout);
    return POL_OK;
}

struct dense_backward_outputs dense_backward_outputs(const struct dense_backward_args *a)
{
    return (struct dense_backward_outputs){
        .dx = pol_undef_like(pol_shadow(&a->x)),
        .dw = pol_undef_like(pol_shadow(&a->w)),
        .db = pol_undef_like(pol_shadow(&a->b)),
    };
}

struct dense_backward_scratch dense_backward_scratch(const struct dense_backward_args *a)
{
    const pol_array *const x = pol_primal(&a->x), *const w = pol_primal(&a->w);
    return (struct dense_backward_scratch){
        .xt = pol_undef_like_dims(x, x->dims[1], x->dims[0]),
        .wt = pol_undef_like_dims(pol_shadow(&a->x), w->dims[1], w->dims[0]),
    };
}

pol_status dense_backward(const struct dense_backward_outputs *out,
                          const struct dense_backward_args *a,
                          const struct dense_backward_scratch *s)
{
    const pol_array *const w = pol_primal(&a->w);
    const int64_t batch = a->dy.dims[0], nin = w->dims[0], nout = w->dims[1];
    const float *const dy = pol_data(&a->dy, float);

    if (pol_is_array(&out->dx)) {
        float *const wt = pol_data(&s->wt, float);
        transpose(wt, pol_data(w, float), nin, nout);
        fill_zero(&out->dx, batch * nin);
        add_product(pol_data(&out->dx, float), dy, wt, batch, nout, nin);
    }
    if (pol_is_array(&out->dw)) {
        float *const xt = pol_data(&s->xt, float);
        transpose(xt, pol_data(pol_primal(&a->x), float), batch, nin);
        fill_zero(&out->dw, nin * nout);
        add_product(pol_data(&out->dw, float), xt, dy, nin, batch, nout);
    }
    if (pol_is_array(&out->db)) {
        float *const db = pol_data(&out->db, float);
        fill_zero(&out->db, nout);
        for (int64_t i = 0; i < batch; i++)
            for (int64_t j = 0; j < nout; j++)
                db[j] += dy[i * nout + j];
    }
    return POL_OK;
}

/* relu */

struct relu_outputs relu_outputs(const struct relu_args *a)
{
    return (struct relu_outputs){.y = pol_undef_like(&a->x)};
}

struct relu_checkpoints relu_checkpoints(const struct relu_args *a)
{
    return (struct relu_checkpoints){.positive = pol_undef_like_type(&a->x, POL_U8)};
}

pol_status relu(const struct relu_outputs *out, const struct relu_args *a)
{
    int64_t n;
    POL_TRY(pol_len(&a->x, &n));
    const float *const x = pol_data(&a->x, float);
    float *const y = pol_data(&out->y, float);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    if (pol_is_array(&a->saved.positive)) {
        uint8_t *const positive = pol_data(&a->saved.positive, uint8_t);
        for (int64_t i = 0; i < n; i++)
            positive[i] = y[i] > 0;
    }
    return POL_OK;
}

struct relu_backward_outputs relu_backward_outputs(const struct relu_backward_args *a)
{
    return (struct relu_backward_outputs){.dx = pol_undef_like(&a->dy)};
}

pol_status relu_backward(const struct relu_backward_outputs *out,
                         const struct relu_backward_args *a)
{
    int64_t n;
    POL_TRY(pol_len(&a->dy, &n));
    const float *const dy = pol_data(&a->dy, float);
    const uint8_t *const positive = pol_data(&a->saved.positive, uint8_t);
    float *const dx = pol_data(&out->dx, float);
    for (int64_t i = 0; i < n; i++)
        dx[i] = positive[i] ? dy[i] : 0;
    return POL_OK;
}

/* softmax cross-entropy */

struct xent_outputs xent_outputs(const struct xent_args *a)
{
    (void)a;
    return (struct xent_outputs){
        .loss = pol_undef_scalar(POL_F32),
        .correct = pol_undef_scalar(POL_I32),
    };
}

struct xent_checkpoints xent_checkpoints(const struct xent_args *a)
{
    return (struct xent_checkpoints){.p = pol_undef_like(&a->logits)};
}

struct xent_scratch xent_scratch(const struct xent_args *a)
{
    return (struct xent_scratch){.e = pol_undef_like_dims(&a->logits, a->logits.dims[1])};
}

static int64_t argmax(const float *x, int64_t n)
{
    int64_t best = 0;
    for (int64_t j = 1; j < n; j++)
        if (x[j] > x[best])
            best = j;
    return best;
}

/* e = exp(x - top); returns the sum. Subtracting the largest keeps every exponential in range. */
static float exponentials(float *restrict e, const float *restrict x, float top, int64_t n)
{
    float sum = 0;
    for (int64_t j = 0; j < n; j++) {
        e[j] = expf(x[j] - top);
        sum += e[j];
    }
    return sum;
}

pol_status xent(const struct xent_outputs *out, const struct xent_args *a,
                const struct xent_scratch *s)
{
    const int64_t batch = a->logits.dims[0], classes = a->logits.dims[1];
    const float *x = pol_data(&a->logits, float);
    const uint8_t *const labels = pol_data(&a->labels, uint8_t);
    float *p = pol_is_array(&a->saved.p) ? pol_data(&a->saved.p, float) : NULL;
    float *const e = pol_data(&s->e, float);
    double loss = 0;
    int32_t correct = 0;

    for (int64_t i = 0; i < batch; i++, x += classes) {
        const int64_t best = argmax(x, classes);
        const float sum = exponentials(e, x, x[best], classes);
        loss += (double)(logf(sum) - (x[labels[i]] - x[best]));
        correct += best == labels[i];
        if (p)
            for (int64_t j = 0; j < classes; j++)
                *p++ = e[j] / sum;
    }
    *pol_data(&out->loss, float) = (float)(loss / (double)batch);
    *pol_data(&out->correct, int32_t) = correct;
    return POL_OK;
}

struct xent_backward_outputs xent_backward_outputs(const struct xent_backward_args *a)
{
    return (struct xent_backward_outputs){.dlogits = pol_undef_like(&a->saved.p)};
}

pol_status xent_backward(const struct xent_backward_outputs *out,
                         const struct xent_backward_args *a)
{
    const int64_t batch = a->saved.p.dims[0], classes = a->saved.p.dims[1];
    const float *const p = pol_data(&a->saved.p, float);
    const uint8_t *const labels = pol_data(&a->labels, uint8_t);
    float *const d = pol_data(&out->dlogits, float);
    const float share = 1.0f / (float)batch;

    for (int64_t i = 0; i < batch * classes; i++)
        d[i] = share * p[i];
    for (int64_t i = 0; i < batch; i++)
        d[i * classes + labels[i]] -= share;
    return POL_OK;
}

/* gradient descent */

struct sgd_outputs sgd_outputs(const struct sgd_args *a)
{
    return (struct sgd_outputs){
        .w = pol_undef_like(pol_primal(&a->w)),
        .velocity = pol_undef_like(&a->velocity),
    };
}

pol_status sgd(const struct sgd_outputs *out, const struct sgd_args *a)
{
    int64_t n;
    POL_TRY(pol_len(&out->w, &n));
    const float *const w = pol_data(pol_primal(&a->w), float);
    const float *const dw = pol_data(pol_shadow(&a->w), float);
    const float *const v = pol_data(&a->velocity, float);
    float *const new_w = pol_data(&out->w, float);
    float *const new_v = pol_data(&out->velocity, float);
    for (int64_t i = 0; i < n; i++) {
        new_v[i] = a->momentum * v[i] + dw[i];
        new_w[i] = w[i] - a->rate * new_v[i];
    }
    return POL_OK;
}

/* SPDX-License-Identifier: MIT */
#include "test_gradients_check.h"

#include "random.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* With the numbers here, what a step squared leaves out and what it rounds off are alike, and some
   hundred times smaller than what is allowed. */
static const double STEP = 1e-5, ALLOWED = 1e-6;

enum { TEAMS = 3, ELEMENTS = 16 }; /* of an argument, about, whose derivatives are looked at */

static uint64_t seed = 5;

pol_status random_array(struct guarded_space *g, pol_array *a, pol_array shape)
{
    int64_t n;
    POL_TRY(pol_len(&shape, &n));
    POL_TRY(pol_alloc(&g->space, a, shape));
    for (int64_t i = 0; i < n; i++)
        pol_data(a, real)[i] = 2 * (real)random_unit(&seed) - 1;
    return POL_OK;
}

pol_status random_tokens(struct guarded_space *g, pol_array *a, int64_t n, int32_t below)
{
    POL_TRY(pol_alloc(&g->space, a, pol_undef(POL_I32, n)));
    for (int64_t i = 0; i < n; i++)
        pol_data(a, int32_t)[i] = (int32_t)random_below(&seed, (uint32_t)below);
    return POL_OK;
}

static pol_status sum_of_products(double *sum, const pol_array *weights, const pol_array *x)
{
    int64_t n;
    POL_TRY(pol_len(x, &n));
    const real *const w = pol_data(weights, real), *const y = pol_data(x, real);
    for (int64_t i = 0; i < n; i++)
        *sum += (double)((w ? w[i] : 1) * y[i]);
    return POL_OK;
}

/* f, in a frame of its own. */
static pol_status evaluate(struct guarded_space *g, const struct gradient_case *c, double *f)
{
    pol_array out[OUTPUTS_MOST];
    pol_frame frame;
    *f = 0;
    pol_frame_begin(&frame, &g->space);
    pol_status status = pol_verb_call(c->forward, &frame, c->forward_args, out);
    for (size_t i = 0; i < c->forward->noutputs && status == POL_OK; i++)
        status = sum_of_products(f, c->weights[i], &out[i]);
    if (c->add && status == POL_OK)
        status = sum_of_products(f, c->add, c->x[0]);
    const pol_status ended = pol_frame_end(&frame);
    return status == POL_OK ? ended : status;
}

/* Compares some elements; *worst is the largest error, relative to the largest derivative. */
static pol_status compare(struct guarded_space *g, const struct gradient_case *c,
                          const pol_array *x, const pol_array *gradient, double *worst)
{
    int64_t n;
    POL_TRY(pol_len(x, &n));
    real *const at = pol_data(x, real);
    const real *const dx = pol_data(gradient, real);
    double largest = 0, error = 0;
    for (int64_t i = 0; i < n; i += 1 + n / ELEMENTS) {
        double above, below;
        const real before = at[i];
        at[i] = before + (real)STEP;
        POL_TRY(evaluate(g, c, &above));
        at[i] = before - (real)STEP;
        POL_TRY(evaluate(g, c, &below));
        at[i] = before;
        const double wanted = (above - below) / (2 * STEP);
        largest = fmax(largest, fabs(wanted));
        if (!(fabs((double)dx[i] - wanted) <= error)) /* NaN is the largest of errors */
            error = fabs((double)dx[i] - wanted);
    }
    if (!(error <= *worst * largest))
        *worst = error / largest;
    return POL_OK;
}

static pol_status copy_array(const pol_array *to, const pol_array *from)
{
    size_t nbytes;
    POL_TRY(pol_nbytes(from, &nbytes));
    if (!pol_is_array(to) || !pol_is_array(from))
        return pol_fail(POL_EINVAL, "copy_array: no memory");
    memcpy(to->data, from->data, nbytes);
    return POL_OK;
}

static pol_status same_bits(const char *name, const pol_array *x, const pol_array *y)
{
    size_t nbytes;
    POL_TRY(pol_nbytes(x, &nbytes));
    if (nbytes > 0 && memcmp(x->data, y->data, nbytes) != 0)
        return pol_fail(POL_EUSER, "%s: the result depends on the team", name);
    return POL_OK;
}

/* Calls backward with a team, on copies of the arguments that are written over. */
static pol_status run_backward(struct guarded_space *g, const struct gradient_case *c, int threads,
                               pol_array *out)
{
    pol_array override[OUTPUTS_MOST] = {0}, before[OUTPUTS_MOST] = {0};
    for (size_t i = 0; i < c->backward->noutputs; i++)
        if (c->places[i]) {
            override[i] = *c->places[i];
            POL_TRY(pol_alloc(&g->space, &before[i], pol_undef_like(c->places[i])));
            POL_TRY(copy_array(&before[i], c->places[i]));
        }
    POL_TRY(team_open(threads));
    const pol_status status =
        pol_verb_call_into(c->backward, &g->space, c->backward_args, out, override);
    team_close();
    POL_TRY(status);
    for (size_t i = 0; i < c->backward->noutputs; i++)
        if (c->places[i]) { /* the results move out, the argument comes back */
            POL_TRY(pol_alloc(&g->space, &out[i], pol_undef_like(c->places[i])));
            POL_TRY(copy_array(&out[i], c->places[i]));
            POL_TRY(copy_array(c->places[i], &before[i]));
        }
    return guarded_space_check(g);
}

pol_status check_gradients(struct guarded_space *g, const struct gradient_case *c)
{
    pol_array out[TEAMS][OUTPUTS_MOST] = {{{0}}};
    double worst = 0;
    for (int i = 0; i < TEAMS; i++)
        POL_TRY(run_backward(g, c, i + 1, out[i]));
    for (size_t i = 0; i < c->backward->noutputs; i++) {
        if (pol_is_absent(&out[0][i]) != !c->x[i])
            return pol_fail(POL_EUSER, "%s: output %zu is there, or absent, unasked", c->name, i);
        if (!c->x[i])
            continue;
        for (int k = 1; k < TEAMS; k++)
            POL_TRY(same_bits(c->name, &out[0][i], &out[k][i]));
        POL_TRY(compare(g, c, c->x[i], &out[0][i], &worst));
    }
    printf("%-44s %.1e\n", c->name, worst);
    if (!(worst <= ALLOWED))
        return pol_fail(POL_EUSER, "%s: off by %g of the largest derivative", c->name, worst);
    return guarded_space_check(g);
}

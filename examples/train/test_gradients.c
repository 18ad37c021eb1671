/* SPDX-License-Identifier: MIT */
/*
 * Every backward verb against central differences, compiled with double for float. The shapes are
 * odd, so that blocks, chunks and vectors have remainders, and large enough here and there that the
 * work is split over the team.
 */
#include "test_gradients_check.h"

#include <stdio.h>

static pol_status test_embed_of(struct guarded_space *g, int64_t rows, int32_t vocab, int64_t dim)
{
    pol_array tokens, w, dx, add;
    POL_TRY(random_tokens(g, &tokens, rows, vocab));
    POL_TRY(random_array(g, &w, pol_undef(REAL, vocab, dim)));
    POL_TRY(random_array(g, &dx, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &add, pol_undef(REAL, vocab, dim)));
    const struct embed_args forward = {.tokens = tokens, .w = w};
    struct embed_backward_args args = {
        .tokens = tokens, .w = pol_shadowed_like(&w, REAL), .dx = dx};
    struct gradient_case c = {.name = "embed_backward",
                              .forward = &embed_verb,
                              .forward_args = &forward,
                              .weights = {&dx},
                              .backward = &embed_backward_verb,
                              .backward_args = &args,
                              .x = {&w}};
    POL_TRY(check_gradients(g, &c));
    c.name = "embed_backward, add";
    args.add = add;
    c.add = &add;
    POL_TRY(check_gradients(g, &c));
    c.name = "embed_backward, add in place";
    c.places[0] = &add;
    POL_TRY(check_gradients(g, &c));
    c.name = "embed_backward, of a constant";
    args.w = pol_constant(w);
    c.x[0] = c.places[0] = NULL;
    return check_gradients(g, &c);
}

static pol_status test_linear_of(struct guarded_space *g, int64_t rows, int64_t nin, int64_t nout)
{
    pol_array x, w, dy, add;
    POL_TRY(random_array(g, &x, pol_undef(REAL, rows, nin)));
    POL_TRY(random_array(g, &w, pol_undef(REAL, nout, nin)));
    POL_TRY(random_array(g, &dy, pol_undef(REAL, rows, nout)));
    POL_TRY(random_array(g, &add, pol_undef(REAL, rows, nin)));
    const struct linear_args forward = {.x = x, .w = w};
    const pol_shadowed wanted = pol_shadowed_like(&x, REAL);
    struct linear_backward_args args = {.x = wanted, .w = pol_shadowed_like(&w, REAL), .dy = dy};
    struct gradient_case c = {.name = "linear_backward",
                              .forward = &linear_verb,
                              .forward_args = &forward,
                              .weights = {&dy},
                              .backward = &linear_backward_verb,
                              .backward_args = &args,
                              .x = {&x, &w}};
    POL_TRY(check_gradients(g, &c));
    c.name = "linear_backward, x constant";
    args.x = pol_constant(x);
    c.x[0] = NULL;
    POL_TRY(check_gradients(g, &c));
    c.name = "linear_backward, w constant, add";
    args.x = wanted;
    args.w = pol_constant(w);
    args.add = add;
    c.add = &add;
    c.x[0] = &x;
    c.x[1] = NULL;
    POL_TRY(check_gradients(g, &c));
    c.name = "linear_backward, w constant, add in place";
    c.places[0] = &add;
    return check_gradients(g, &c);
}

static pol_status test_norm_of(struct guarded_space *g, int64_t rows, int64_t dim)
{
    pol_array x, gain, dy;
    struct norm_outputs y;
    POL_TRY(random_array(g, &x, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &gain, pol_undef(REAL, dim)));
    POL_TRY(random_array(g, &dy, pol_undef(REAL, rows, dim)));
    const struct norm_args plain = {.x = x, .gain = gain};
    struct norm_args forward = plain;
    POL_TRY(pol_checkpoints(&g->space, norm, &forward, &forward.saved));
    POL_TRY(pol_call(norm, &g->space, &forward, &y));
    struct norm_backward_args args = {
        .x = pol_shadowed_like(&x, REAL),
        .gain = pol_shadowed_like(&gain, REAL),
        .saved = forward.saved,
        .dy = dy,
    };
    struct gradient_case c = {.name = "norm_backward",
                              .forward = &norm_verb,
                              .forward_args = &plain,
                              .weights = {&dy},
                              .backward = &norm_backward_verb,
                              .backward_args = &args,
                              .x = {&x, &gain}};
    POL_TRY(check_gradients(g, &c));
    c.name = "norm_backward, in place of dy";
    c.places[0] = &dy;
    POL_TRY(check_gradients(g, &c));
    c.name = "norm_backward, gain constant";
    c.places[0] = c.x[1] = NULL;
    args.gain = pol_constant(gain);
    POL_TRY(check_gradients(g, &c));
    c.name = "norm_backward, x constant";
    args.gain = pol_shadowed_like(&gain, REAL);
    args.x = pol_constant(x);
    c.x[0] = NULL;
    c.x[1] = &gain;
    return check_gradients(g, &c);
}

/* The gradient of the sum comes in as `add`; x and delta have the same one. */
static pol_status test_add_norm_of(struct guarded_space *g, int64_t rows, int64_t dim)
{
    pol_array x, delta, gain, dsum, dy;
    struct add_norm_outputs y;
    POL_TRY(random_array(g, &x, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &delta, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &gain, pol_undef(REAL, dim)));
    POL_TRY(random_array(g, &dsum, pol_undef(REAL, rows, dim)));
    POL_TRY(random_array(g, &dy, pol_undef(REAL, rows, dim)));
    const struct add_norm_args plain = {.x = x, .delta = delta, .gain = gain};
    struct add_norm_args forward = plain;
    POL_TRY(pol_checkpoints(&g->space, add_norm, &forward, &forward.saved));
    POL_TRY(pol_call(add_norm, &g->space, &forward, &y));
    const struct norm_backward_args args = {
        .x = pol_shadowed_like(&y.sum, REAL),
        .gain = pol_shadowed_like(&gain, REAL),
        .saved = forward.saved,
        .dy = dy,
        .add = dsum,
    };
    struct gradient_case c = {.name = "norm_backward of add_norm, to x",
                              .forward = &add_norm_verb,
                              .forward_args = &plain,
                              .weights = {&dsum, &dy},
                              .backward = &norm_backward_verb,
                              .backward_args = &args,
                              .x = {&x, &gain}};
    POL_TRY(check_gradients(g, &c));
    c.name = "norm_backward of add_norm, to delta, in place";
    c.x[0] = &delta;
    c.places[0] = &dsum;
    return check_gradients(g, &c);
}

static pol_status test_rotate_of(struct guarded_space *g, int64_t rows, int64_t first,
                                 int64_t period)
{
    enum { HEADS = 4, KV_HEADS = 2, HEAD_SIZE = 6, CONTEXT = 11 };
    const struct angles_args of_table = {.context = CONTEXT, .head_size = HEAD_SIZE};
    struct angles_outputs made;
    struct rotate_args forward = {.first = first, .period = period};
    struct rotate_args back = {.first = first, .period = period, .back = true};
    POL_TRY(pol_call(angles, &g->space, &of_table, &made));
    POL_TRY(random_array(g, &forward.q, pol_undef(REAL, rows, HEADS * HEAD_SIZE)));
    POL_TRY(random_array(g, &forward.k, pol_undef(REAL, rows, KV_HEADS * HEAD_SIZE)));
    POL_TRY(random_array(g, &forward.v, pol_undef(REAL, rows, KV_HEADS * HEAD_SIZE)));
    POL_TRY(random_array(g, &back.q, pol_undef_like(&forward.q)));
    POL_TRY(random_array(g, &back.k, pol_undef_like(&forward.k)));
    POL_TRY(random_array(g, &back.v, pol_undef_like(&forward.v)));
    forward.table = back.table = made.table;
    struct gradient_case c = {.name = "rotate, back",
                              .forward = &rotate_verb,
                              .forward_args = &forward,
                              .weights = {&back.q, &back.k, &back.v},
                              .backward = &rotate_verb,
                              .backward_args = &back,
                              .x = {&forward.q, &forward.k, &forward.v}};
    POL_TRY(check_gradients(g, &c));
    c.name = "rotate, back, in place";
    for (int i = 0; i < OUTPUTS_MOST; i++)
        c.places[i] = c.weights[i];
    return check_gradients(g, &c);
}

static pol_status test_gate_of(struct guarded_space *g, int64_t n)
{
    pol_array a, b, dy;
    POL_TRY(random_array(g, &a, pol_undef(REAL, n, 3)));
    POL_TRY(random_array(g, &b, pol_undef(REAL, n, 3)));
    POL_TRY(random_array(g, &dy, pol_undef(REAL, n, 3)));
    const struct gate_args forward = {.a = a, .b = b};
    struct gate_backward_args args = {
        .a = pol_shadowed_like(&a, REAL), .b = pol_shadowed_like(&b, REAL), .dy = dy};
    struct gradient_case c = {.name = "gate_backward",
                              .forward = &gate_verb,
                              .forward_args = &forward,
                              .weights = {&dy},
                              .backward = &gate_backward_verb,
                              .backward_args = &args,
                              .x = {&a, &b}};
    POL_TRY(check_gradients(g, &c));
    c.name = "gate_backward, in place of dy and b";
    c.places[0] = &dy;
    c.places[1] = &b;
    POL_TRY(check_gradients(g, &c));
    c.name = "gate_backward, in place of a and dy";
    c.places[0] = &a;
    c.places[1] = &dy;
    POL_TRY(check_gradients(g, &c));
    c.name = "gate_backward, a constant";
    args.a = pol_constant(a);
    c.x[0] = c.places[0] = c.places[1] = NULL;
    return check_gradients(g, &c);
}

/* Of small shapes, and of shapes that the team shares. */

static pol_status test_embed(struct guarded_space *g)
{
    POL_TRY(test_embed_of(g, 9, 5, 7));
    return test_embed_of(g, 500, 700, 40);
}

static pol_status test_linear(struct guarded_space *g)
{
    POL_TRY(test_linear_of(g, 1, 130, 519));
    POL_TRY(test_linear_of(g, 2, 1, 3));
    return test_linear_of(g, 131, 17, 261);
}

static pol_status test_norm(struct guarded_space *g)
{
    POL_TRY(test_norm_of(g, 1, 1));
    POL_TRY(test_norm_of(g, 3, 13));
    POL_TRY(test_norm_of(g, 20, 1001));
    POL_TRY(test_add_norm_of(g, 5, 19));
    return test_add_norm_of(g, 20, 1001);
}

static pol_status test_rotate(struct guarded_space *g)
{
    POL_TRY(test_rotate_of(g, 3, 10, 1));
    POL_TRY(test_rotate_of(g, 10, 0, 5));
    return test_rotate_of(g, 501, 4, 7);
}

static pol_status test_gate(struct guarded_space *g)
{
    POL_TRY(test_gate_of(g, 5));
    return test_gate_of(g, 801);
}

static pol_status run(struct guarded_space *g)
{
    pol_status (*const tests[])(struct guarded_space *) = {
        check_gemm,  test_embed, test_linear,    test_norm,
        test_rotate, test_gate,  test_attention, test_loss,
    };
    printf("%-44s error\n", "verb");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        POL_TRY(tests[i](g));
        POL_TRY(guarded_space_reset(g));
    }
    return POL_OK;
}

int main(void)
{
    static unsigned char memory[32 << 20];
    static struct guarded_space g;
    guarded_space_init(&g, memory, sizeof memory);
    if (run(&g) == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

/* SPDX-License-Identifier: MIT */
#include "net.h"

#include "random.h"

#include <math.h>
#include <string.h>

static const float MOMENTUM = 0.9f;

/* The network's memory */

static struct parameter parameter_undef(pol_array x)
{
    return (struct parameter){
        .at = pol_shadowed_like(&x, POL_F32),
        .velocity = pol_undef_like(&x),
    };
}

struct net net_undef(int64_t hidden)
{
    return (struct net){
        .w1 = parameter_undef(pol_undef(POL_F32, PIXELS, hidden)),
        .b1 = parameter_undef(pol_undef(POL_F32, hidden)),
        .w2 = parameter_undef(pol_undef(POL_F32, hidden, CLASSES)),
        .b2 = parameter_undef(pol_undef(POL_F32, CLASSES)),
    };
}

static void fill_zero(const pol_array *a, int64_t n)
{
    memset(a->data, 0, (size_t)n * sizeof(float));
}

/* Uniform, of a variance that neither grows nor shrinks a signal on its way (He). */
static void init_layer(const struct parameter *w, const struct parameter *b, uint64_t *random)
{
    const int64_t nin = w->at.primal.dims[0], nout = w->at.primal.dims[1];
    const float limit = sqrtf(6.0f / (float)nin);
    float *const x = pol_data(pol_primal(&w->at), float);
    for (int64_t i = 0; i < nin * nout; i++)
        x[i] = limit * (2 * random_unit(random) - 1);
    fill_zero(pol_primal(&b->at), nout);
    fill_zero(&w->velocity, nin * nout);
    fill_zero(&b->velocity, nout);
}

void net_init(const struct net *net, uint64_t seed)
{
    uint64_t random = seed;
    init_layer(&net->w1, &net->b1, &random);
    init_layer(&net->w2, &net->b2, &random);
}

/* The hidden layer: y = relu(x w + b). The values before relu die with the call: backward needs
   their signs alone, and those are the checkpoint. */
struct layer_checkpoints {
    struct relu_checkpoints relu;
};
struct layer_args {
    pol_array x, w, b;
    struct layer_checkpoints saved;
};
struct layer_outputs {
    pol_array y; /* (batch, hidden) */
};

static struct layer_outputs layer_outputs(const struct layer_args *a)
{
    return (struct layer_outputs){.y = pol_undef_like_dims(&a->x, a->x.dims[0], a->w.dims[1])};
}

static struct layer_checkpoints layer_checkpoints(const struct layer_args *a)
{
    const struct relu_args inner = {.x = layer_outputs(a).y};
    return (struct layer_checkpoints){.relu = relu_checkpoints(&inner)};
}

static pol_status layer(const struct layer_outputs *out, const struct layer_args *a,
                        pol_frame *frame)
{
    const struct dense_args linear = {.x = a->x, .w = a->w, .b = a->b};
    struct dense_outputs before;
    POL_TRY(pol_call(dense, frame, &linear, &before));

    const struct relu_args rectify = {.x = before.y, .saved = a->saved.relu};
    struct relu_outputs after;
    return pol_call_into(relu, frame, &rectify, &after, (struct relu_outputs){.y = out->y});
}
POL_ALLOCATING(layer, outputs, space);

struct layer_backward_args {
    pol_shadowed x, w, b;
    struct layer_checkpoints saved;
    pol_array dy; /* (batch, hidden) */
};
struct layer_backward_outputs {
    struct dense_backward_outputs shadows;
};

static struct layer_backward_outputs layer_backward_outputs(const struct layer_backward_args *a)
{
    const struct dense_backward_args linear = {.x = a->x, .w = a->w, .b = a->b};
    return (struct layer_backward_outputs){.shadows = dense_backward_outputs(&linear)};
}

static pol_status layer_backward(const struct layer_backward_outputs *out,
                                 const struct layer_backward_args *a, pol_frame *frame)
{
    const struct relu_backward_args rectify = {.dy = a->dy, .saved = a->saved.relu};
    struct relu_backward_outputs before;
    POL_TRY(pol_call(relu_backward, frame, &rectify, &before));

    const struct dense_backward_args linear = {.x = a->x, .w = a->w, .b = a->b, .dy = before.dx};
    struct dense_backward_outputs shadows;
    return pol_call_into(dense_backward, frame, &linear, &shadows, out->shadows);
}
POL_ALLOCATING(layer_backward, outputs, space);

/* A batch's way through the network, in the frame of its step. */
struct pass {
    struct gather_outputs batch;
    struct layer_checkpoints layer_saved; /* both absent unless a backward pass follows */
    struct xent_checkpoints xent_saved;
    struct layer_outputs hidden;
};

static pol_status forward(pol_frame *frame, const struct net *net, const struct gather_args *batch,
                          bool training, struct pass *pass, struct xent_outputs score)
{
    POL_TRY(pol_call(gather, frame, batch, &pass->batch));

    struct layer_args first = {.x = pass->batch.x, .w = net->w1.at.primal, .b = net->b1.at.primal};
    if (training)
        POL_TRY(pol_checkpoints(frame, layer, &first, &first.saved));
    POL_TRY(pol_call(layer, frame, &first, &pass->hidden));

    const struct dense_args second = {
        .x = pass->hidden.y, .w = net->w2.at.primal, .b = net->b2.at.primal};
    struct dense_outputs logits;
    POL_TRY(pol_call(dense, frame, &second, &logits));

    struct xent_args loss = {.logits = logits.y, .labels = pass->batch.labels};
    if (training)
        POL_TRY(pol_checkpoints(frame, xent, &loss, &loss.saved));
    struct xent_outputs written;
    POL_TRY(pol_call_into(xent, frame, &loss, &written, score));

    pass->layer_saved = first.saved;
    pass->xent_saved = loss.saved;
    return POL_OK;
}

/* Gradients go straight into the parameters' shadows, which are outputs of the backward verbs. */
static pol_status backward(pol_frame *frame, const struct net *net, const struct pass *pass)
{
    const struct xent_backward_args loss = {.labels = pass->batch.labels,
                                            .saved = pass->xent_saved};
    struct xent_backward_outputs from_loss;
    POL_TRY(pol_call(xent_backward, frame, &loss, &from_loss));

    const struct dense_backward_args second = {
        .x = pol_shadowed_like(&pass->hidden.y, POL_F32),
        .w = net->w2.at,
        .b = net->b2.at,
        .dy = from_loss.dlogits,
    };
    struct dense_backward_outputs from_second;
    POL_TRY(pol_call_into(
        dense_backward, frame, &second, &from_second,
        (struct dense_backward_outputs){.dw = net->w2.at.shadow, .db = net->b2.at.shadow}));

    /* Nobody asks for the gradient of the images: x is a constant, and half the work is saved. */
    const struct layer_backward_args first = {
        .x = pol_constant(pass->batch.x),
        .w = net->w1.at,
        .b = net->b1.at,
        .saved = pass->layer_saved,
        .dy = from_second.dx,
    };
    const struct dense_backward_outputs into = {.dw = net->w1.at.shadow, .db = net->b1.at.shadow};
    struct layer_backward_outputs from_first;
    return pol_call_into(layer_backward, frame, &first, &from_first,
                         (struct layer_backward_outputs){.shadows = into});
}

static pol_status descend(pol_frame *frame, const struct parameter *p, float rate)
{
    const struct sgd_args args = {
        .w = p->at, .velocity = p->velocity, .rate = rate, .momentum = MOMENTUM};
    struct sgd_outputs in_place;
    return pol_call_into(sgd, frame, &args, &in_place,
                         (struct sgd_outputs){.w = p->at.primal, .velocity = p->velocity});
}

/* The steps */

struct test_step_outputs test_step_outputs(const struct test_step_args *a)
{
    (void)a;
    return (struct test_step_outputs){
        .loss = pol_undef_scalar(POL_F32),
        .correct = pol_undef_scalar(POL_I32),
    };
}

pol_status test_step(const struct test_step_outputs *out, const struct test_step_args *a,
                     pol_frame *frame)
{
    const struct xent_outputs score = {.loss = out->loss, .correct = out->correct};
    struct pass pass;
    return forward(frame, a->net, &a->batch, false, &pass, score);
}

struct train_step_outputs train_step_outputs(const struct train_step_args *a)
{
    (void)a;
    return (struct train_step_outputs){
        .loss = pol_undef_scalar(POL_F32),
        .correct = pol_undef_scalar(POL_I32),
    };
}

pol_status train_step(const struct train_step_outputs *out, const struct train_step_args *a,
                      pol_frame *frame)
{
    const struct xent_outputs score = {.loss = out->loss, .correct = out->correct};
    struct pass pass;
    POL_TRY(forward(frame, a->net, &a->batch, true, &pass, score));
    POL_TRY(backward(frame, a->net, &pass));
    POL_TRY(descend(frame, &a->net->w1, a->rate));
    POL_TRY(descend(frame, &a->net->b1, a->rate));
    POL_TRY(descend(frame, &a->net->w2, a->rate));
    return descend(frame, &a->net->b2, a->rate);
}

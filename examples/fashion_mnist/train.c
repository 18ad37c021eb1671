/* SPDX-License-Identifier: MIT */
#include "train.h"

#include "console.h"
#include "random.h"
#include "report.h"

static const float FIRST_RATE = 0.1f; /* falls to 0 over the run, in a straight line */

static int64_t count_images(const struct samples *samples)
{
    return samples->images.dims[0];
}

/* The images of the batch that starts at `first`: the last one of an epoch may be smaller. */
static int64_t batch_at(const struct run *r, const struct samples *samples, int64_t first)
{
    const int64_t batch = (int64_t)r->options->batch, left = count_images(samples) - first;
    return left < batch ? left : batch;
}

static int64_t steps_of_epoch(const struct run *r)
{
    const int64_t batch = (int64_t)r->options->batch;
    return (count_images(&r->data.train) + batch - 1) / batch;
}

/* One step on one batch, in a frame of its own that takes everything back */

static void add_figures(struct figures *sums, const pol_array *loss, const pol_array *correct,
                        int64_t images)
{
    sums->loss += (double)*pol_data(loss, float) * (double)images;
    sums->correct += *pol_data(correct, int32_t);
    sums->images += images;
}

static pol_status train_batch(const struct run *r, pol_space *space, int64_t first, float rate,
                              struct figures *sums)
{
    const struct samples *const samples = &r->data.train;
    const int64_t count = batch_at(r, samples, first);
    const struct train_step_args args = {
        .net = &r->state.net,
        .batch = {*samples, .order = r->state.order, .first = first, .count = count},
        .rate = rate,
    };
    POL_SCRATCHSPACE(step, space) {
        struct train_step_outputs score;
        POL_TRY(pol_call(train_step, step, &args, &score));
        if (!pol_is_measuring(step))
            add_figures(sums, &score.loss, &score.correct, count);
    }
    return POL_OK;
}

static pol_status test_batch(const struct run *r, pol_space *space, int64_t first,
                             struct figures *sums)
{
    const struct samples *const samples = &r->data.test;
    const int64_t count = batch_at(r, samples, first);
    const struct test_step_args args = {
        .net = &r->state.net,
        .batch = {*samples, .first = first, .count = count},
    };
    POL_SCRATCHSPACE(step, space) {
        struct test_step_outputs score;
        POL_TRY(pol_call(test_step, step, &args, &score));
        if (!pol_is_measuring(step))
            add_figures(sums, &score.loss, &score.correct, count);
    }
    return POL_OK;
}

/* The run */

struct state state_undef(const struct options *o, const struct dataset *data)
{
    return (struct state){
        .net = net_undef((int64_t)o->hidden),
        .order = pol_undef(POL_I32, count_images(&data->train)),
    };
}

/* The same steps that the run is made of, in the same order above the same state. */
pol_status train_measure(const struct options *o, const struct dataset *data, size_t *nbytes)
{
    struct run dry = {.options = o, .data = *data};
    pol_arena measure;
    POL_TRY(pol_arena_measure(&measure, 0));
    POL_TRY(pol_alloc(&measure, &dry.state, state_undef(o, data)));
    POL_TRY(train_rehearse(&dry, &measure.space));
    *nbytes = pol_watermark(&measure);
    return POL_OK;
}

pol_status train_rehearse(const struct run *r, pol_space *space)
{
    struct figures ignored = {0};
    POL_TRY(train_batch(r, space, 0, 0.0f, &ignored));
    return test_batch(r, space, 0, &ignored);
}

void train_init(struct run *r)
{
    int32_t *const order = pol_data(&r->state.order, int32_t);
    for (int64_t i = 0; i < count_images(&r->data.train); i++)
        order[i] = (int32_t)i;
    r->random = r->options->seed;
    r->steps = 0;
    r->all_steps = (int64_t)r->options->epochs * steps_of_epoch(r);
    net_init(&r->state.net, random_next(&r->random));
}

static void shuffle(int32_t *order, int64_t n, uint64_t *random)
{
    for (int64_t i = n - 1; i > 0; i--) {
        const uint32_t j = random_below(random, (uint32_t)i + 1);
        const int32_t moved = order[i];
        order[i] = order[j];
        order[j] = moved;
    }
}

static float rate_now(const struct run *r)
{
    return FIRST_RATE * (1 - (float)r->steps / (float)r->all_steps);
}

pol_status train_epoch(struct run *r, pol_space *space, uint64_t epoch, struct figures *sums)
{
    const int64_t n = count_images(&r->data.train);
    const double start = seconds_now();
    *sums = (struct figures){0};
    shuffle(pol_data(&r->state.order, int32_t), n, &r->random);
    for (int64_t first = 0; first < n; first += batch_at(r, &r->data.train, first)) {
        POL_TRY(train_batch(r, space, first, rate_now(r), sums));
        r->steps++;
        report_progress(r->options, epoch, sums, n);
    }
    sums->seconds = seconds_now() - start;
    return POL_OK;
}

pol_status train_test(const struct run *r, pol_space *space, struct figures *sums)
{
    const int64_t n = count_images(&r->data.test);
    const double start = seconds_now();
    *sums = (struct figures){0};
    for (int64_t first = 0; first < n; first += batch_at(r, &r->data.test, first))
        POL_TRY(test_batch(r, space, first, sums));
    sums->seconds = seconds_now() - start;
    return POL_OK;
}

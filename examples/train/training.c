/* SPDX-License-Identifier: MIT */
/*
 * Everything that is drawn comes from one seed, in an order that no thread can change, so equal
 * runs leave equal models, byte for byte.
 */
#include "training.h"

#include "batch.h"
#include "console.h"
#include "interrupt.h"
#include "random.h"
#include "report.h"

#include <math.h>
#include <string.h>

enum { VALIDATION_BATCHES = 4, WEIGHTS = pol_count_arrays((struct weights *)NULL) };

pol_status training_open(struct training *t, const struct options *o, const struct config *c,
                         pol_arena *arena)
{
    *t = (struct training){.options = o, .config = c};
    POL_TRY(pol_alloc(arena, &t->curve, curve_undef((int64_t)o->steps)));
    return state_open(&t->state, arena, c, (int64_t)o->batch);
}

pol_status training_rehearse(const struct training *t, pol_arena *arena)
{
    const struct step step = training_step(t->options, t->config, 1);
    double ignored = 0;
    POL_TRY(step_train(&t->state, arena, &step, &ignored));
    return step_loss(&t->state, arena, &step, &ignored);
}

/* The rate rises in a straight line, then falls along a cosine to a tenth. */
static double rate_at(const struct options *o, int64_t number)
{
    const double done = (double)number, warmup = (double)o->warmup, floor = 0.1 * o->rate;
    if (done < warmup)
        return o->rate * done / warmup;
    const double rest = (double)o->steps - warmup;
    const double progress = rest > 0 ? (done - warmup) / rest : 0;
    return floor + (o->rate - floor) * 0.5 * (1 + cos(3.14159265358979323846 * progress));
}

struct step training_step(const struct options *o, const struct config *c, int64_t number)
{
    return (struct step){
        .config = c,
        .batch = (int64_t)o->batch,
        .recompute = o->recompute,
        .number = number,
        .rate = rate_at(o, number),
        .decay = o->decay,
        .clip = o->clip,
    };
}

/* The first weights */

/* Of mean 0 and deviation 1, and near enough to normal. */
static double draw_normal(uint64_t *random)
{
    double sum = -2;
    for (int i = 0; i < 4; i++)
        sum += (double)random_unit(random);
    return 1.7320508075688772 * sum;
}

/* What is added to the stream starts small, the smaller the more layers add. A gain starts as 1. */
static void init_array(const struct weights *w, const pol_array *a, int64_t layers,
                       uint64_t *random)
{
    const bool is_gain = a == &w->norm_att || a == &w->norm_ffn || a == &w->norm_final;
    const bool is_added = a == &w->wo || a == &w->w2;
    const double deviation = is_added ? 0.02 / sqrt(2 * (double)layers) : 0.02;
    real *const x = pol_data(a, real);
    int64_t n = 0;
    if (pol_len(a, &n) != POL_OK)
        return; /* it is absent */
    for (int64_t i = 0; i < n; i++)
        x[i] = is_gain ? (real)1 : (real)(deviation * draw_normal(random));
}

/* The padding between arrays too: all gradients are one array to the optimizer. */
static void clear(const struct part *p)
{
    memset(p->flat.data, 0, (size_t)p->flat.dims[0] * sizeof(real));
}

static void init(const struct training *t, uint64_t *random)
{
    const struct state *const s = &t->state;
    const pol_array *const w = pol_arrays(&s->w.at);
    clear(&s->w);
    clear(&s->dw);
    clear(&s->m);
    clear(&s->v);
    for (int i = 0; i < WEIGHTS; i++)
        if (!pol_is_absent(&w[i]))
            init_array(&s->w.at, &w[i], t->config->layers, random);
    curve_clear(&t->curve);
}

/* The steps */

static pol_status check_loss(double loss, int64_t number)
{
    if (isfinite(loss))
        return POL_OK;
    return pol_fail(POL_EUSER,
                    "the loss is no finite number at step %lld; a lower --rate or --clip may help",
                    (long long)number);
}

/* Since the last line of progress, and since the first step. */
struct pace {
    double loss, seconds;
    int64_t steps;
    double start;
};

static pol_status train(const struct training *t, const struct texts *texts, pol_arena *arena,
                        const struct step *step, uint64_t *random, struct pace *pace)
{
    const double start = seconds_now();
    double loss = 0;
    batch_draw(&t->state, &texts->training, t->config->context, random);
    POL_TRY(step_train(&t->state, arena, step, &loss));
    POL_TRY(check_loss(loss, step->number));
    series_add(&t->curve.training, step->number, (int64_t)t->options->steps, loss);
    pace->loss += loss;
    pace->seconds += seconds_now() - start;
    pace->steps++;
    return POL_OK;
}

static pol_status validate(const struct training *t, const struct texts *texts, pol_arena *arena,
                           const struct step *step, double *mean)
{
    double sum = 0;
    for (int64_t i = 0; i < VALIDATION_BATCHES; i++) {
        double loss = 0;
        batch_spread(&t->state, &texts->validation, t->config->context, i, VALIDATION_BATCHES);
        POL_TRY(step_loss(&t->state, arena, step, &loss));
        sum += loss;
    }
    *mean = sum / VALIDATION_BATCHES;
    POL_TRY(check_loss(*mean, step->number));
    series_add(&t->curve.validation, step->number, (int64_t)t->options->steps, *mean);
    return POL_OK;
}

static struct progress progress_of(const struct training *t, const struct step *step,
                                   const struct pace *pace)
{
    const double seconds = pace->seconds > 1e-9 ? pace->seconds : 1e-9;
    const double each = (seconds_now() - pace->start) / (double)step->number;
    const int64_t tokens = pace->steps * step->batch * step->config->context;
    return (struct progress){
        .step = step->number,
        .steps = (int64_t)t->options->steps,
        .training = pace->loss / (double)pace->steps,
        .rate = step->rate,
        .tokens_per_second = (double)tokens / seconds,
        .seconds_left = each * (double)((int64_t)t->options->steps - step->number),
    };
}

/* Ends a stretch of steps: looks at the validation part, writes a line, counts from 0 again. */
static pol_status end_stretch(const struct training *t, const struct texts *texts, pol_arena *arena,
                              const struct step *step, struct pace *pace, struct figures *f)
{
    struct progress p = progress_of(t, step, pace);
    POL_TRY(validate(t, texts, arena, step, &p.validation));
    report_line(&p);
    f->training = p.training;
    f->validation = p.validation;
    f->tokens += pace->steps * step->batch * step->config->context;
    f->seconds += pace->seconds;
    *pace = (struct pace){.start = pace->start};
    return POL_OK;
}

pol_status training_run(const struct training *t, const struct texts *texts, pol_arena *arena,
                        struct figures *f)
{
    const int64_t steps = (int64_t)t->options->steps, stretch = (int64_t)t->options->validate;
    uint64_t random = t->options->seed;
    struct step step = training_step(t->options, t->config, 0);
    init(t, &random);
    POL_TRY(validate(t, texts, arena, &step, &f->validation));
    report_first(f->validation, steps);

    struct pace pace = {.start = seconds_now()};
    for (bool last = false; !last;) {
        step = training_step(t->options, t->config, ++f->steps);
        POL_TRY(train(t, texts, arena, &step, &random, &pace));
        last = f->steps == steps || interrupt_came();
        if (last || f->steps % stretch == 0) {
            POL_TRY(end_stretch(t, texts, arena, &step, &pace, f));
        } else {
            const struct progress p = progress_of(t, &step, &pace);
            report_progress(&p);
        }
    }
    return POL_OK;
}

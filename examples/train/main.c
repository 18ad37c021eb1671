/* SPDX-License-Identifier: MIT */
/*
 * Trains a language model on text files, without the heap.
 *
 * First the program runs without memory: its own set-up, and a step of each kind, on a measuring
 * arena. That gives the slab. Then it takes the slab, and from there on every buffer is carved from
 * it: at the bottom the tokens, the parameters, and what stays as long as they do; above them, step
 * after step, one frame.
 */
#include "console.h"
#include "heap_count.h"
#include "interrupt.h"
#include "outputs.h"
#include "report.h"
#include "resident.h"
#include "team.h"

/* Resident beside the slab and the mapped files: the program, the C library, threads' stacks, and
   whole pages where parts of one are used. A process that takes half of that before the slab is
   there has a tool in it, such as Valgrind, whose memory nobody can tell from ours. */
static const size_t RESIDENT_ALLOWANCE = (size_t)16 << 20;

struct run {
    const struct options *options;
    struct config config;
    struct texts texts;
    struct training training;
};

static struct config config_of(const struct options *o, int64_t vocab)
{
    return (struct config){
        .dim = (int64_t)o->dim,
        .hidden = (int64_t)o->hidden,
        .layers = (int64_t)o->layers,
        .heads = (int64_t)o->heads,
        .kv_heads = (int64_t)o->kv_heads,
        .vocab = vocab,
        .context = (int64_t)o->context,
    };
}

/* Everything that lies in the slab, whether the slab is there or only measured. */
static pol_status set_up(struct run *r, pol_arena *arena)
{
    POL_TRY(texts_set_up(&r->texts, arena));
    return training_open(&r->training, r->options, &r->config, arena);
}

static pol_status measure(const struct run *r, size_t *slab)
{
    struct run dry = *r; /* the same run, with memory that is not there */
    pol_arena arena;
    size_t machine;
    POL_TRY(pol_arena_measure(&arena, 0));
    POL_TRY(set_up(&dry, &arena));
    POL_TRY(training_rehearse(&dry.training, &arena));
    *slab = pol_watermark(&arena);
    if (!resident_machine(&machine) || *slab <= machine)
        return POL_OK;
    char needed[GROUPED_BYTES], there[GROUPED_BYTES];
    return pol_fail(POL_EUSER,
                    "the run needs %s bytes where the machine has %s; --plan says what for",
                    grouped(needed, *slab), grouped(there, machine));
}

/* Where the slab went, and where it would have. */
static pol_status account(const struct run *r, struct summary *s)
{
    struct step step = training_step(r->options, &r->config, 1);
    POL_TRY(plan_measure(&s->plan, &step));
    POL_TRY(plan_by_hand(&s->by_hand[0], &step, false));
    POL_TRY(plan_by_hand(&s->by_hand[1], &step, true));
    step.recompute = !step.recompute;
    POL_TRY(plan_measure(&s->other, &step));
    POL_TRY(pol_nbytes(&r->texts.memory.tokens, &s->tokens));
    s->texts = r->texts.nbytes;
    s->tables = s->slab - s->plan.total - s->tokens;
    return POL_OK;
}

/* The claims of the table; a program that is copied from had better check them. */
static pol_status check(const struct run *r, const struct summary *s)
{
    const size_t mapped = r->texts.largest + r->texts.tokenizer.file.nbytes;
    const size_t allowed = s->slab + mapped + RESIDENT_ALLOWANCE;
    if (s->watermark != s->slab)
        return pol_fail(POL_EUSER, "the run reached %zu bytes, its dry run %zu", s->watermark,
                        s->slab);
    if (s->counted && s->allocations > 0)
        return pol_fail(POL_EUSER, "%zu heap allocations after set-up", s->allocations);
    if (s->resident_is_ours && s->resident > allowed)
        return pol_fail(POL_EUSER, "%zu bytes were resident where %zu would do", s->resident,
                        allowed);
    return POL_OK;
}

static pol_status train(struct run *r, pol_arena *arena, struct summary *s)
{
    const struct options *const o = r->options;
    POL_TRY(report_start(o, &r->texts, s->slab));
    interrupt_remember();
    heap_count_begin();
    POL_TRY(training_run(&r->training, &r->texts, arena, &s->figures));
    POL_TRY(model_file_write(o->out, &r->config, &r->training.state.w.at));
    s->allocations = heap_count_end();
    s->watermark = pol_watermark(arena);
    if (!resident_peak(&s->resident))
        s->resident = 0;
    return POL_OK;
}

static pol_status tell(const struct run *r, struct summary *s)
{
    POL_TRY(account(r, s));
    POL_TRY(report_summary(r->options, s));
    return check(r, s);
}

static pol_status draw(const struct run *r)
{
    const struct options *const o = r->options;
    POL_TRY(curve_write(o->curve, &r->training.curve, (int64_t)o->steps));
    return report_curve(o->curve);
}

/* The curve comes last, and though the rest fail: whichever is lost, the other is not. */
static pol_status finish(const struct run *r, struct summary *s)
{
    const pol_status told = tell(r, s);
    const pol_status drawn = r->options->curve ? draw(r) : POL_OK;
    return told != POL_OK ? told : drawn;
}

static pol_status run(struct run *r)
{
    struct summary s = {.counted = heap_count_works()};
    s.resident_is_ours =
        s.counted && resident_peak(&s.resident) && s.resident < RESIDENT_ALLOWANCE / 2;
    POL_TRY(texts_open(&r->texts, r->options));
    r->config = config_of(r->options, r->texts.tokenizer.vocab);
    POL_TRY(config_check(&r->config));
    POL_TRY(outputs_check(r->options));
    POL_TRY(team_open((int)r->options->threads));
    POL_TRY(measure(r, &s.slab));

    /* Everything is in this frame: however the block is left, the system gets its pages back. */
    POL_SCRATCHSPACE(memory, pol_pages()) {
        /* The watermark alone will do, without pol_arena_budget()'s allowance for a slab that
           starts anywhere: the one that pol_arena_open() draws is aligned. */
        pol_arena arena;
        POL_TRY(pol_arena_open(&arena, memory, s.slab, 0));
        POL_TRY(set_up(r, &arena));
        POL_TRY(train(r, &arena, &s));
        POL_TRY(finish(r, &s));
    }
    return POL_OK;
}

/* The table of --plan; a tokenizer's file is all that it reads. */
static pol_status plan(struct run *r)
{
    const struct options *const o = r->options;
    if (o->tokenizer)
        POL_TRY(tokenizer_open(&r->texts.tokenizer, o->tokenizer, 0));
    const int64_t vocab = o->tokenizer ? r->texts.tokenizer.vocab : (int64_t)o->vocab;
    const struct config config = config_of(o, vocab);
    const struct step step = training_step(o, &config, 1);
    POL_TRY(config_check(&config));
    POL_TRY(team_open((int)o->threads)); /* each thread has scratch of its own */
    POL_TRY(plan_print(stdout, &step));
    return report_flush();
}

static pol_status do_as_told(struct run *r)
{
    if (r->options->help) {
        options_print_help();
        return report_flush();
    }
    return r->options->plan ? plan(r) : run(r);
}

int main(int argc, char **argv)
{
    struct options options;
    struct run r = {.options = &options};
    interrupt_leave_writes();
    pol_status status = options_read(&options, argc, argv);
    if (status == POL_OK)
        status = do_as_told(&r);
    report_break();
    const int result = status == POL_OK ? 0 : complain("train", pol_last_error());
    team_close();
    texts_close(&r.texts);
    return result;
}

/* SPDX-License-Identifier: MIT */
/*
 * Trains a two-layer network on Fashion-MNIST without the heap.
 *
 * First the program runs without memory: its own steps, on a measuring arena. That gives the slab.
 * Then it takes the slab, and from there on every buffer is carved from it: the parameters with
 * their gradients at the bottom, and above them, batch after batch, the frame of a step.
 */
#include "console.h"
#include "heap_count.h"
#include "keeping.h"
#include "report.h"

/* What must be closed whatever happens. Memory is not in it: that hangs on a frame. */
struct files {
    struct dataset_files data;
    FILE *output;
};

/* Runs a step of each kind in a space that counts what frames save. The steps are real, so this
   comes before the parameters get their values. */
static pol_status measure_kept(struct run *r, pol_arena *arena, size_t *nbytes)
{
    struct keeping keeping;
    train_init(r); /* the order must be a permutation, the weights must be numbers */
    POL_TRY(keeping_init(&keeping, arena));
    POL_TRY(train_rehearse(r, &keeping.space));
    *nbytes = keeping_nbytes(&keeping);
    return POL_OK;
}

static pol_status train(struct run *r, pol_arena *arena, FILE *output, struct summary *s)
{
    train_init(r);
    for (uint64_t epoch = 1; epoch <= r->options->epochs; epoch++) {
        struct figures figures;
        POL_TRY(train_epoch(r, &arena->space, epoch, &figures));
        POL_TRY(train_test(r, &arena->space, &s->test));
        report_epoch(output, r->options, epoch, &figures, &s->test);
        s->train.images += figures.images;
        s->train.seconds += figures.seconds;
    }
    return POL_OK;
}

/* The claims of the table; a program that is copied from had better check them. */
static pol_status check(const struct summary *s)
{
    if (s->watermark != s->slab)
        return pol_fail(POL_EUSER, "the run reached %zu bytes, its dry run %zu", s->watermark,
                        s->slab);
    if (s->counted && s->allocations > 0)
        return pol_fail(POL_EUSER, "%zu heap allocations after set-up", s->allocations);
    return POL_OK;
}

static pol_status run(const struct options *o, struct files *files)
{
    struct run r = {.options = o};
    struct summary s = {.counted = heap_count_works()};
    struct dataset description;
    POL_TRY(dataset_open(&files->data, o->data, &description));
    POL_TRY(train_measure(o, &description, &s.slab));

    /* Everything is in this frame: however the block is left, the system gets its pages back. */
    POL_SCRATCHSPACE(memory, pol_pages()) {
        POL_TRY(pol_alloc(memory, &r.data, description));
        POL_TRY(dataset_read(&files->data, &r.data));

        /* The watermark alone will do, without pol_arena_budget()'s allowance for a slab that
           starts anywhere: the one that pol_arena_open() draws is aligned. */
        pol_arena arena;
        POL_TRY(pol_arena_open(&arena, memory, s.slab, 0));
        POL_TRY(pol_alloc(&arena, &r.state, state_undef(o, &r.data)));
        POL_TRY(report_open(&files->output, o->output));
        POL_TRY(measure_kept(&r, &arena, &s.kept));
        report_plan(o, &r.data, s.slab);

        heap_count_begin();
        POL_TRY(train(&r, &arena, files->output, &s));
        s.allocations = heap_count_end();
        s.watermark = pol_watermark(&arena);
    }
    POL_TRY(report_close(&files->output, o->output));
    POL_TRY(report_summary(&s));
    return check(&s);
}

int main(int argc, char **argv)
{
    struct options options;
    struct files files = {0};
    if (options_read(&options, argc, argv) != POL_OK)
        return complain("fashion_mnist", pol_last_error());
    if (options.help) {
        options_print_help();
        return fflush(stdout) == 0 ? 0 : complain("fashion_mnist", "cannot write: standard output");
    }
    const pol_status status = run(&options, &files);
    dataset_close(&files.data);
    if (files.output)
        (void)fclose(files.output); /* after a failure that has been told */
    return status == POL_OK ? 0 : complain("fashion_mnist", pol_last_error());
}

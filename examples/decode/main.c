/* SPDX-License-Identifier: MIT */
/*
 * Continues texts by a language model, without the heap.
 *
 * The weights are borrowed: they are used where they lie in the mapped file. For all else, the
 * program first runs without memory, on a measuring arena, which gives the size of a slab; and then
 * again in that slab, from which every buffer comes. Each job has an arena of its own there: at its
 * bottom the cache of keys and values, and above it, position after position, the frame of a step.
 */
#include "console.h"
#include "heap_count.h"
#include "jobs.h"
#include "report.h"

#include <stdio.h>

/* What must be closed whatever happens. Memory is not in it: that hangs on a frame. */
struct files {
    struct model_file model;
    struct texts texts;
};

/* Everything that lies in the slab, whether the slab is there or only measured. */
static pol_status set_up(struct texts *texts, struct jobs *jobs, pol_arena *arena,
                         struct summary *s)
{
    POL_TRY(texts_set_up(texts, arena));
    s->shared = pol_arena_offset(arena);
    POL_TRY(jobs_open(jobs, texts, arena));
    s->jobs = jobs->n;
    s->caches = (size_t)jobs->n * jobs->cache_nbytes;
    s->in_steps = (size_t)jobs->n * (jobs->job_nbytes - jobs->cache_nbytes);
    return POL_OK;
}

static pol_status measure(const struct texts *texts, struct jobs *jobs, struct summary *s)
{
    struct texts dry = *texts; /* the same texts, with memory that is not there */
    pol_arena arena;
    POL_TRY(pol_arena_measure(&arena, 0));
    POL_TRY(set_up(&dry, jobs, &arena, s));
    s->slab = pol_watermark(&arena);
    return POL_OK;
}

static pol_status decode(const struct texts *texts, struct jobs *jobs, struct summary *s)
{
    POL_TRY(jobs_start(jobs));
    heap_count_begin();
    const double start = seconds_now();
    POL_TRY(jobs_finish(jobs));
    s->seconds = seconds_now() - start;
    POL_TRY(texts_write(texts));
    s->allocations = heap_count_end();
    s->steps = texts_count_steps(texts);
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

static pol_status run(const struct options *o, struct files *files, struct jobs *jobs)
{
    struct summary s = {.counted = heap_count_works()};
    POL_TRY(model_file_open(&files->model, o->model));
    POL_TRY(texts_open(&files->texts, o, &files->model));
    POL_TRY(measure(&files->texts, jobs, &s));
    s.weights = files->model.file.nbytes;

    /* Everything is in this frame: however the block is left, the system gets its pages back. */
    POL_SCRATCHSPACE(memory, pol_pages()) {
        /* The watermark alone will do, without pol_arena_budget()'s allowance for a slab that
           starts anywhere: the one that pol_arena_open() draws is aligned. */
        pol_arena arena;
        POL_TRY(pol_arena_open(&arena, memory, s.slab, 0));
        POL_TRY(set_up(&files->texts, jobs, &arena, &s));
        POL_TRY(decode(&files->texts, jobs, &s));
        s.watermark = pol_watermark(&arena) - jobs_unreached(jobs);
        POL_TRY(jobs_close(jobs));
    }
    report_summary(&s);
    return check(&s);
}

int main(int argc, char **argv)
{
    struct options options;
    struct files files = {.model = {.file = {.data = NULL}}};
    struct jobs jobs;
    if (options_read(&options, argc, argv) != POL_OK)
        return complain("decode", pol_last_error());
    if (options.help) {
        options_print_help();
        return fflush(stdout) == 0 ? 0 : complain("decode", "cannot write: standard output");
    }
    const pol_status status = run(&options, &files, &jobs);
    const int result = status == POL_OK ? 0 : complain("decode", pol_last_error());
    texts_close(&files.texts);
    model_file_close(&files.model);
    return result;
}

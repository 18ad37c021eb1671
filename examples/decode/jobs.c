/* SPDX-License-Identifier: MIT */
/*
 * What a job does to its arena is measured first, by the same code; so all arenas can be opened,
 * one after the other, in a slab that is exactly large enough.
 */
#include "jobs.h"

#include <stdio.h>

/* What a job has in its arena: the cache, which stays, and above it a step, which comes and
   goes. */
static pol_status measure_job(struct jobs *j, const struct texts *t)
{
    pol_arena measure;
    struct cache cache;
    int32_t next;
    POL_TRY(pol_arena_measure(&measure, 0));
    POL_TRY(pol_alloc(&measure, &cache, cache_undef(&t->model->config, t->steps)));
    j->cache_nbytes = pol_arena_offset(&measure);
    POL_TRY(texts_step(t, &cache, POL_SPACE(&measure), 0, TOKEN_START, 0.0f, &next));
    j->job_nbytes = pol_watermark(&measure);
    return POL_OK;
}

pol_status jobs_open(struct jobs *j, const struct texts *t, pol_arena *parent)
{
    const int64_t wanted = (int64_t)t->options->jobs;
    j->n = wanted < t->texts ? wanted : t->texts;
    POL_TRY(measure_job(j, t));
    for (int64_t i = 0; i < j->n; i++) {
        struct job *const job = &j->jobs[i];
        *job = (struct job){.texts = t, .gate = &j->gate, .first = i, .stride = j->n};
        POL_TRY(pol_arena_open(&job->arena, parent, j->job_nbytes, 0));
        POL_TRY(pol_alloc(&job->arena, &job->cache, cache_undef(&t->model->config, t->steps)));
    }
    return POL_OK;
}

static pol_status do_texts(struct job *job)
{
    for (int64_t text = job->first; text < job->texts->texts; text += job->stride)
        POL_TRY(texts_continue(job->texts, text, &job->cache, POL_SPACE(&job->arena)));
    return POL_OK;
}

static bool pass_gate(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    while (!g->is_open)
        pthread_cond_wait(&g->moved, &g->lock);
    const bool goes_on = !g->goes_nowhere;
    pthread_mutex_unlock(&g->lock);
    return goes_on;
}

static void open_gate(struct gate *g, bool goes_nowhere)
{
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    g->goes_nowhere = goes_nowhere;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->lock);
}

static void *run_job(void *arg)
{
    struct job *const job = (struct job *)arg;
    if (!pass_gate(job->gate))
        return NULL;
    job->status = do_texts(job);
    (void)snprintf(job->error, sizeof job->error, "%s",
                   job->status == POL_OK ? "" : pol_last_error());
    return NULL;
}

static void join(struct jobs *j, int64_t started)
{
    for (int64_t i = 0; i < started; i++)
        pthread_join(j->jobs[i].thread, NULL);
    pthread_cond_destroy(&j->gate.moved);
    pthread_mutex_destroy(&j->gate.lock);
}

pol_status jobs_start(struct jobs *j)
{
    if (j->n == 1)
        return POL_OK;
    j->gate.is_open = j->gate.goes_nowhere = false;
    pthread_mutex_init(&j->gate.lock, NULL);
    pthread_cond_init(&j->gate.moved, NULL);
    for (int64_t i = 0; i < j->n; i++) {
        if (pthread_create(&j->jobs[i].thread, NULL, run_job, &j->jobs[i]) == 0)
            continue;
        open_gate(&j->gate, true);
        join(j, i);
        return pol_fail(POL_EUSER, "cannot start thread %lld of %lld; ask for fewer --jobs",
                        (long long)i + 1, (long long)j->n);
    }
    return POL_OK;
}

pol_status jobs_finish(struct jobs *j)
{
    if (j->n == 1)
        return do_texts(&j->jobs[0]);
    open_gate(&j->gate, false);
    join(j, j->n);
    for (int64_t i = 0; i < j->n; i++)
        if (j->jobs[i].status != POL_OK)
            return pol_fail(j->jobs[i].status, "%s", j->jobs[i].error);
    return POL_OK;
}

size_t jobs_unreached(const struct jobs *j)
{
    size_t unreached = 0;
    for (int64_t i = 0; i < j->n; i++)
        unreached += j->job_nbytes - pol_watermark(&j->jobs[i].arena);
    return unreached;
}

pol_status jobs_close(struct jobs *j)
{
    for (int64_t i = j->n; i-- > 0;)
        POL_TRY(pol_arena_close(&j->jobs[i].arena));
    return POL_OK;
}

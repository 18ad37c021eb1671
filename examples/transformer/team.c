/* SPDX-License-Identifier: MIT */
/*
 * A job is posted under the lock and joined under the lock; its tasks are taken one at a time from
 * an atomic counter, so that a thread that is late, or slow, holds nobody up. The caller waits for
 * those that joined, not for those that slept through the job.
 *
 * A thread looks out for the next job a little while before it sleeps: the kernels of one step
 * follow each other within microseconds, and waking takes longer than that.
 */
#include "team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A few dozen microseconds. */
enum { LOOKS = 20000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted, left;
    pthread_t threads[TEAM_MOST]; /* of the members; the caller, member 0, has none here */
    int members[TEAM_MOST];       /* their numbers, for them to read */
    int size;                     /* with the caller; 0: not open */
    int looks;                    /* before a thread sleeps */

    /* Written under the lock; `jobs` and `busy` are also looked at without it. */
    atomic_uint jobs; /* posted so far */
    atomic_int busy;  /* threads that joined the job */
    bool is_open;     /* the job may be joined */
    bool is_over;     /* the team ends */

    team_fn fn;
    const void *job;
    int64_t tasks;
    atomic_llong next; /* the first task that nobody has taken */
} team = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .posted = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static void work(int member)
{
    for (;;) {
        const int64_t task = atomic_fetch_add_explicit(&team.next, 1, memory_order_relaxed);
        if (task >= team.tasks)
            return;
        team.fn(team.job, task, member);
    }
}

/* Returns when a job after `seen` was posted, with the lock held. */
static void await_job(unsigned seen)
{
    for (int i = 0; i < team.looks && atomic_load(&team.jobs) == seen; i++)
        ;
    pthread_mutex_lock(&team.lock);
    while (atomic_load(&team.jobs) == seen)
        pthread_cond_wait(&team.posted, &team.lock);
}

static void *run_member(void *member)
{
    const int me = *(const int *)member;
    unsigned seen = 0;
    for (;;) {
        await_job(seen);
        seen = atomic_load(&team.jobs);
        const bool is_over = team.is_over, joins = team.is_open;
        if (joins)
            atomic_fetch_add(&team.busy, 1);
        pthread_mutex_unlock(&team.lock);
        if (is_over)
            return NULL;
        if (!joins)
            continue;

        work(me);

        pthread_mutex_lock(&team.lock);
        if (atomic_fetch_sub(&team.busy, 1) == 1)
            pthread_cond_signal(&team.left);
        pthread_mutex_unlock(&team.lock);
    }
}

static void post(bool is_over)
{
    pthread_mutex_lock(&team.lock);
    team.is_over = is_over;
    team.is_open = !is_over;
    atomic_store(&team.next, 0);
    atomic_fetch_add(&team.jobs, 1);
    pthread_cond_broadcast(&team.posted);
    pthread_mutex_unlock(&team.lock);
}

static void await_others(void)
{
    pthread_mutex_lock(&team.lock);
    team.is_open = false;
    pthread_mutex_unlock(&team.lock);
    for (int i = 0; i < team.looks && atomic_load(&team.busy) > 0; i++)
        ;
    pthread_mutex_lock(&team.lock);
    while (atomic_load(&team.busy) > 0)
        pthread_cond_wait(&team.left, &team.lock);
    pthread_mutex_unlock(&team.lock);
}

pol_status team_open(int threads)
{
    if (team.size > 0)
        return pol_fail(POL_EINVAL, "team_open: the team is open already");
    if (threads < 1 || threads > TEAM_MOST)
        return pol_fail(POL_EINVAL, "team_open: %d threads where 1 to %d were wanted", threads,
                        TEAM_MOST);
    /* Where threads share a processor, one that looks out keeps another from working. */
    team.looks = threads <= sysconf(_SC_NPROCESSORS_ONLN) ? LOOKS : 0;
    team.is_open = team.is_over = false;
    atomic_store(&team.jobs, 0);
    for (team.size = 1; team.size < threads; team.size++) {
        int *const member = &team.members[team.size];
        *member = team.size;
        const int error = pthread_create(&team.threads[team.size], NULL, run_member, member);
        if (error != 0) {
            team_close();
            return pol_fail(POL_ENOMEM, "team_open: no thread (error %d); ask for fewer than %d",
                            error, threads);
        }
    }
    return POL_OK;
}

void team_close(void)
{
    if (team.size > 1)
        post(true);
    for (int i = 1; i < team.size; i++)
        pthread_join(team.threads[i], NULL);
    team.size = 0;
}

int team_size(void)
{
    return team.size > 1 ? team.size : 1;
}

void team_run(int64_t tasks, team_fn fn, const void *job)
{
    if (team.size <= 1 || tasks <= 1) {
        for (int64_t i = 0; i < tasks; i++)
            fn(job, i, 0);
        return;
    }
    team.tasks = tasks;
    team.fn = fn;
    team.job = job;
    post(false);
    work(0);
    await_others();
}

struct split {
    int64_t n, grain;
    team_range_fn fn;
    const void *job;
};

static void run_range(const void *job, int64_t task, int member)
{
    const struct split *const s = (const struct split *)job;
    const int64_t first = task * s->grain, left = s->n - first;
    (void)member;
    s->fn(s->job, first, left < s->grain ? left : s->grain);
}

void team_split(int64_t n, int64_t grain, team_range_fn fn, const void *job)
{
    const struct split s = {n, grain > 1 ? grain : 1, fn, job};
    team_run(n / s.grain + (n % s.grain > 0), run_range, &s);
}

/* SPDX-License-Identifier: MIT */
#ifndef JOBS_H
#define JOBS_H

/*
 * Several threads, each at a text of its own with an arena of its own, all opened from one. A job
 * takes every n-th text; they share nothing that is written, and take no locks but to begin.
 */

#include "texts.h"

#include <pthread.h>

/* Holds the threads back until the run begins: starting them takes memory, and they must not. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool is_open;
    bool goes_nowhere; /* not all could be started */
};

struct job {
    const struct texts *texts;
    struct gate *gate;
    pol_arena arena; /* the thread's, while it runs */
    struct cache cache;
    int64_t first, stride; /* it does texts first, first + stride, ... */
    pthread_t thread;
    pol_status status;
    char error[256]; /* pol_last_error() is the thread's own, so it is copied before the end */
};

struct jobs {
    struct gate gate;
    struct job jobs[MOST_JOBS];
    int64_t n;
    size_t job_nbytes, cache_nbytes; /* of one job's arena, and its cache's part of that */
};

/* Measures what a job takes, and opens the arenas out of `parent`, which may be a measuring one. As
   many as options ask for, but no more than there are texts. */
POL_NODISCARD pol_status jobs_open(struct jobs *j, const struct texts *t, pol_arena *parent);

/* Starts the threads and holds them back. One job needs none. POL_EUSER: one cannot be started. */
POL_NODISCARD pol_status jobs_start(struct jobs *j);

/* Lets the jobs do their work, and waits until it is done. The first one's failure, if any. */
POL_NODISCARD pol_status jobs_finish(struct jobs *j);

/* Returns the bytes of the jobs' arenas that none of them reached. */
size_t jobs_unreached(const struct jobs *j);

/* Closes the arenas. */
POL_NODISCARD pol_status jobs_close(struct jobs *j);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TEAM_H
#define TEAM_H

/*
 * The threads that share the work inside one kernel.
 *
 * A kernel splits its work into tasks of which each writes elements of its own, in an order of its
 * own, so that the results do not depend on how many threads there are. One team serves the
 * process; without team_open() it is the calling thread alone.
 */

#include <pol/pol.h>

enum { TEAM_MOST = 64 };

/* Starts `threads` - 1 threads beside the caller, 1 to TEAM_MOST in all. Takes memory and threads
   here, and never later. */
POL_NODISCARD pol_status team_open(int threads);

/* Ends the threads. A team that is not open: nothing happens. */
void team_close(void);

/* Returns the number of threads, 1 at least. */
int team_size(void);

/* Does task `task`, of 0 to tasks - 1. `member`, 0 to team_size() - 1, is nobody else's meanwhile:
   scratch of shape (team_size(), ...) gives each a part. */
typedef void (*team_fn)(const void *job, int64_t task, int member);

/* Runs all tasks and returns when they are done. One call at a time; not from a task. */
void team_run(int64_t tasks, team_fn fn, const void *job);

/* Does the part of the job from `first` on. */
typedef void (*team_range_fn)(const void *job, int64_t first, int64_t count);

/* Runs 0 .. n - 1 in parts of `grain`: of rows, say, whose work is worth waking a thread for. */
void team_split(int64_t n, int64_t grain, team_range_fn fn, const void *job);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The median of each row of a matrix, by several threads. Each has an arena of its own, opened from
 * one slab; they share nothing and take no locks. The size of the slab comes from a dry run, and
 * the result does not depend on the number of workers.
 */
#include <pol/pol.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 501, MOST_WORKERS = 7 };

/* --- the verb ------------------------------------------------------------------------------ */

struct median_args {
    pol_array x; /* (n) f32, n odd */
};
struct median_outputs {
    pol_array y; /* (1) f32 */
};
struct median_scratch {
    pol_array sorted; /* (n) f32 */
};

static struct median_outputs median_outputs(const struct median_args *a)
{
    return (struct median_outputs){.y = pol_undef_like_dims(&a->x, 1)};
}

static struct median_scratch median_scratch(const struct median_args *a)
{
    return (struct median_scratch){.sorted = pol_undef_like(&a->x)};
}

static pol_status median(const struct median_outputs *out, const struct median_args *a,
                         const struct median_scratch *s)
{
    const int64_t n = a->x.dims[0];
    const float *x = pol_data(&a->x, float);
    float *sorted = pol_data(&s->sorted, float);

    for (int64_t i = 0; i < n; i++) {
        int64_t j = i;
        for (; j > 0 && sorted[j - 1] > x[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = x[i];
    }
    *pol_data(&out->y, float) = sorted[n / 2];
    return POL_OK;
}
POL_ALLOCATING(median, outputs, scratch);

/* --- the workers --------------------------------------------------------------------------- */

struct worker {
    pol_arena arena; /* belongs to the worker's thread while it runs */
    float (*x)[COLUMNS];
    float *medians;
    int first, step; /* it does rows first, first + step, ... */
    pol_status status;
    char error[256]; /* pol_last_error() is the thread's own, so it is copied before the end */
};

static pol_status do_rows(struct worker *w)
{
    for (int row = w->first; row < ROWS; row += w->step) {
        const struct median_args args = {.x = pol_wrap(w->x[row], POL_F32, COLUMNS)};
        const struct median_outputs here = {.y = pol_wrap(&w->medians[row], POL_F32, 1)};
        struct median_outputs out;
        /* The result goes where `here` says; the scratch comes from the worker's arena. */
        POL_TRY(pol_call_into(median, &w->arena, &args, &out, here));
    }
    return POL_OK;
}

static void *worker_main(void *arg)
{
    struct worker *const w = (struct worker *)arg;
    w->status = do_rows(w);
    snprintf(w->error, sizeof w->error, "%s", w->status == POL_OK ? "" : pol_last_error());
    return NULL;
}

/* Opens an arena for each worker out of `parent`, which may be a measuring one. */
static pol_status open_workers(pol_arena *parent, struct worker *workers, int n)
{
    const struct median_args one_row = {.x = pol_undef(POL_F32, COLUMNS)};
    pol_verb_sizes need;
    POL_TRY(pol_verb_nbytes(&median_verb, &one_row, 0, &need));
    for (int i = 0; i < n; i++)
        POL_TRY(pol_arena_open(&workers[i].arena, parent, need.total, 0));
    return POL_OK;
}

static pol_status run_workers(pol_arena *slab, int n, float x[ROWS][COLUMNS], float *medians)
{
    static struct worker workers[MOST_WORKERS];
    pthread_t threads[MOST_WORKERS];
    int started = 0;
    pol_status status = POL_OK;

    POL_TRY(open_workers(slab, workers, n));
    for (; started < n; started++) {
        struct worker *const w = &workers[started];
        w->x = x;
        w->medians = medians;
        w->first = started;
        w->step = n;
        if (pthread_create(&threads[started], NULL, worker_main, w) != 0) {
            status = pol_fail(POL_EUSER, "cannot start worker %d of %d", started, n);
            break;
        }
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].status != POL_OK && status == POL_OK)
            status = pol_fail(workers[i].status, "worker %d: %s", i, workers[i].error);
    }
    for (int i = n; i-- > 0;) {
        const pol_status closed = pol_arena_close(&workers[i].arena);
        status = status == POL_OK ? closed : status;
    }
    return status;
}

/* --- the check ----------------------------------------------------------------------------- */

static pol_status run(void)
{
    static float x[ROWS][COLUMNS];
    float alone[ROWS], together[ROWS];
    unsigned random = 1;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            x[i][j] = (float)((random = random * 1664525U + 1013904223U) >> 8);

    for (int n = 1; n <= MOST_WORKERS; n += 2) {
        static struct worker dry_workers[MOST_WORKERS];
        pol_arena dry, slab;
        POL_TRY(pol_arena_measure(&dry, 0));
        POL_TRY(open_workers(&dry, dry_workers, n));
        POL_TRY(pol_arena_open(&slab, pol_pages(), pol_arena_budget(&dry), 0));
        const pol_status status = run_workers(&slab, n, x, n == 1 ? alone : together);
        const size_t used = pol_watermark(&slab);
        POL_TRY(pol_arena_close(&slab));
        POL_TRY(status);

        if (n > 1 && memcmp(alone, together, sizeof alone) != 0)
            return pol_fail(POL_EUSER, "%d workers do not find what one finds", n);
        if (used != pol_watermark(&dry))
            return pol_fail(POL_EUSER, "the dry run needed %zu bytes, the real one %zu",
                            pol_watermark(&dry), used);
        printf("%d worker%s the same medians, %zu bytes of slab as the dry run said\n", n,
               n == 1 ? ": " : "s:", used);
    }
    return POL_OK;
}

int main(void)
{
    if (run() == POL_OK)
        return 0;
    fprintf(stderr, "%s\n", pol_last_error());
    return 1;
}

/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* isatty, fileno */
#endif
#include "report.h"

#include "console.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_EVERY = 5000 /* images */ };

static double percent(const struct figures *f)
{
    return 100.0 * (double)f->correct / (double)f->images;
}

static double mean_loss(const struct figures *f)
{
    return f->loss / (double)f->images;
}

static pol_status cannot_write(const char *path)
{
    return pol_fail(POL_EUSER, "cannot write (%s): %s", strerror(errno ? errno : EIO), path);
}

pol_status report_open(FILE **file, const char *path)
{
    if (!path)
        return POL_OK;
    errno = 0;
    *file = fopen(path, "w");
    if (!*file)
        return cannot_write(path);
    fputs("epoch,train_loss,train_accuracy,test_loss,test_accuracy,train_seconds\n", *file);
    return fflush(*file) == 0 ? POL_OK : cannot_write(path);
}

pol_status report_close(FILE **file, const char *path)
{
    if (!*file)
        return POL_OK;
    errno = 0;
    const bool lost = ferror(*file) != 0;
    const bool closed = fclose(*file) == 0;
    *file = NULL;
    return closed && !lost ? POL_OK : cannot_write(path);
}

void report_plan(const struct options *o, const struct dataset *data, size_t slab)
{
    char n[GROUPED_BYTES];
    printf("Fashion-MNIST: %" PRId64 " training and %" PRId64 " test images, from %s\n",
           data->train.images.dims[0], data->test.images.dims[0], o->data);
    printf("network %d-%" PRIu64 "-%d, %" PRIu64 " epochs in batches of %" PRIu64 ", seed %" PRIu64
           "\n",
           PIXELS, o->hidden, CLASSES, o->epochs, o->batch, o->seed);
    printf("dry run: a slab of %s bytes will do\n", grouped(n, slab));
    (void)fflush(stdout);
}

void report_progress(const struct options *o, uint64_t epoch, const struct figures *sums,
                     int64_t images)
{
    const int64_t batch = (int64_t)o->batch;
    if (sums->images / PROGRESS_EVERY == (sums->images - batch) / PROGRESS_EVERY || !isatty(1))
        return;
    printf("\repoch %" PRIu64 "/%" PRIu64 "  %3.0f %%  loss %.4f ", epoch, o->epochs,
           100.0 * (double)sums->images / (double)images, mean_loss(sums));
    (void)fflush(stdout);
}

void report_epoch(FILE *file, const struct options *o, uint64_t epoch, const struct figures *train,
                  const struct figures *test)
{
    printf("%sepoch %" PRIu64 "/%" PRIu64 "  loss %.4f  accuracy: training %.2f %%, test %.2f %%"
           "  %.1f s\n",
           isatty(1) ? "\r" : "", epoch, o->epochs, mean_loss(train), percent(train), percent(test),
           train->seconds);
    (void)fflush(stdout);
    if (file)
        fprintf(file, "%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.3f\n", epoch, mean_loss(train),
                percent(train) / 100, mean_loss(test), percent(test) / 100, train->seconds);
}

pol_status report_summary(const struct summary *s)
{
    char n[GROUPED_BYTES];
    printf("\n");
    printf("test accuracy                %12.2f %%\n", percent(&s->test));
    printf("images per second, training  %12s\n",
           grouped(n, (uint64_t)((double)s->train.images / s->train.seconds)));
    printf("slab asked for               %12s bytes, as the dry run said\n", grouped(n, s->slab));
    printf("watermark reached            %12s bytes, %s\n", grouped(n, s->watermark),
           s->watermark == s->slab ? "equal" : "NOT EQUAL");
    printf("if a step freed nothing      %12s bytes, %+.0f %%\n", grouped(n, s->kept),
           100.0 * ((double)s->kept / (double)s->watermark - 1));
    printf("heap allocations since setup %12s\n",
           s->counted ? grouped(n, s->allocations) : "not counted");
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? POL_OK : cannot_write("standard output");
}

/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* dup, fdopen */
#endif
#include "curve.h"

#include "new_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_POINTS = 150 };

/* The series */

struct curve curve_undef(int64_t steps)
{
    const pol_array each = pol_undef(POL_F64, 1 + (steps < MOST_POINTS ? steps : MOST_POINTS));
    const struct series series = {.count = each, .step = each, .loss = each};
    return (struct curve){.training = series, .validation = series};
}

static int64_t count_points(const struct series *s)
{
    return s->count.dims[0];
}

void curve_clear(const struct curve *c)
{
    const pol_array *const arrays = pol_arrays(c);
    for (size_t i = 0; i < pol_count_arrays(c); i++)
        memset(arrays[i].data, 0, (size_t)arrays[i].dims[0] * sizeof(double));
}

void series_add(const struct series *s, int64_t step, int64_t steps, double loss)
{
    const int64_t last = count_points(s) - 1; /* the first point is of step 0, the last of all */
    const int64_t at = (step * last + steps - 1) / steps;
    pol_data(&s->count, double)[at] += 1;
    pol_data(&s->step, double)[at] += (double)step;
    pol_data(&s->loss, double)[at] += loss;
}

struct point {
    double step, loss;
};

/* Returns whether there is a point at `i`. */
static bool point_at(const struct series *s, int64_t i, struct point *p)
{
    const double n = pol_data(&s->count, double)[i];
    if (n < 1)
        return false;
    p->step = pol_data(&s->step, double)[i] / n;
    p->loss = pol_data(&s->loss, double)[i] / n;
    return true;
}

/* The axes: in losses and steps, and on the picture */

enum { WIDTH = 720, HEIGHT = 400, LEFT = 60, RIGHT = 700, TOP = 20, BOTTOM = 350, MOST_TICKS = 8 };

struct axes {
    double steps;
    double low, high; /* losses: multiples of a tick */
    double step_tick, loss_tick;
};

static double x_of(const struct axes *a, double step)
{
    return LEFT + (RIGHT - LEFT) * step / a->steps;
}

static double y_of(const struct axes *a, double loss)
{
    return BOTTOM - (BOTTOM - TOP) * (loss - a->low) / (a->high - a->low);
}

/* Returns 1, 2 or 5 times a power of ten, so that a span has MOST_TICKS at most. */
static double tick_of(double span)
{
    static const double factors[] = {1, 2, 5, 10};
    const double least = span / MOST_TICKS, power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (factors[i] * power >= least)
            return factors[i] * power;
    return 10 * power;
}

static void widen(const struct series *s, double *low, double *high)
{
    struct point p;
    for (int64_t i = 0; i < count_points(s); i++) {
        if (!point_at(s, i, &p))
            continue;
        *low = fmin(*low, p.loss);
        *high = fmax(*high, p.loss);
    }
}

static struct axes axes_of(const struct curve *c, int64_t steps)
{
    double low = INFINITY, high = -INFINITY;
    widen(&c->training, &low, &high);
    widen(&c->validation, &low, &high);
    const double tick = tick_of(high - low > 1e-6 ? high - low : 1);
    struct axes a = {.steps = (double)steps, .loss_tick = tick};
    a.step_tick = fmax(tick_of(a.steps), 1);
    a.low = floor(low / tick) * tick;
    a.high = fmax(ceil(high / tick) * tick, a.low + tick);
    return a;
}

/* The picture: no background, and colours that light ones and dark ones let be seen */

#define GREY "#808080"
#define BLUE "#3b82d0"
#define ORANGE "#e07b20"

static void draw_head(FILE *file)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"" GREY "\">\n"
            "<title>Loss by step, of training and validation</title>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
}

static void draw_line(FILE *file, double x1, double y1, double x2, double y2, double opacity)
{
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"" GREY
            "\" stroke-opacity=\"%.1f\"/>\n",
            x1, y1, x2, y2, opacity);
}

static void draw_axes(FILE *file, const struct axes *a)
{
    for (int i = 0; a->low + i * a->loss_tick <= a->high + a->loss_tick / 2; i++) {
        const double loss = a->low + i * a->loss_tick, y = y_of(a, loss);
        draw_line(file, LEFT, y, RIGHT, y, i == 0 ? 1 : 0.3);
        fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n", LEFT - 8,
                y + 4, loss);
    }
    for (int i = 0; i * a->step_tick <= a->steps; i++) {
        const double step = i * a->step_tick, x = x_of(a, step);
        draw_line(file, x, BOTTOM, x, BOTTOM + 5, 1);
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n", x,
                BOTTOM + 19, step);
    }
    draw_line(file, LEFT, TOP, LEFT, BOTTOM, 1);
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n"
            "<text x=\"16\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 16 %d)\">"
            "loss, nats per token</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 38, (TOP + BOTTOM) / 2, (TOP + BOTTOM) / 2);
}

static void draw_series(FILE *file, const struct axes *a, const struct series *s,
                        const char *colour, bool dots)
{
    struct point p;
    fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour);
    for (int64_t i = 0; i < count_points(s); i++)
        if (point_at(s, i, &p))
            fprintf(file, "%.1f,%.1f ", x_of(a, p.step), y_of(a, p.loss));
    fprintf(file, "\"/>\n");
    for (int64_t i = 0; dots && i < count_points(s); i++)
        if (point_at(s, i, &p))
            fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n",
                    x_of(a, p.step), y_of(a, p.loss), colour);
}

static void draw_legend(FILE *file, int y, const char *colour, const char *text)
{
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"3\" fill=\"%s\"/>\n"
            "<text x=\"%d\" y=\"%d\">%s</text>\n",
            RIGHT - 110, y, colour, RIGHT - 84, y + 6, text);
}

static void draw(FILE *file, const struct curve *c, int64_t steps)
{
    const struct axes a = axes_of(c, steps);
    draw_head(file);
    draw_axes(file, &a);
    draw_series(file, &a, &c->training, BLUE, false);
    draw_series(file, &a, &c->validation, ORANGE, true);
    draw_legend(file, TOP + 8, BLUE, "training");
    draw_legend(file, TOP + 26, ORANGE, "validation");
    fprintf(file, "</svg>\n");
}

/* Closes the file too. */
static bool draw_into(FILE *file, const struct curve *c, int64_t steps)
{
    if (!file)
        return false;
    draw(file, c, steps);
    const bool drawn = !ferror(file);
    return fclose(file) == 0 && drawn;
}

static pol_status write_device(const char *path, const struct curve *c, int64_t steps)
{
    errno = 0;
    if (draw_into(fopen(path, "w"), c, steps))
        return POL_OK;
    return pol_fail(POL_EUSER, "cannot write (%s): %s", strerror(errno ? errno : EIO), path);
}

pol_status curve_write(const char *path, const struct curve *c, int64_t steps)
{
    struct stat there;
    struct new_file f;
    if (stat(path, &there) == 0 && S_ISCHR(there.st_mode))
        return write_device(path, c, steps);
    POL_TRY(new_file_open(&f, path));
    const int copy = dup(f.file); /* which fclose() closes */
    return new_file_close(&f, draw_into(copy < 0 ? NULL : fdopen(copy, "w"), c, steps));
}

/* SPDX-License-Identifier: MIT */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

/* What the two charts share: a drawing that is legible by itself, on light and on dark. */

#include "bench.h"

#include <stdio.h>

/* A stretch of a logarithmic axis, whole decades, on the drawing. */
typedef struct svg_scale {
    double least, most; /* exponents of 10 */
    double from, to;    /* where they lie */
} svg_scale;

/* Returns the whole decades that hold low to high, at least one, with some room below `low`. */
svg_scale svg_decades(double low, double high, double from, double to);
double svg_at(const svg_scale *s, double value);

FILE *svg_begin(const char *path, double width, double height, const char *title,
                const char *description);
void svg_end(FILE *f, const char *path);

/* Writes text at a place, of a class: say, strong, small; and mid or end, where it is anchored. */
void svg_text(FILE *f, double x, double y, const char *classes, const char *text);
void svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *classes);
/* The class of what is about that kind of case: kind0 to kind3. */
void svg_bar(FILE *f, double x, double y, double width, double height, bench_kind kind);

enum { SVG_TEXT = 32 };
/* Writes a time as people do, "1.23 ns" or "45.6 us" with the Greek letter; returns text. */
const char *svg_time(char text[SVG_TEXT], double ns);
/* Writes a power of ten of nanoseconds as an axis has it, "10 ns". */
const char *svg_tick(char text[SVG_TEXT], int exponent);
/* Writes the machine's line, the rounds with it. */
void svg_machine(FILE *f, double x, double y, const bench *b, const bench_machine *m);

#endif

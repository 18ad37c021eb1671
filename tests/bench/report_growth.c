/* SPDX-License-Identifier: MIT */
/* What must not grow, as a chart: four panels, both axes logarithmic. Flat is good. */
#include "svg.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 420, HEIGHT = 210, LEFT = 74, TOP = 96, ACROSS = 510, DOWN = 330, PANELS = 4 };

typedef struct panel {
    const bench_group *group;
    double low_x, high_x, low, high;
} panel;

static size_t find_panels(const bench *b, panel panels[PANELS])
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        const double x = (double)c->x, median = c->result.median;
        if (!c->group->axis)
            continue;
        if (count == 0 || panels[count - 1].group != c->group) {
            if (count == PANELS)
                bench_die("growth", "has more groups than the chart has panels");
            panels[count++] = (panel){c->group, x, x, median, median};
        }
        panel *const p = &panels[count - 1];
        p->low_x = fmin(p->low_x, x);
        p->high_x = fmax(p->high_x, x);
        p->low = fmin(p->low, median);
        p->high = fmax(p->high, median);
    }
    return count;
}

/* Counts as "1", "1k", "1M"; bytes as powers of two. */
static const char *count_tick(char text[SVG_TEXT], double x, bool bytes)
{
    static const char *const decimal[] = {"", "k", "M", "G"};
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    const double step = bytes ? 1024 : 1000;
    for (; x >= step && i < 3; i++)
        x /= step;
    (void)snprintf(text, SVG_TEXT, bytes ? "%g %s" : "%g%s", x, bytes ? binary[i] : decimal[i]);
    return text;
}

static void draw_axes(FILE *f, const panel *p, const svg_scale *sx, const svg_scale *sy)
{
    char text[SVG_TEXT], label[64];
    const bool bytes = strstr(p->group->axis, "bytes") != NULL;
    const double step = bytes ? 16 : p->high_x < 100 ? 2 : 10;
    for (int e = (int)sy->least; e <= (int)sy->most; e++) {
        const double y = svg_at(sy, pow(10, e));
        svg_line(f, sx->from, y, sx->to, y, e == (int)sy->least ? "axis" : "grid");
        svg_text(f, sx->from - 8, y + 4, "small end", svg_tick(text, e));
    }
    for (double x = p->low_x; x <= p->high_x * 1.01; x *= step) {
        const double at = svg_at(sx, x);
        svg_line(f, at, sy->from, at, sy->from + 4, "axis");
        svg_text(f, at, sy->from + 18, "small mid", count_tick(text, x, bytes));
    }
    svg_text(f, (sx->from + sx->to) / 2, sy->from + 38, "mid", p->group->axis);
    (void)snprintf(label, sizeof label, "per %s", p->group->unit);
    svg_text(f, sx->from - 8, sy->to - 14, "small end", label);
}

static bool same_series(const bench_case *x, const bench_case *y)
{
    return x->group == y->group && strcmp(x->name, y->name) == 0;
}

static bool is_first_of_series(const bench *b, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_series(&b->cases[j], &b->cases[i]))
            return false;
    return true;
}

/* The line and the points of the series that this case is the first of. */
static void draw_series(FILE *f, const bench *b, size_t first, const char *classes,
                        const svg_scale *sx, const svg_scale *sy)
{
    const bench_case *const c = &b->cases[first];
    char command = 'M';
    (void)fprintf(f, "  <path class=\"line %s\" d=\"", classes);
    for (size_t i = first; i < b->count; i++)
        if (same_series(&b->cases[i], c)) {
            (void)fprintf(f, "%c%.1f %.1f", command, svg_at(sx, (double)b->cases[i].x),
                          svg_at(sy, b->cases[i].result.median));
            command = 'L';
        }
    (void)fputs("\"/>\n", f);
    for (size_t i = first; i < b->count; i++)
        if (same_series(&b->cases[i], c))
            (void)fprintf(f, "  <circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", classes,
                          svg_at(sx, (double)b->cases[i].x), svg_at(sy, b->cases[i].result.median));
}

/* Each series, and above the panel a key to it. */
static void draw_all_series(FILE *f, const bench *b, const panel *p, const svg_scale *sx,
                            const svg_scale *sy)
{
    static const char *const classes[] = {"kind0", "kind1", "kind2", "kind3"};
    size_t count = 0;
    double key = sx->from;
    for (size_t i = 0; i < b->count && count < 4; i++) {
        const bench_case *const c = &b->cases[i];
        if (c->group != p->group || !is_first_of_series(b, i))
            continue;
        /* libpol's second line takes the next colour */
        const char *const colour = classes[c->kind == BENCH_FLOOR ? 0 : count == 2 ? 2 : 1];
        draw_series(f, b, i, colour, sx, sy);
        (void)fprintf(f, "  <circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", colour,
                      key + 5, sy->to - 18);
        svg_text(f, key + 14, sy->to - 14, "say", c->label);
        key += 146;
        count++;
    }
}

static void draw_panel(FILE *f, const bench *b, const panel *p, double x, double y)
{
    const svg_scale sx = {log10(p->low_x), log10(p->high_x), x + LEFT, x + LEFT + WIDTH};
    /* the same two decades at least, so that noise is not blown up */
    svg_scale sy = svg_decades(p->low, p->high, y + HEIGHT, y);
    if (sy.most < sy.least + 2)
        sy.most = sy.least + 2;
    svg_text(f, x + LEFT, y - 36, "strong", p->group->title);
    draw_axes(f, p, &sx, &sy);
    draw_all_series(f, b, p, &sx, &sy);
}

void bench_report_growth_svg(const bench *b, const bench_machine *m, const char *path)
{
    panel panels[PANELS];
    const size_t count = find_panels(b, panels);
    const size_t rows = (count + 1) / 2;
    FILE *const f =
        svg_begin(path, 2 * ACROSS + 20, TOP + (double)rows * DOWN, "What must not grow",
                  "Four curves on logarithmic axes: the cost of an array by arrays "
                  "alive and by size of the slab, of a frame by depth, of an entry by "
                  "entries in its bundle. Flat is good.");
    svg_text(f, 20, 26, "strong", "What must not grow; flat is good");
    svg_machine(f, 20, 44, b, m);
    for (size_t i = 0; i < count; i++)
        draw_panel(f, b, &panels[i], 10 + (double)(i % 2) * ACROSS,
                   TOP + 26 + (double)(i / 2) * DOWN);
    svg_end(f, path);
}

/* SPDX-License-Identifier: MIT */
/*
 * The results as a chart: a panel for each group, a horizontal bar for each case, on a logarithmic
 * scale of the panel's own. Two columns, filled from the left so that they end about level.
 */
#include "svg.h"

#include <math.h>

enum {
    COLUMN = 510, /* a column's width */
    LABELS = 208, /* of it, for labels */
    BARS = 226,   /* and for bars; values follow them */
    TOP = 84,
    ROW = 19,
    GAP = 6, /* between kinds */
    HEAD = 30,
    FOOT = 46,
    PANELS = 32
};

typedef struct panel {
    const bench_group *group;
    double height;
    double low, high;
} panel;

static size_t find_panels(const bench *b, panel panels[PANELS])
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        const double median = c->result.median;
        if (c->group->axis)
            continue;
        if (i == 0 || count == 0 || panels[count - 1].group != c->group)
            panels[count++] = (panel){c->group, HEAD + FOOT, median, median};
        else if (b->cases[i - 1].kind != c->kind)
            panels[count - 1].height += GAP;
        panels[count - 1].height += ROW;
        panels[count - 1].low = fmin(panels[count - 1].low, median);
        panels[count - 1].high = fmax(panels[count - 1].high, median);
    }
    return count;
}

static void draw_axis(FILE *f, const svg_scale *s, double top, double bottom, const char *unit)
{
    char text[SVG_TEXT], label[64];
    for (int e = (int)s->least; e <= (int)s->most; e++) {
        const double x = svg_at(s, pow(10, e));
        svg_line(f, x, top, x, bottom, e == (int)s->least ? "axis" : "grid");
        svg_text(f, x, bottom + 14, "small mid", svg_tick(text, e));
    }
    (void)snprintf(label, sizeof label, "per %s", unit);
    svg_text(f, s->from - 32, bottom + 14, "small end", label);
}

static void draw_panel(FILE *f, const bench *b, const panel *p, double x, double y)
{
    char text[SVG_TEXT];
    const svg_scale scale = svg_decades(p->low, p->high, x + LABELS, x + LABELS + BARS);
    const bench_case *before = NULL;
    double row = y + HEAD;
    svg_text(f, x, y + 14, "strong", p->group->title);
    draw_axis(f, &scale, row - 6, y + p->height - FOOT + 2, p->group->unit);
    for (size_t i = 0; i < b->count; i++) {
        const bench_case *const c = &b->cases[i];
        if (c->group != p->group)
            continue;
        if (before && before->kind != c->kind)
            row += GAP;
        const double end = svg_at(&scale, c->result.median);
        svg_text(f, scale.from - 8, row + 10, "end", c->label);
        svg_bar(f, scale.from, row, end - scale.from, ROW - 6, c->kind);
        svg_text(f, end + 6, row + 10, "value", svg_time(text, c->result.median));
        row += ROW;
        before = c;
    }
}

static void draw_legend(FILE *f, double y)
{
    static const char *const kinds[] = {"by hand", "libpol", "frees all at once",
                                        "frees each array"};
    double x = 20;
    for (size_t i = 0; i < 4; i++) {
        svg_bar(f, x, y - 10, 12, 12, (bench_kind)i);
        svg_text(f, x + 18, y, "say", kinds[i]);
        x += i == 2 ? 150 : 110;
    }
}

void bench_report_svg(const bench *b, const bench_machine *m, const char *path)
{
    panel panels[PANELS];
    const size_t count = find_panels(b, panels);
    double total = 0, filled[2] = {0, 0};
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        total += panels[i].height;
    for (; left < count && filled[0] + panels[left].height / 2 < total / 2; left++)
        filled[0] += panels[left].height;
    filled[1] = total - filled[0];
    FILE *const f = svg_begin(path, 2 * COLUMN + 20, TOP + fmax(filled[0], filled[1]),
                              "libpol and other allocators",
                              "Horizontal bars on logarithmic scales: the time of one operation, "
                              "for each case of the benchmark. Shorter is faster.");
    svg_text(f, 20, 26, "strong", "Time per operation, logarithmic; shorter is faster");
    svg_machine(f, 20, 44, b, m);
    draw_legend(f, 66);
    double y = TOP;
    for (size_t i = 0; i < count; i++) {
        if (i == left)
            y = TOP;
        draw_panel(f, b, &panels[i], i < left ? 20 : 20 + COLUMN, y);
        y += panels[i].height;
    }
    svg_end(f, path);
}

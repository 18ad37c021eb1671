/* SPDX-License-Identifier: MIT */
/* Drawing. The middle greys are for viewers that ask for neither light nor dark. */
#include "svg.h"

#include <math.h>

static const char style[] = "  <style>\n"
                            "    text { fill: #6e7781; }\n"
                            "    .strong { font-weight: 600; font-size: 15px; }\n"
                            "    .small { font-size: 11px; }\n"
                            "    .mid { text-anchor: middle; }\n"
                            "    .end { text-anchor: end; }\n"
                            "    .grid { stroke: #6e7781; stroke-opacity: 0.3; }\n"
                            "    .axis { stroke: #6e7781; }\n"
                            "    .line { fill: none; stroke-width: 2; }\n"
                            "    .kind0 { fill: #8b949e; stroke: #8b949e; }\n"
                            "    .kind1 { fill: #3b82f6; stroke: #3b82f6; }\n"
                            "    .kind2 { fill: #2a9d8f; stroke: #2a9d8f; }\n"
                            "    .kind3 { fill: #d08c2c; stroke: #d08c2c; }\n"
                            "    .pale { fill-opacity: 0.55; stroke-dasharray: 5 3; }\n"
                            "    path.line { fill: none; }\n"
                            "    @media (prefers-color-scheme: light) {\n"
                            "      text { fill: #57606a; } .strong, .value { fill: #1f2328; }\n"
                            "    }\n"
                            "    @media (prefers-color-scheme: dark) {\n"
                            "      text { fill: #adb5bd; } .strong, .value { fill: #e6edf3; }\n"
                            "    }\n"
                            "  </style>\n";

svg_scale svg_decades(double low, double high, double from, double to)
{
    svg_scale s = {floor(log10(low) - 0.12), ceil(log10(high)), from, to};
    if (s.most < s.least + 1)
        s.most = s.least + 1;
    return s;
}

double svg_at(const svg_scale *s, double value)
{
    return s->from + (log10(value) - s->least) / (s->most - s->least) * (s->to - s->from);
}

static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            (void)fputs("&amp;", f);
            break;
        case '<':
            (void)fputs("&lt;", f);
            break;
        default:
            putc(*text, f);
        }
}

FILE *svg_begin(const char *path, double width, double height, const char *title,
                const char *description)
{
    FILE *const f = fopen(path, "w");
    if (!f)
        bench_die(path, "cannot be written");
    (void)fprintf(f,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\" role=\"img\"\n"
                  "     aria-labelledby=\"title desc\" font-family=\"system-ui, sans-serif\" "
                  "font-size=\"13\">\n",
                  width, height, width, height);
    (void)fprintf(f, "  <title id=\"title\">%s</title>\n  <desc id=\"desc\">%s</desc>\n", title,
                  description);
    (void)fputs(style, f);
    return f;
}

void svg_end(FILE *f, const char *path)
{
    (void)fputs("</svg>\n", f);
    if (fclose(f) != 0)
        bench_die(path, "cannot be written to its end");
}

void svg_text(FILE *f, double x, double y, const char *classes, const char *text)
{
    (void)fprintf(f, "  <text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, classes);
    put_escaped(f, text);
    (void)fputs("</text>\n", f);
}

void svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *classes)
{
    (void)fprintf(f, "  <path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", classes, x1, y1, x2,
                  y2);
}

void svg_bar(FILE *f, double x, double y, double width, double height, bench_kind kind)
{
    (void)fprintf(f,
                  "  <rect class=\"kind%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\" rx=\"2\"/>\n",
                  (int)kind, x, y, width > 1 ? width : 1, height);
}

/* Three digits. */
const char *svg_time(char text[SVG_TEXT], double ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    size_t unit = 0;
    for (; ns >= 999.5 && unit < 3; unit++)
        ns /= 1000;
    (void)snprintf(text, SVG_TEXT, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[unit]);
    return text;
}

const char *svg_tick(char text[SVG_TEXT], int exponent)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    const int unit = exponent < 0 ? 0 : exponent / 3 < 3 ? exponent / 3 : 3;
    (void)snprintf(text, SVG_TEXT, "%g %s", pow(10, exponent - 3 * unit), units[unit]);
    return text;
}

void svg_machine(FILE *f, double x, double y, const bench *b, const bench_machine *m)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s, %s, %s, %s -O2. Medians of %zu rounds.", m->processor,
                   m->threads, m->kernel, m->compiler, b->rounds);
    svg_text(f, x, y, "small", text);
}

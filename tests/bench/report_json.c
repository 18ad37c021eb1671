/* SPDX-License-Identifier: MIT */
/* The results as JSON for programs. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

static void put_string(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            (void)fprintf(f, "\\%c", c);
        else if (c < 0x20)
            (void)fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void put_named_string(FILE *f, const char *name, const char *text, const char *end)
{
    (void)fprintf(f, "\"%s\": ", name);
    put_string(f, text);
    (void)fputs(end, f);
}

static void put_named_number(FILE *f, const char *name, double value, const char *end)
{
    if (isfinite(value))
        (void)fprintf(f, "\"%s\": %.6g%s", name, value, end);
    else
        (void)fprintf(f, "\"%s\": null%s", name, end);
}

static void put_machine(FILE *f, const bench_machine *m)
{
    (void)fputs("  \"machine\": {", f);
    put_named_string(f, "processor", m->processor, ", ");
    put_named_string(f, "processors", m->threads, ", ");
    put_named_string(f, "kernel", m->kernel, ", ");
    put_named_string(f, "compiler", m->compiler, "},\n");
}

static void put_case(FILE *f, const bench_case *c)
{
    static const char *const kinds[] = {"floor", "libpol", "region", "general"};
    (void)fprintf(f, "    {\"name\": \"%s/%s\", ", c->group->id, c->name);
    put_named_string(f, "group", c->group->title, ", ");
    put_named_string(f, "label", c->label, ", ");
    put_named_string(f, "kind", kinds[c->kind], ", ");
    put_named_string(f, "unit", c->group->unit, ", ");
    if (c->group->axis) {
        put_named_string(f, "axis", c->group->axis, ", ");
        (void)fprintf(f, "\"x\": %llu, ", (unsigned long long)c->x);
    }
    put_named_number(f, "median_ns", c->result.median, ", ");
    put_named_number(f, "lower_quartile_ns", c->result.lower, ", ");
    put_named_number(f, "upper_quartile_ns", c->result.upper, ", ");
    put_named_number(f, "ratio_to_bump", c->result.ratio, ", ");
    (void)fprintf(f,
                  "\"operations_a_batch\": %llu, \"page_faults\": %llu, "
                  "\"heap_allocations\": %llu}",
                  (unsigned long long)c->result.steady, (unsigned long long)c->result.faults,
                  (unsigned long long)c->result.heap);
}

static void put_target(FILE *f, const bench_target *t)
{
    (void)fputs("    {", f);
    put_named_string(f, "what", t->what, ", ");
    put_named_string(f, "unit", t->unit, ", ");
    put_named_number(f, "target", t->wanted, ", ");
    put_named_number(f, "measured", t->measured, ", ");
    (void)fprintf(f, "\"met\": %s}", isnan(t->measured) ? "null" : t->met ? "true" : "false");
}

void bench_report_json(const bench *b, const bench_machine *m, const char *path)
{
    static bench_target targets[BENCH_TARGETS];
    const size_t count = bench_targets(b, targets);
    FILE *const f = fopen(path, "w");
    if (!f)
        bench_die(path, "cannot be written");
    (void)fputs("{\n", f);
    put_machine(f, m);
    (void)fprintf(f, "  \"rounds\": %zu,\n  \"seconds\": %.1f,\n  \"cases\": [\n", b->rounds,
                  b->took);
    for (size_t i = 0; i < b->count; i++) {
        put_case(f, &b->cases[i]);
        (void)fputs(i + 1 < b->count ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n  \"targets\": [\n", f);
    for (size_t i = 0; i < count; i++) {
        put_target(f, &targets[i]);
        (void)fputs(i + 1 < count ? ",\n" : "\n", f);
    }
    (void)fputs("  ]\n}\n", f);
    if (fclose(f) != 0)
        bench_die(path, "cannot be written to its end");
}

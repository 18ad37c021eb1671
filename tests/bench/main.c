/* SPDX-License-Identifier: MIT */
/* The benchmark's command line. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bench.h"

#include <pol/pol.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct options {
    const char *json, *svg, *growth_svg;
    bool list;
} options;

static const char usage[] =
    "usage: pol_bench [option]...\n"
    "Measures libpol beside a bump written by hand and other allocators.\n"
    "  --rounds N         at most N rounds, 2 at least (default 2001)\n"
    "  --seconds S        begin no round after S seconds (default 90)\n"
    "  --filter TEXT      only cases whose name contains TEXT, and the checked bump\n"
    "  --json FILE        write the results as JSON\n"
    "  --svg FILE         write them as a chart\n"
    "  --growth-svg FILE  write a chart of what must not grow\n"
    "  --list             print the cases' names and stop\n"
    "  --help             print this and stop\n";

void bench_die(const char *what, const char *why)
{
    (void)fprintf(stderr, "pol_bench: %s: %s\n", what, why ? why : "no reason was given");
    exit(1);
}

void bench_die_of_pol(void)
{
    bench_die("libpol", pol_last_error());
}

static double number(const char *option, const char *text, double least)
{
    char *end = NULL;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value >= least && value <= 1e6))
        bench_die(option, "wants a number in its range; see --help");
    return value;
}

static void read_option(bench *b, options *o, const char *option, const char *value)
{
    if (!value)
        bench_die(option, "is unknown or wants a value; see --help");
    if (strcmp(option, "--rounds") == 0)
        b->rounds = (size_t)number(option, value, 2);
    else if (strcmp(option, "--seconds") == 0)
        b->seconds = number(option, value, 0);
    else if (strcmp(option, "--filter") == 0)
        b->filter = value;
    else if (strcmp(option, "--json") == 0)
        o->json = value;
    else if (strcmp(option, "--svg") == 0)
        o->svg = value;
    else if (strcmp(option, "--growth-svg") == 0)
        o->growth_svg = value;
    else
        bench_die(option, "is no option; see --help");
}

static void read_options(bench *b, options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            (void)fputs(usage, stdout);
            exit(0);
        }
        if (strcmp(argv[i], "--list") == 0) {
            o->list = true;
            continue;
        }
        read_option(b, o, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        i++;
    }
}

/* jemalloc's thread-local variables need more of the room that is set aside for libraries opened
   late than there is, unless it is asked for before the program starts: so it starts again. */
static void ask_for_room(char **argv)
{
    static const char room[] = "glibc.rtld.optional_static_tls=16384";
    const char *const tunables = getenv("GLIBC_TUNABLES");
    char all[1024];
    if (tunables && strstr(tunables, room))
        return;
    const int length = snprintf(all, sizeof all, "%s%s%s", tunables ? tunables : "",
                                tunables && *tunables ? ":" : "", room);
    if (length < 0 || (size_t)length >= sizeof all || setenv("GLIBC_TUNABLES", all, 1) != 0)
        bench_die("GLIBC_TUNABLES", "is too long");
    (void)execv("/proc/self/exe", argv);
    bench_die("/proc/self/exe", strerror(errno));
}

static void add_all(bench *b)
{
    bench_add_carve(b);
    bench_add_frame(b);
    bench_add_describe(b);
    bench_add_call(b);
    bench_add_decode(b);
    bench_add_softmax(b);
    bench_add_threads(b);
    bench_add_cold(b);
    bench_add_growth(b);
}

int main(int argc, char **argv)
{
    static bench b = {.rounds = 2001, .seconds = 90};
    static bench_machine machine;
    options o = {NULL, NULL, NULL, false};
    read_options(&b, &o, argc, argv);
    ask_for_room(argv);
    add_all(&b);
    if (o.list) {
        for (size_t i = 0; i < b.count; i++)
            printf("%s/%s\n", b.cases[i].group->id, b.cases[i].name);
        return 0;
    }
    bench_run(&b);
    bench_describe_machine(&machine);
    bench_report_table(&b, &machine);
    if (o.json)
        bench_report_json(&b, &machine, o.json);
    if (o.svg)
        bench_report_svg(&b, &machine, o.svg);
    if (o.growth_svg)
        bench_report_growth_svg(&b, &machine, o.growth_svg);
    free(b.samples);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* What the figures were measured on. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void read_processor(char *text, size_t size)
{
    char line[256];
    FILE *const info = fopen("/proc/cpuinfo", "r");
    (void)snprintf(text, size, "unknown processor");
    if (!info)
        return;
    while (fgets(line, sizeof line, info)) {
        const char *const colon = strstr(line, ": ");
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(text, size, "%s", colon + 2);
        break;
    }
    (void)fclose(info);
}

void bench_describe_machine(bench_machine *m)
{
    struct utsname name;
    read_processor(m->processor, sizeof m->processor);
    if (uname(&name) == 0)
        (void)snprintf(m->kernel, sizeof m->kernel, "%s %.*s %s", name.sysname,
                       (int)strcspn(name.release, "-"), name.release, name.machine);
    else
        (void)snprintf(m->kernel, sizeof m->kernel, "unknown kernel");
    (void)snprintf(m->compiler, sizeof m->compiler, "gcc %s", __VERSION__);
    (void)snprintf(m->threads, sizeof m->threads, "%ld processors", sysconf(_SC_NPROCESSORS_ONLN));
}

/* SPDX-License-Identifier: MIT */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#endif
#include "resident.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool resident_peak(size_t *nbytes)
{
    static const char name[] = "\nVmHWM:";
    char text[4096];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t n = read(file, text, sizeof text - 1);
    (void)close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *const line = strstr(text, name);
    if (!line)
        return false;
    *nbytes = (size_t)strtoull(line + strlen(name), NULL, 10) * 1024;
    return true;
}

bool resident_machine(size_t *nbytes)
{
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *nbytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
#else
    *nbytes = 0;
#endif
    return *nbytes > 0;
}

/* SPDX-License-Identifier: MIT */
#include "console.h"

#include <ctype.h>
#include <stdio.h>
#include <time.h>

const char *grouped(char text[GROUPED_BYTES], uint64_t number)
{
    char *c = text + GROUPED_BYTES - 1;
    int digits = 0;
    *c = '\0';
    do {
        if (digits > 0 && digits % 3 == 0)
            *--c = ',';
        *--c = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number > 0);
    return c;
}

int complain(const char *program, const char *text)
{
    fprintf(stderr, "%s: ", program);
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? '?' : *text, stderr);
    fputc('\n', stderr);
    return 1;
}

double seconds_now(void)
{
    struct timespec t = {0};
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

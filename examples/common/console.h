/* SPDX-License-Identifier: MIT */
#ifndef CONSOLE_H
#define CONSOLE_H

/* What programs say to people. */

#include <stdint.h>

enum { GROUPED_BYTES = 32 };

/* Writes 1234567 as "1,234,567", at the end of `text`; returns where it starts. */
const char *grouped(char text[GROUPED_BYTES], uint64_t number);

/* Writes "program: text" to stderr, as one line, whatever a file in it may be called. Returns 1,
   for main to end with. */
int complain(const char *program, const char *text);

/* Returns the seconds since some moment. */
double seconds_now(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef OPTIONS_H
#define OPTIONS_H

/* The command line. */

#include <pol/status.h>

#include <stdbool.h>
#include <stdint.h>

enum { MOST_JOBS = 64 };

struct options {
    const char *model;
    const char *tokenizer; /* NULL: bytes alone */
    char **prompts;        /* gathered at the front of argv, which has room for them */
    int64_t prompt_count;  /* 0: an empty one */
    uint64_t steps;        /* 0: as many as DEFAULT_STEPS and the model's context allow */
    uint64_t seed, jobs;
    double temperature, top_p;
    bool help;
};

enum { DEFAULT_STEPS = 256 };

/* Reads the command line over the defaults; what it does not understand it refuses. */
POL_NODISCARD pol_status options_read(struct options *o, int argc, char **argv);

/* Prints how to call the program. */
void options_print_help(void);

#endif

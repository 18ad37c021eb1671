/* SPDX-License-Identifier: MIT */
#ifndef OPTIONS_H
#define OPTIONS_H

/* The command line. */

#include <pol/status.h>

#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *data;   /* folder of the four IDX files */
    const char *output; /* file for the run's figures, or NULL */
    uint64_t seed, epochs, batch, hidden;
    bool help;
};

/* Reads the command line over the defaults; what it does not understand it refuses. */
POL_NODISCARD pol_status options_read(struct options *o, int argc, char **argv);

/* Prints how to call the program. */
void options_print_help(void);

#endif

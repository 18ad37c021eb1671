/* SPDX-License-Identifier: MIT */
#ifndef COUNTS_OPS_H
#define COUNTS_OPS_H

/* The operations whose instructions are counted, each in a loop. */

#include <stdint.h>

typedef struct op {
    const char *name;
    void (*run)(uint64_t n);
} op;

/* The operations; a NULL name ends them. The first one is a loop that does nothing. */
extern const op ops[];

/* Gives the operations an arena that holds what all of them ask for. Returns 0, or 1 with a message
   on stderr. */
int ops_begin(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef NUMBER_H
#define NUMBER_H

/* Numbers from the command line. */

#include <pol/pol.h>

/* Reads digits and nothing else. `most` is 9 at least. POL_EINVAL: the text says what --name wants;
   *number is unchanged. */
POL_NODISCARD pol_status number_read(uint64_t *number, const char *name, const char *text,
                                     uint64_t least, uint64_t most);

/* Reads a finite decimal fraction, least <= *number <= most. Errors as number_read()'s. */
POL_NODISCARD pol_status fraction_read(double *number, const char *name, const char *text,
                                       double least, double most);

#endif

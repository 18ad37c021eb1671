/* SPDX-License-Identifier: MIT */
#ifndef CURVE_H
#define CURVE_H

/* The losses of a run as a picture. However many steps there are, a series has few points: each is
   the mean of the steps that it stands for. */

#include <pol/pol.h>

/* A bundle: of each point the sums, and of how many. */
struct series {
    pol_array count, step, loss; /* (points) f64 */
};

/* A bundle. */
struct curve {
    struct series training, validation;
};

/* Describes the memory for a run of so many steps. */
struct curve curve_undef(int64_t steps);

/* Empties the series, which are materialized. */
void curve_clear(const struct curve *c);

/* Adds the loss at `step`, 0 to `steps`. */
void series_add(const struct series *s, int64_t step, int64_t steps, double loss);

/* Writes the picture, as SVG; where there is no device, as new_file.h says. POL_EUSER: it cannot be
   written. */
POL_NODISCARD pol_status curve_write(const char *path, const struct curve *c, int64_t steps);

#endif

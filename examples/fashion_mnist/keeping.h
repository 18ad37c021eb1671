/* SPDX-License-Identifier: MIT */
#ifndef KEEPING_H
#define KEEPING_H

/*
 * A space that tells what frames save.
 *
 * It hands out an arena's memory and takes it back like the arena, so a step runs in it as ever. On
 * the side it repeats every request to a measuring arena, from which nothing is ever taken back:
 * that one's watermark is what the step would need if all its buffers stayed until its end.
 */

#include <pol/pol.h>

struct keeping {
    pol_space space;
    pol_arena *arena; /* whose memory it is; borrowed */
    pol_arena kept;   /* measuring */
};

/* Makes the space over `arena`, on which no frame may be open while it is used. */
POL_NODISCARD pol_status keeping_init(struct keeping *k, pol_arena *arena);

/* Starts a new step: its buffers come where the last step's were, above what `arena` holds. */
POL_NODISCARD pol_status keeping_next_step(struct keeping *k);

/* Returns the bytes of the largest step so far, with what was in the arena below it. */
size_t keeping_nbytes(const struct keeping *k);

#endif

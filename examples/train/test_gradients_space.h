/* SPDX-License-Identifier: MIT */
#ifndef TEST_GRADIENTS_SPACE_H
#define TEST_GRADIENTS_SPACE_H

/*
 * A space for tests of kernels: what it hands out is full of rubbish, so a kernel that adds to its
 * output, or reads scratch that it has not written, computes NaN; and guard bytes lie before and
 * behind, which are looked at when the memory is taken back, that of scratch at the end of the
 * verb's frame. What was found then is told by guarded_space_check().
 */

#include <pol/pol.h>

enum { GUARDED_MOST = 1024 };

struct guarded_space {
    pol_space space; /* first: a guarded_space is a space */
    unsigned char *base;
    size_t nbytes, used;
    size_t begins[GUARDED_MOST], ends[GUARDED_MOST]; /* of the arrays, in `base` */
    size_t arrays;
    bool is_corrupt; /* some guard bytes of what has been taken back had changed */
};

/* Makes a space over `nbytes` bytes at `base`, borrowed as long as the space is used. */
void guarded_space_init(struct guarded_space *g, void *base, size_t nbytes);

/* POL_ECORRUPT if the bytes around an array have changed, one that has been taken back included. */
POL_NODISCARD pol_status guarded_space_check(const struct guarded_space *g);

/* Checks, and takes everything back. No frame is open on it. */
POL_NODISCARD pol_status guarded_space_reset(struct guarded_space *g);

#endif

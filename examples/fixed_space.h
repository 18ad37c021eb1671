/* SPDX-License-Identifier: MIT */
#ifndef FIXED_SPACE_H
#define FIXED_SPACE_H

/*
 * A space of one's own: it hands out a fixed piece of memory from its start to its end and never
 * takes anything back. One operation is all that it has; libpol does the rest.
 *
 * Written as C that C++ compiles too.
 */

#include <pol/space.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fixed_space {
    pol_space space; /* first: a fixed_space is a space */
    unsigned char *base;
    size_t nbytes, used;
};

/* Makes a space over `nbytes` bytes at `base`, borrowed as long as the space and its arrays are
   used. */
void fixed_space_init(struct fixed_space *f, void *base, size_t nbytes);

#ifdef __cplusplus
}
#endif

#endif /* FIXED_SPACE_H */

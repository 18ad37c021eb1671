/* SPDX-License-Identifier: MIT */
#ifndef RESIDENT_H
#define RESIDENT_H

/* What the system says about memory. */

#include <stdbool.h>
#include <stddef.h>

/* Tells the most memory that this process has had resident, in bytes. Returns false where the
   system does not say: it is Linux that does, in /proc. Takes nothing from the heap. */
bool resident_peak(size_t *nbytes);

/* Tells how much memory the machine has. Returns false where the system does not say. */
bool resident_machine(size_t *nbytes);

#endif

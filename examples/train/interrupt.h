/* SPDX-License-Identifier: MIT */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* Signals: a run that is told to end leaves what it has learned. */

#include <stdbool.h>

/* From now on a write that fails is an error to be told, and not the end of the process. */
void interrupt_leave_writes(void);

/* From now on the first SIGINT or SIGTERM is remembered; a second ends the process. Those that are
   ignored, as by nohup or in the background, stay ignored. */
void interrupt_remember(void);

/* Returns whether one came. */
bool interrupt_came(void);

#endif

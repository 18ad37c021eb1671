/* SPDX-License-Identifier: MIT */
#ifndef OUTPUTS_H
#define OUTPUTS_H

/* The files that a run leaves. */

#include "options.h"

/* Finds out before the work whether they can be written, and would not take the place of each
   other or of what is read. What is there stays as it is. POL_EUSER: the text names the file. */
POL_NODISCARD pol_status outputs_check(const struct options *o);

#endif

/* SPDX-License-Identifier: MIT */

/*
 * The thread's own block.
 *
 * It does not cross the library's edge as a variable: inlined code finds it by its distance from
 * the thread pointer, which each arena has been told (arena.c).
 */

#include "internal.h"

_Thread_local pol_thread pol_self_ POL_TLS_;

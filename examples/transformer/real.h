/* SPDX-License-Identifier: MIT */
#ifndef REAL_H
#define REAL_H

/*
 * The element type of everything that is computed: float. The tests of the gradients compile the
 * same kernels with double (TRANSFORMER_F64), because finite differences need the digits. Functions
 * of <tgmath.h> follow the type.
 */

#include <pol/pol.h>

#ifdef TRANSFORMER_F64
typedef double real;
#define REAL POL_F64
#else
typedef float real;
#define REAL POL_F32
#endif

#endif

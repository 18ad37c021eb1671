/* SPDX-License-Identifier: MIT */
#ifndef POL_POL_H
#define POL_POL_H

/**
 * @file
 * All of libpol. A kernel describes its buffers, its caller materializes the descriptions in a
 * space of its choosing, and a frame takes them back when its block ends. Read the modules in this
 * order: status, undef, space, similar, arena, scratchspace, allocating, shadow.
 */

#include <pol/allocating.h>
#include <pol/arena.h>
#include <pol/scratchspace.h>
#include <pol/shadow.h>
#include <pol/similar.h>
#include <pol/space.h>
#include <pol/status.h>
#include <pol/undef.h>
#include <pol/version.h>

POL_EXTERN_C_BEGIN_

/** Returns the version of the library that is running, `"0.1.0"`; #POL_VERSION_STRING is that of
    the headers. **Lifetime**: static. **Threads**: any. */
POL_API const char *pol_version(void);

POL_EXTERN_C_END_

#endif /* POL_POL_H */

/* SPDX-License-Identifier: MIT */

#include "internal.h"

const char *pol_version(void)
{
    return POL_VERSION_STRING;
}

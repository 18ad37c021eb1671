/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <inttypes.h>
#include <stdlib.h>

pol_status number_read(uint64_t *number, const char *name, const char *text, uint64_t least,
                       uint64_t most)
{
    const char *c = text;
    uint64_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        const uint64_t digit = (uint64_t)(*c - '0');
        if (value > (most - digit) / 10)
            break; /* past `most`, and left standing at a digit */
        value = value * 10 + digit;
    }
    if (c == text || *c != '\0' || value < least)
        return pol_fail(POL_EINVAL,
                        "--%s wants a whole number from %" PRIu64 " to %" PRIu64 ", not '%s'", name,
                        least, most, text);
    *number = value;
    return POL_OK;
}

pol_status fraction_read(double *number, const char *name, const char *text, double least,
                         double most)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    /* strtod also takes spaces, signs, hexadecimal, infinities: here a digit or a point comes
       first, and nothing but digits, points and exponents follows */
    for (const char *c = text; *c; c++)
        if (!(*c >= '0' && *c <= '9') && *c != '.' && *c != 'e' && !(c != text && *c == '-'))
            end = NULL;
    if (!end || end == text || *end != '\0' || !(value >= least && value <= most))
        return pol_fail(POL_EINVAL, "--%s wants a number from %g to %g, not '%s'", name, least,
                        most, text);
    *number = value;
    return POL_OK;
}

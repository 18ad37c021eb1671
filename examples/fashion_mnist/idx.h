/* SPDX-License-Identifier: MIT */
#ifndef IDX_H
#define IDX_H

/*
 * One gzipped IDX file: an array of bytes behind a big-endian header.
 *
 * Opening reads the header alone and gives a description, so that memory for the elements can be
 * planned, and taken, by whoever owns the space; reading then fills it.
 */

#include <pol/pol.h>
#include <zlib.h>

struct idx {
    const char *folder, *name; /* borrowed, for messages */
    gzFile file;               /* NULL: not open */
    pol_array shape;           /* described: u8, as many dims as were asked for */
};

/* Opens folder/name and reads its header, which must announce bytes in `ndim` dims. Close the file
   also after a failure. */
POL_NODISCARD pol_status idx_open(struct idx *f, const char *folder, const char *name,
                                  unsigned ndim);

/* Reads the elements into `into`, of the shape that was announced, and checks that nothing is
   missing, damaged or left over. */
POL_NODISCARD pol_status idx_read(struct idx *f, const pol_array *into);

/* Closes the file, if it is open. */
void idx_close(struct idx *f);

#endif

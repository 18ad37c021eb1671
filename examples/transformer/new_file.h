/* SPDX-License-Identifier: MIT */
#ifndef NEW_FILE_H
#define NEW_FILE_H

/*
 * A file that appears whole or not at all: it is written under another name beside its place, then
 * moved there. What was there stays until then, and passes on its permissions. A link to a file
 * stays a link; it is the file that is replaced.
 */

#include <pol/status.h>

#include <stdbool.h>

enum { NEW_FILE_PATH_NBYTES = 4096 }; /* as much as realpath() may write */

struct new_file {
    int file;         /* to write to */
    const char *path; /* as it was named; borrowed */
    char place[NEW_FILE_PATH_NBYTES];
    char beside[NEW_FILE_PATH_NBYTES + 32];
};

/* Begins one. POL_EUSER: there can be none, or what is there is no regular file, or may not be
   written; the text names it. Nothing is left then. */
POL_NODISCARD pol_status new_file_open(struct new_file *f, const char *path);

/* Moves it to its place if all was `written`; else takes it away. POL_EUSER: it was not, for the
   reason that errno gives, or cannot be moved. */
POL_NODISCARD pol_status new_file_close(struct new_file *f, bool written);

/* Takes it away. */
void new_file_discard(struct new_file *f);

#endif

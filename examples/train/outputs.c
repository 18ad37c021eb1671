/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* open, fstat */
#endif
#include "outputs.h"

#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a file can be begun there. */
static pol_status check_new_file(const char *path)
{
    struct new_file f;
    POL_TRY(new_file_open(&f, path));
    new_file_discard(&f);
    return POL_OK;
}

/* A device is opened as it is; a pipe might wait for its reader for ever. */
static pol_status check_curve(const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return check_new_file(path);
    if (!S_ISCHR(there.st_mode))
        return pol_fail(POL_EUSER, "cannot write (neither a regular file nor a device): %s", path);
    errno = 0;
    const int file = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 || close(file) != 0)
        return pol_fail(POL_EUSER, "cannot write (%s): %s", strerror(errno ? errno : EIO), path);
    return POL_OK;
}

static bool are_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Finds the folder of a file that may not be there; returns the name in it. */
static const char *find_folder(const char *path, struct stat *folder)
{
    char name[NEW_FILE_PATH_NBYTES];
    const char *const slash = strrchr(path, '/');
    const int n = slash ? snprintf(name, sizeof name, "%.*s/", (int)(slash - path), path)
                        : snprintf(name, sizeof name, ".");
    if (n < 0 || (size_t)n >= sizeof name || stat(name, folder) != 0)
        return NULL;
    return slash ? slash + 1 : path;
}

static bool are_one_file(const char *x, const char *y)
{
    struct stat a, b;
    if (stat(x, &a) == 0 && stat(y, &b) == 0)
        return are_one(&a, &b);
    const char *const x_name = find_folder(x, &a), *const y_name = find_folder(y, &b);
    return x_name && y_name && are_one(&a, &b) && strcmp(x_name, y_name) == 0;
}

static pol_status check_apart(const char *path, const char *other)
{
    if (path && other && are_one_file(path, other))
        return pol_fail(POL_EUSER, "it would be written over: %s", other);
    return POL_OK;
}

/* What is printed would go to a file that has no name any more. */
static pol_status check_apart_from_output(const char *path)
{
    struct stat a, b;
    if (path && stat(path, &a) == 0 && fstat(STDOUT_FILENO, &b) == 0 && S_ISREG(a.st_mode) &&
        are_one(&a, &b))
        return pol_fail(POL_EUSER, "it would be written over: standard output");
    return POL_OK;
}

pol_status outputs_check(const struct options *o)
{
    POL_TRY(check_apart(o->curve, o->out));
    POL_TRY(check_apart(o->out, o->tokenizer));
    POL_TRY(check_apart(o->curve, o->tokenizer));
    for (int i = 0; i < o->ntexts; i++) {
        POL_TRY(check_apart(o->out, o->texts[i]));
        POL_TRY(check_apart(o->curve, o->texts[i]));
    }
    POL_TRY(check_apart_from_output(o->out));
    POL_TRY(check_apart_from_output(o->curve));
    POL_TRY(check_new_file(o->out));
    return o->curve ? check_curve(o->curve) : POL_OK;
}

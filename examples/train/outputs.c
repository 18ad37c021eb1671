/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* open, lstat */
#endif
#include "outputs.h"

#include <pol/pol.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_NBYTES = 4096 };

static pol_status cannot_write(const char *path)
{
    return pol_fail(POL_EUSER, "cannot write (%s): %s", strerror(errno ? errno : EIO), path);
}

/* Makes a file and takes it away. */
static bool may_create(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    (void)close(file);
    return unlink(path) == 0;
}

static bool may_open(const char *path)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && close(file) == 0;
}

/* A model is written beside its place, then moved there. */
static pol_status check_model(const char *path)
{
    char beside[PATH_NBYTES];
    struct stat there;
    const int n = snprintf(beside, sizeof beside, "%s.%ld.part", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof beside)
        return pol_fail(POL_EUSER, "cannot write (the name is too long): %s", path);
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return pol_fail(POL_EUSER, "cannot write (not a regular file): %s", path);
    errno = 0;
    return may_create(beside) ? POL_OK : cannot_write(path);
}

static pol_status check_curve(const char *path)
{
    struct stat there;
    errno = 0;
    const bool may = stat(path, &there) == 0 ? may_open(path) : may_create(path);
    return may ? POL_OK : cannot_write(path);
}

static bool are_one_file(const char *x, const char *y)
{
    struct stat a, b;
    if (strcmp(x, y) == 0)
        return true;
    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static pol_status check_apart(const char *path, const char *other)
{
    if (path && other && are_one_file(path, other))
        return pol_fail(POL_EUSER, "it would be written over: %s", other);
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
    POL_TRY(check_model(o->out));
    return o->curve ? check_curve(o->curve) : POL_OK;
}

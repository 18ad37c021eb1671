/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath, lstat, fchmod, fsync */
#endif
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names come last in a message: a long one must not cut off the reason. */
static pol_status cannot_write(const char *path)
{
    return pol_fail(POL_EUSER, "cannot write (%s): %s", strerror(errno ? errno : EIO), path);
}

/* The names of the file itself, whatever link leads to it. For a plain name realpath() would be
   work for nothing, and for a long one it may allocate. */
static pol_status find_place(struct new_file *f)
{
    struct stat there;
    if (lstat(f->path, &there) == 0 && S_ISLNK(there.st_mode)) {
        if (!realpath(f->path, f->place))
            return errno == ENOENT
                       ? pol_fail(POL_EUSER, "cannot write (a link to nothing): %s", f->path)
                       : cannot_write(f->path);
    } else {
        const int n = snprintf(f->place, sizeof f->place, "%s", f->path);
        if (n < 0 || (size_t)n >= sizeof f->place)
            return pol_fail(POL_EUSER, "cannot write (the name is too long): %s", f->path);
    }
    (void)snprintf(f->beside, sizeof f->beside, "%s.%ld.part", f->place, (long)getpid());
    return POL_OK;
}

pol_status new_file_open(struct new_file *f, const char *path)
{
    struct stat there;
    f->path = path;
    POL_TRY(find_place(f));
    errno = 0;
    const bool replaces = stat(f->place, &there) == 0;
    if (replaces && !S_ISREG(there.st_mode))
        return pol_fail(POL_EUSER, "cannot write (not a regular file): %s", path);
    if (replaces && access(f->place, W_OK) != 0)
        return cannot_write(path);
    f->file = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->file < 0)
        return cannot_write(path);
    if (replaces)
        (void)fchmod(f->file, there.st_mode & 0777); /* fails where there are no permissions */
    errno = 0;
    return POL_OK;
}

/* A new name is on the disk when its folder is. Not every file system can do that for a folder, and
   the file is there all the same. */
static void sync_folder(char *place)
{
    char *const slash = strrchr(place, '/');
    if (slash)
        slash[slash == place] = '\0';
    const int folder = open(slash ? place : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    (void)fsync(folder);
    (void)close(folder);
}

pol_status new_file_close(struct new_file *f, bool written)
{
    written = written && fsync(f->file) == 0; /* on the disk before it takes the other's name */
    int error = errno;
    if (close(f->file) != 0 && written) {
        error = errno;
        written = false;
    }
    if (written && rename(f->beside, f->place) == 0) {
        sync_folder(f->place);
        return POL_OK;
    }
    error = written ? errno : error;
    (void)unlink(f->beside);
    errno = error;
    return cannot_write(f->path);
}

void new_file_discard(struct new_file *f)
{
    (void)close(f->file);
    (void)unlink(f->beside);
}

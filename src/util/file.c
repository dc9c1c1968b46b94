/* SPDX-License-Identifier: MIT */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

bool file_no_room(int system_error)
{
    return system_error == ENOSPC || system_error == EFBIG || system_error == EDQUOT;
}

/* Resolution of a path. */

#define MOST_LINKS 40

struct file_target {
    const char *name; /* as the user wrote it, for messages */
    struct text path; /* with symbolic links resolved */
    int descriptor;   /* the open descriptor that the path names, or -1 */
    bool there;
    struct stat status; /* valid if `there` */
};

static int fail_writing(const struct file_target *target, struct error *err)
{
    return fail(err, ERROR_OTHER, "cannot write '%s': %s", target->name, strerror(errno));
}

/* Returns the directory part of a path with its last slash, or "".  The caller frees it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return memory_bytes(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/*
 * Returns the descriptor that a path such as /dev/fd/1 names, or -1.  /dev/stdout is a link to such
 * a path.  If such a path were opened, writing would begin at the start of the file and overwrite
 * text that other commands have already written to it.
 */
static int descriptor_named(const char *path)
{
    char *directory = directory_of(path), *whole = realpath(*directory ? directory : ".", NULL);
    char *of_descriptors = realpath("/dev/fd", NULL);
    const char *name = path + strlen(directory);
    uint64_t number;
    bool is_one = whole && of_descriptors && !strcmp(whole, of_descriptors) &&
                  number_unsigned(name, strlen(name), &number) && number <= INT_MAX;
    free(directory);
    free(whole);
    free(of_descriptors);
    return is_one ? (int)number : -1;
}

/*
 * Follows one symbolic link.  Returns false if the path is not a link, or if it does not lead to a
 * regular file.  For example, the link of an open pipe does not contain a usable name.
 */
static bool follow_link(struct file_target *target)
{
    char next[PATH_MAX];
    if (target->there && !S_ISREG(target->status.st_mode))
        return false;
    ssize_t length = readlink(target->path.bytes, next, sizeof next);
    if (length < 0)
        return false;
    char *directory = directory_of(target->path.bytes);
    target->path.length = 0;
    text_add(&target->path, *next == '/' ? "" : directory);
    text_add_bytes(&target->path, next, (size_t)length);
    free(directory);
    return true;
}

static int find_target(struct file_target *target, const char *name, struct error *err)
{
    *target = (struct file_target){ .name = name };
    text_add(&target->path, name);
    target->there = !stat(name, &target->status);
    for (int links = 0; links < MOST_LINKS; links++) {
        target->descriptor = descriptor_named(target->path.bytes);
        if (target->descriptor >= 0 || !follow_link(target))
            return 0;
    }
    errno = ELOOP;
    return fail_writing(target, err);
}

/* Writing. */

/* A closed pipe is not an error, because its reader needs no more data. */
static int file_fill(int file, const struct file_target *target, const struct text *text,
                     struct error *err)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t written = write(file, text->bytes + done, text->length - done);
        if (written < 0 && errno == EPIPE)
            return 0;
        if (written < 0 && errno != EINTR)
            return fail_writing(target, err);
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static int write_into(const struct file_target *target, const struct text *text, struct error *err)
{
    int file = target->descriptor >= 0 ? dup(target->descriptor)
                                       : open(target->path.bytes, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return fail_writing(target, err);
    int result = file_fill(file, target, text, err);
    if (close(file) && !result)
        result = fail_writing(target, err);
    return result;
}

/* Replacing. */

/*
 * Creates a file with a temporary name next to the target.  If the target exists, only the owner
 * may read the new file until keep_mode() sets its mode.
 */
static int create_unfinished(const struct file_target *target, struct text *path)
{
    int file = -1;
    for (unsigned attempt = 0; file < 0 && attempt < 100; attempt++) {
        path->length = 0;
        text_format(path, "%s.%ld-%u", target->path.bytes, (long)getpid(), attempt);
        file =
            open(path->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target->there ? 0600 : 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    return file;
}

/*
 * Gives the new file the owner, group and mode of the old one.  If the group cannot be set, the
 * process's own group gets only the permissions that all users have.
 */
static int keep_mode(int file, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(file, old->st_uid, old->st_gid) && fchown(file, (uid_t)-1, old->st_gid))
        mode &= ~(mode_t)0070 | (mode & 0007) << 3;
    return fchmod(file, mode);
}

/*
 * Syncs the directory, so that the rename is on disk.  Ignores file systems that do not support
 * this and directories that the process cannot read.
 */
static int sync_directory(const char *path)
{
    char *directory = directory_of(path);
    int file = open(*directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (file < 0)
        return 0;
    int result = fsync(file) && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
    close(file);
    return result;
}

static int replace(const struct file_target *target, const struct text *text, struct error *err)
{
    struct text unfinished = { 0 };
    int file = create_unfinished(target, &unfinished);
    int result = file < 0 ? fail_writing(target, err) : 0;
    if (!result) {
        result = file_fill(file, target, text, err);
        if (!result && ((target->there && keep_mode(file, &target->status)) || fsync(file)))
            result = fail_writing(target, err);
        if (close(file) && !result)
            result = fail_writing(target, err);
        if (!result && rename(unfinished.bytes, target->path.bytes))
            result = fail_writing(target, err);
        if (result)
            unlink(unfinished.bytes);
        else if (sync_directory(target->path.bytes))
            result = fail_writing(target, err);
    }
    text_free(&unfinished);
    return result;
}

int file_read(const char *path, struct text *text, struct stat *status, struct error *err)
{
    char part[65536];
    struct stat own;
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!file)
        return fail(err, ERROR_OTHER, "cannot open '%s': %s", path, strerror(errno));
    text_add(text, "");
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        text_add_bytes(text, part, got);
    bool failed = ferror(file) || fstat(fileno(file), status ? status : &own);
    int reason = errno;
    if (file != stdin)
        fclose(file);
    return failed ? fail(err, ERROR_OTHER, "cannot read '%s': %s", path, strerror(reason)) : 0;
}

int file_write(const char *path, const struct text *text, struct error *err)
{
    struct file_target target;
    int result = find_target(&target, path, err);
    bool replaced = target.descriptor < 0 && (!target.there || S_ISREG(target.status.st_mode));
    if (!result)
        result = (replaced ? replace : write_into)(&target, text, err);
    text_free(&target.path);
    return result;
}

/* Temporary files. */

FILE *file_temporary(const char **directory)
{
    const char *wanted = getenv("TMPDIR");
    *directory = wanted && *wanted ? wanted : !access("/var/tmp", W_OK) ? "/var/tmp" : "/tmp";
    struct text path = { 0 };
    text_format(&path, "%s/fairmill-XXXXXX", *directory);
    int file = mkstemp(path.bytes);
    if (file >= 0)
        unlink(path.bytes);
    text_free(&path);
    return file < 0 ? NULL : fdopen(file, "w+");
}

/* SPDX-License-Identifier: MIT */
#include "results/run_mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "util/memory.h"
#include "util/state_folder.h"
#include "util/text.h"

struct mark_name {
    char bytes[32];
};

static struct mark_name name_of(const char *path)
{
    struct mark_name name;
    snprintf(name.bytes, sizeof name.bytes, "unrecorded-%016llx",
             (unsigned long long)XXH3_64bits(path, strlen(path)));
    return name;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The path of `base` in the directory of `path`, without symbolic links, to be freed. */
static char *beside(const char *path, const char *base)
{
    struct text text = { 0 };
    size_t length = (size_t)(base_of(path) - path);
    char *folder = length ? memory_bytes(path, length) : memory_text(".");
    char *real = realpath(folder, NULL);
    text_format(&text, "%s/%s", real ? real : folder, base);
    free(real);
    free(folder);
    real = realpath(text.bytes, NULL);
    if (!real)
        return text.bytes;
    text_free(&text);
    return real;
}

static struct mark_name mark_of(const char *settings_path)
{
    char *path = beside(settings_path, base_of(settings_path));
    struct mark_name name = name_of(path);
    free(path);
    return name;
}

/* A new file each time: an old one may be another user's. */
static bool leave(int folder, const struct mark_name *name, int status)
{
    unlinkat(folder, name->bytes, 0);
    int file = openat(folder, name->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    int written = dprintf(file, "%d\n", status);
    return !close(file) && written > 0;
}

void run_mark_leave(const char *settings_path, int status)
{
    const struct mark_name name = mark_of(settings_path);
    bool left = false;
    for (unsigned i = 0; !left && i < STATE_FOLDERS; i++) {
        int folder = state_folder_open(i, STATE_MAKE);
        if (folder < 0)
            continue;
        left = leave(folder, &name, status);
        close(folder);
    }
}

void run_mark_remove(const char *settings_path)
{
    const struct mark_name name = mark_of(settings_path);
    for (unsigned i = 0; i < STATE_FOLDERS; i++) {
        int folder = state_folder_open(i, STATE_WRITE);
        if (folder < 0)
            continue;
        unlinkat(folder, name.bytes, 0);
        close(folder);
    }
}

/* O_NONBLOCK: a pipe of that name would never answer. */
static void read_mark(int folder, const struct mark_name *name, struct run_mark *newest)
{
    struct stat status;
    char digits[8] = "";
    int file = openat(folder, name->bytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_mtime > newest->at &&
        read(file, digits, sizeof digits - 1) >= 0)
        *newest = (struct run_mark){ status.st_mtime, atoi(digits) };
    close(file);
}

struct run_mark run_mark_find(const char *settings_path)
{
    struct run_mark newest = { 0, 0 };
    const struct mark_name own = mark_of(settings_path);
    char *other = beside(settings_path, "fairmill.conf");
    const struct mark_name of_runs = name_of(other);
    bool reads = !strcmp(base_of(settings_path), "reader.conf");
    for (unsigned i = 0; i < STATE_FOLDERS; i++) {
        int folder = state_folder_open(i, STATE_READ);
        if (folder < 0)
            continue;
        read_mark(folder, &own, &newest);
        if (reads)
            read_mark(folder, &of_runs, &newest);
        close(folder);
    }
    free(other);
    return newest;
}

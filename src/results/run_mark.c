/* SPDX-License-Identifier: MIT */
#include "results/run_mark.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "settings/settings.h"
#include "util/memory.h"
#include "util/state_directory.h"
#include "util/text.h"

struct mark_name {
    char bytes[32];
};

static struct mark_name run_mark_name_of(const char *path)
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

/*
 * Returns the path of `base` in the directory of `path`, without symbolic links.  The caller frees
 * it.
 */
static char *run_mark_beside(const char *path, const char *base)
{
    struct text text = { 0 };
    size_t length = (size_t)(base_of(path) - path);
    char *directory = length ? memory_bytes(path, length) : memory_text(".");
    char *real = realpath(directory, NULL);
    text_format(&text, "%s/%s", real ? real : directory, base);
    free(real);
    free(directory);
    real = realpath(text.bytes, NULL);
    if (!real)
        return text.bytes;
    text_free(&text);
    return real;
}

static struct mark_name mark_of(const char *settings_path)
{
    char *path = run_mark_beside(settings_path, base_of(settings_path));
    struct mark_name name = run_mark_name_of(path);
    free(path);
    return name;
}

/*
 * Creates a new file, because another user may own an existing file.  fchmod() makes it readable to
 * all users regardless of umask.
 */
static bool results_run_mark_leave(int directory, const struct mark_name *name, int status)
{
    unlinkat(directory, name->bytes, 0);
    int file = openat(directory, name->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    fchmod(file, 0644);
    dprintf(file, "%d\n", status);
    close(file);
    return true;
}

void run_mark_leave(const char *settings_path, int status)
{
    const struct mark_name name = mark_of(settings_path);
    bool left = false;
    for (unsigned i = 0; i < STATE_FOLDERS || (!left && i == STATE_LAST_RESORT); i++) {
        int directory = state_directory_open(i, STATE_MAKE);
        if (directory < 0)
            continue;
        left |= results_run_mark_leave(directory, &name, status);
        close(directory);
    }
}

void run_mark_remove(const char *settings_path)
{
    const struct mark_name name = mark_of(settings_path);
    for (unsigned i = 0; i <= STATE_LAST_RESORT; i++) {
        int directory = state_directory_open(i, STATE_WRITE);
        if (directory < 0)
            continue;
        unlinkat(directory, name.bytes, 0);
        close(directory);
    }
}

/* Uses O_NONBLOCK, because opening a pipe with this name would block forever. */
static void read_mark(int directory, const struct mark_name *name, struct run_mark *newest)
{
    struct stat status;
    char digits[8] = "";
    int file = openat(directory, name->bytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_mtime > newest->at &&
        read(file, digits, sizeof digits - 1) >= 0)
        *newest = (struct run_mark){ status.st_mtime, atoi(digits) };
    close(file);
}

static void run_mark_add_user(struct run_users *users, uid_t user)
{
    for (size_t i = 0; i < users->count; i++)
        if (users->users[i] == user)
            return;
    *memory_append(&users->users, &users->count) = user;
}

void run_users_add(struct run_users *users, const char *name)
{
    const struct passwd *entry = getpwnam(name);
    if (entry)
        run_mark_add_user(users, entry->pw_uid);
}

static void add_owner(struct run_users *users, const char *path)
{
    struct stat status;
    if (path && !stat(path, &status))
        run_mark_add_user(users, status.st_uid);
}

void run_users_free(struct run_users *users)
{
    free(users->users);
    *users = (struct run_users){ 0 };
}

/* The marks to look for, and the newest mark that was found. */
struct run_mark_search {
    struct mark_name own, of_runs;
    bool reads;
    struct run_mark newest;
};

static void run_mark_look_in(struct run_mark_search *search, int directory)
{
    if (directory < 0)
        return;
    read_mark(directory, &search->own, &search->newest);
    if (search->reads)
        read_mark(directory, &search->of_runs, &search->newest);
    close(directory);
}

static void look_at_users(struct run_mark_search *search, const struct run_users *users)
{
    for (size_t i = 0; i < users->count; i++)
        for (unsigned number = 0; number < 2; number++)
            run_mark_look_in(search, state_directory_open_of(users->users[i], number));
}

struct run_mark run_mark_find(const struct settings *settings, const struct run_users *users)
{
    const char *path = settings->path;
    char *other = run_mark_beside(path, "fairmill.conf");
    struct run_mark_search search = { .own = mark_of(path),
                                      .of_runs = run_mark_name_of(other),
                                      .reads = !strcmp(base_of(path), "reader.conf") };
    struct run_users always = { 0 };
    run_mark_add_user(&always, 0);
    run_users_add(&always, "fairmill");
    add_owner(&always, path);
    if (!strcmp(settings->results.driver, "sqlite"))
        add_owner(&always, settings->results.database);
    for (unsigned i = 0; i < STATE_FOLDERS; i++)
        run_mark_look_in(&search, state_directory_open(i, STATE_READ));
    look_at_users(&search, &always);
    look_at_users(&search, users);
    run_users_free(&always);
    free(other);
    return search.newest;
}

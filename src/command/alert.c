/* SPDX-License-Identifier: MIT */
#include "command/alert.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "command/command.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/state_folder.h"

struct alert {
    uint64_t after_s;
    char name[40]; /* of the file with the instant at which the spell began */
    bool failed;   /* this run belongs to a spell */
    bool lasting;  /* that began before it */
    int64_t since; /* 0: that cannot be remembered */
};

static int find_folder(enum state_use use)
{
    int folder = -1;
    for (unsigned i = 0; folder < 0 && i < STATE_FOLDERS; i++)
        folder = state_folder_open(i, use);
    return folder;
}

/* The file. */

/* The instant in it; 0 where there is none, or one that is still to come: then the clock was set
 * back, and nobody knows how long it has been. */
static int64_t read_since(int file, int64_t now)
{
    char digits[24];
    int64_t since;
    ssize_t length = pread(file, digits, sizeof digits, 0);
    if (length < 1 || !number_signed(digits, (size_t)length - 1, &since) ||
        digits[length - 1] != '\n' || since > now)
        return 0;
    return since;
}

static bool write_since(int file, int64_t since)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64 "\n", since);
    return !ftruncate(file, 0) && pwrite(file, digits, (size_t)length, 0) == length;
}

static int64_t since_in_file(int file, struct alert *alert, int64_t now)
{
    if (!state_is_ours(file, S_IFREG))
        return 0;
    int64_t since = read_since(file, now);
    alert->lasting = since > 0;
    return since > 0 ? since : write_since(file, now) ? now : 0;
}

/* Since when the spell lasts, which begins now where there was none. */
static int64_t remember_since(struct alert *alert, int64_t now)
{
    int folder = find_folder(STATE_MAKE);
    if (folder < 0)
        return 0;
    int64_t since = 0;
    /* O_NONBLOCK: a pipe of that name would keep us waiting. */
    int file =
        openat(folder, alert->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file >= 0) {
        since = since_in_file(file, alert, now);
        close(file);
    }
    close(folder);
    return since;
}

static void forget_since(const struct alert *alert)
{
    int folder = find_folder(STATE_WRITE);
    if (folder < 0)
        return;
    unlinkat(folder, alert->name, 0);
    close(folder);
}

/* The spell. */

/* Runs for different clusters have their own spells: one that goes well must not end another's. */
static void name_file(struct alert *alert, const struct settings *settings, char *const *clusters,
                      size_t count)
{
    char *path = realpath(settings->path, NULL);
    struct text key = { 0 };
    text_add(&key, path ? path : settings->path);
    for (size_t i = 0; i < count; i++) {
        text_add_bytes(&key, "", 1);
        text_add(&key, clusters[i]);
    }
    snprintf(alert->name, sizeof alert->name, "failing-since-%016llx",
             (unsigned long long)XXH3_64bits(key.bytes, key.length));
    text_free(&key);
    free(path);
}

struct alert *alert_create(const struct settings *settings, char *const *clusters, size_t count)
{
    struct alert *alert = memory_zeroed(1, sizeof *alert);
    alert->after_s = settings->alert_after_s;
    name_file(alert, settings, clusters, count);
    return alert;
}

static bool may_pass(const struct error *err)
{
    int status = error_exit_status(err->class);
    return status == 69 || status == 75;
}

static void complain_since(const struct error *err, int64_t since)
{
    struct error whole = { .class = err->class };
    struct text date = { 0 };
    instant_add(&date, since);
    fail(&whole, err->class, "%.1900s; this has lasted since %s", err->message, date.bytes);
    text_free(&date);
    complain(&whole);
}

void alert_complain(struct alert *alert, const struct error *err)
{
    if (!may_pass(err) || !alert->after_s) {
        complain(err);
        return;
    }
    int64_t now = time(NULL);
    if (!alert->failed)
        alert->since = remember_since(alert, now);
    alert->failed = true;
    bool lasted = !alert->since || (uint64_t)(now - alert->since) >= alert->after_s;
    if (!lasted && !log_is_verbose() && !isatty(STDERR_FILENO))
        keep_quiet_about(err);
    else if (alert->lasting)
        complain_since(err, alert->since);
    else
        complain(err);
}

void alert_end(struct alert *alert)
{
    if (!alert)
        return;
    if (!alert->failed)
        forget_since(alert);
    free(alert);
}

/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <xxhash.h>

#include "command/command.h"
#include "command/show/computed_shares.h"
#include "report/shares.h"
#include "results/permissions_rows.h"
#include "results/run_mark.h"
#include "run/run.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/state_directory.h"
#include "util/times.h"

/*
 * Cron mails the output of a run, every five minutes.  Temporary failures (exit status 69, a
 * database is not available; 75, another run is running) are therefore printed only after they have
 * lasted [report] alert_after.  The exit status shows them from the first run on.
 *
 * A failure period begins with a run that had such a failure.  It ends with the first run that had
 * no such failure, even if that run failed for another reason, which is printed at once.  A small
 * file for each settings file and selection of clusters contains the start of the period.  The file
 * is in a directory that other users cannot write to.  Every failure is printed at once if the file
 * cannot be written, with -v, or if standard error is a terminal.
 */
struct alert {
    uint64_t after_s;
    char name[40]; /* name of the state file, which contains the time of the first failure */
    bool failed;   /* this run is in a failure period */
    bool lasting;  /* the period began with an earlier run */
    int64_t since; /* start of the period; 0 if it cannot be stored */
};

static int find_directory(enum state_use use)
{
    int directory = -1;
    for (unsigned i = 0; directory < 0 && i < STATE_FOLDERS; i++)
        directory = state_directory_open(i, use);
    return directory;
}

/* ---- The state file ---- */

/* Returns the time in the file, or 0 if the file contains no time.  Also returns 0 for a time in
 * the future: the clock was set back, so the length of the period is unknown. */
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

/* Returns the start of the failure period.  If the state file contains no time, the period begins
 * now. */
static int64_t remember_since(struct alert *alert, int64_t now)
{
    int directory = find_directory(STATE_MAKE);
    if (directory < 0)
        return 0;
    int64_t since = 0;
    /* O_NONBLOCK: opening a named pipe would block. */
    int file = openat(directory, alert->name,
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file >= 0) {
        since = since_in_file(file, alert, now);
        close(file);
    }
    close(directory);
    return since;
}

static void forget_since(const struct alert *alert)
{
    int directory = find_directory(STATE_WRITE);
    if (directory < 0)
        return;
    unlinkat(directory, alert->name, 0);
    close(directory);
}

/* ---- Failures ---- */

/* The file's name depends on the clusters: a successful run for some clusters must not end the
 * failure period of others. */
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

/* Starts the failure handling of a run.  The caller ends it with alert_end(). */
static struct alert *alert_create(const struct settings *settings, char *const *clusters,
                                  size_t count)
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
    time_add(&date, since);
    fail(&whole, err->class, "%.1900s; failing since %s", err->message, date.bytes);
    text_free(&date);
    complain(&whole);
}

/* Prints the error with complain(), or only records its exit status. */
static void alert_complain(struct alert *alert, const struct error *err)
{
    if (!may_pass(err) || !alert->after_s) {
        complain(err);
        return;
    }
    int64_t now = clock_now();
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

/* Ends the failure handling of a run, and frees `alert`, which may be NULL.  If the run had no
 * temporary failure, the failure period ends. */
static void alert_end(struct alert *alert)
{
    if (!alert)
        return;
    if (!alert->failed)
        forget_since(alert);
    free(alert);
}

/* The answer that a dry run prints. */
static struct answer *shown;

static int show(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err)
{
    (void)err;
    struct share_list *list = computed_shares(settings, cluster, computation);
    struct permissions permissions = permissions_of_user(settings);
    permissions_admit_writer(&permissions, settings);
    share_list_hide_others(list, &permissions);
    permissions_free(&permissions);
    share_list_answer(list, shown);
    share_list_destroy(list);
    return 0;
}

static struct alert *alert;

static void complain_in_time(const struct error *err)
{
    alert_complain(alert, err);
}

/* Prints every error at once, because a user waits for the output. */
static int dry_run(const struct settings *settings, const struct run_options *options,
                   struct error *err)
{
    static const struct table_options for_people = { 0 };
    shown = answer_create(&share_layout, &for_people, command_print, err);
    int result = run(settings, options, err);
    if (!result)
        result = answer_end(shown, err);
    answer_destroy(shown);
    return result;
}

static int run_in_earnest(const struct settings *settings, struct run_options *options,
                          struct error *err)
{
    static int unrecorded; /* run() sets it to the exit status of a failure that was not recorded */
    alert = alert_create(settings, options->clusters.names, options->clusters.count);
    options->complain = complain_in_time;
    options->unrecorded = &unrecorded;
    if (run(settings, options, err))
        complain_in_time(err);
    alert_end(alert);
    if (unrecorded)
        run_mark_leave(settings->path, unrecorded);
    else if (!options->clusters.count && first_failure() != error_exit_status(ERROR_LOCKED))
        run_mark_remove(settings->path);
    return 0; /* errors that were printed determine the exit status */
}

struct command_run_options {
    struct shared_options shared;
    bool replace, full;
};

static const struct command_option own_options[] = {
    { "replace", NULL, 0, OPTION_FLAG, AT(command_run_options, replace), NULL,
      .help = "With --now, also replace results newer than TIME" },
    { "full", NULL, 0, OPTION_FLAG, AT(command_run_options, full), NULL,
      .help = "Read all jobs again and report the drift of stored sums" },
    { .name = NULL },
};

/* Without settings, a run cannot record its failure in the results, so it leaves a mark on this
 * host. */
static int run_without_settings(const struct command_context *context, struct error *err)
{
    if (!context->shared->dry_run)
        run_mark_leave(settings_path(context->invocation->settings_path),
                       error_exit_status(err->class));
    return -1;
}

static int run_command(struct command_context *context, struct error *err)
{
    const struct command_run_options *asked = context->options;
    const struct shared_options *shared = context->shared;
    struct run_options options = {
        .clusters = { shared->clusters.values, shared->clusters.count },
        .now = shared->now.text ? &shared->now.at : NULL,
        .replace = asked->replace,
        .full = asked->full,
        .dry_run = shared->dry_run,
        .complain = complain,
        .show = show,
    };
    return shared->dry_run ? dry_run(context->settings, &options, err)
                           : run_in_earnest(context->settings, &options, err);
}

const struct command command_run = {
    .name = "run",
    .group = GROUP_COMPUTE,
    .summary = "Compute and publish the current values",
    .usage = "[OPTION...]",
    .description = "Compute usage, fairshare values and job priorities, and publish them.\n",
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_DRY_RUN | TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct command_run_options),
    .use = SETTINGS_FOR_ALL,
    .answer = run_command,
    .without_settings = run_without_settings,
};

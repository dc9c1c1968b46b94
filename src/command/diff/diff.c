/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/diff/diff_causes.h"
#include "command/named.h"
#include "db/db.h"
#include "report/differences.h"
#include "report/sshare_print.h"
#include "results/snapshot.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* slurmctld's PriorityCalcPeriod where nobody says another. */
#define PERIOD_S 300
#define PERIOD_AT_MOST_S 86400

struct wish {
    const char *file;
    struct option_list cluster;
    int64_t at;
    bool has_at;
    bool has_source;       /* the settings name an accounting database */
    uint64_t period, step; /* 0: not said */
    const struct differences_form *form;
};

/* The print; without --at its file's time is taken for that of the print. */
static int read_file(struct wish *wish, struct text *bytes, struct error *err)
{
    char part[65536];
    struct stat status;
    FILE *file = strcmp(wish->file, "-") ? fopen(wish->file, "r") : stdin;
    if (!file)
        return fail(err, ERROR_OTHER, "cannot open '%s': %s", wish->file, strerror(errno));
    text_add(bytes, "");
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        text_add_bytes(bytes, part, got);
    bool failed = ferror(file) || fstat(fileno(file), &status);
    int reason = errno;
    if (file != stdin)
        fclose(file);
    if (failed)
        return fail(err, ERROR_OTHER, "cannot read '%s': %s", wish->file, strerror(reason));
    if (!wish->has_at && !S_ISREG(status.st_mode))
        return fail(err, ERROR_USAGE, "diff: '%s' is no file with a time of its own: use --at",
                    wish->file);
    if (!wish->has_at)
        wish->at = (int64_t)status.st_mtime;
    return 0;
}

static uint64_t period_of(const struct wish *wish, const struct settings *settings)
{
    uint64_t period = settings->slurm ? slurm_calc_period(settings->slurm) : 0;
    if (wish->period)
        return wish->period;
    return period && period <= PERIOD_AT_MOST_S ? period : PERIOD_S;
}

/* NULL where it cannot be read. */
static struct db *open_source(const struct wish *wish, const struct settings *settings)
{
    struct error why;
    struct db *source;
    if (!wish->has_source)
        return NULL;
    if (!db_open(&source, &settings->source, DB_SOURCE, &why))
        return source;
    log_note("%s", why.message);
    return NULL;
}

/* Leave only what may be told. */
static void drop_others(struct differences *differences, const char *login)
{
    size_t kept = 0;
    for (size_t i = 0; i < differences->count; i++)
        if (!login || !differences->rows[i].is_user || !strcmp(differences->rows[i].user, login))
            differences->rows[kept++] = differences->rows[i];
    differences->count = kept;
}

static int diff_cluster(const struct wish *wish, const struct settings *settings,
                        const struct snapshot *snapshot, const char *login,
                        const struct text *bytes, bool *explained, struct error *err)
{
    struct sshare_print print;
    struct differences differences;
    struct text text = { 0 };
    if (sshare_print_read(&print, bytes->bytes, bytes->length, snapshot->cluster, err))
        return fail_in(err, "'%s'", wish->file);
    struct db *source = open_source(wish, settings);
    struct diff_case asked = {
        settings,   snapshot,
        &print,     source,
        wish->at,   period_of(wish, settings),
        wish->step, settings->slurm && !slurm_enforces_limits(settings->slurm)
    };
    int result = diff_causes_find(&asked, &differences, err);
    db_close(source);
    if (!result) {
        drop_others(&differences, login);
        *explained = differences_are_explained(&differences);
        wish->form->add(&text, &differences);
        diff_causes_free(&differences);
        result = command_print(&text, err);
    }
    text_free(&text);
    sshare_print_free(&print);
    return result;
}

/* A print is of one cluster. */
static const struct snapshot *only_one(const struct snapshots *snapshots, struct error *err)
{
    const struct snapshot *found = NULL;
    for (size_t i = 0; i < snapshots->count; i++) {
        if (!snapshots->clusters[i].tree)
            continue;
        if (found) {
            fail(err, ERROR_USAGE, "diff: of which cluster is the print? use --cluster");
            return NULL;
        }
        found = &snapshots->clusters[i];
    }
    return found;
}

/* A step that is known may be any: they are a period apart. */
static int align_step(struct wish *wish, const struct settings *settings, struct error *err)
{
    uint64_t period = period_of(wish, settings), at = (uint64_t)wish->at;
    if (!wish->step)
        return 0;
    if (wish->step > at)
        return fail(err, ERROR_USAGE, "diff: --step is later than the print");
    wish->step = at - (at - wish->step) % period;
    return 0;
}

static int diff_published(struct wish *wish, const struct settings *settings, struct error *err)
{
    struct snapshots snapshots = { 0 };
    struct text bytes = { 0 };
    bool explained = false;
    int result = read_file(wish, &bytes, err);
    if (!result)
        result = align_step(wish, settings, err);
    if (!result)
        result = named_read(settings, &wish->cluster, &snapshots, err);
    const struct snapshot *snapshot = result ? NULL : only_one(&snapshots, err);
    result = snapshot
                 ? diff_cluster(wish, settings, snapshot, snapshots.login, &bytes, &explained, err)
                 : -1;
    snapshots_free(&snapshots);
    text_free(&bytes);
    return result ? -1 : !explained;
}

static int take_wish(struct wish *wish, const char *at, const char *period, const char *step,
                     struct error *err)
{
    int64_t instant;
    if (!wish->file)
        return fail(err, ERROR_USAGE, "diff: which file? see `fairmill diff --help`");
    if (wish->cluster.count > 1)
        return fail(err, ERROR_USAGE, "diff: a print is of one --cluster");
    if (at && !instant_parse(at, &wish->at))
        return fail(err, ERROR_USAGE,
                    "diff: --at '%s' must be epoch seconds or "
                    "YYYY-MM-DD[THH:MM[:SS]]",
                    at);
    wish->has_at = at != NULL;
    if (period && (!duration_parse(period, &wish->period) || !wish->period ||
                   wish->period > PERIOD_AT_MOST_S))
        return fail(err, ERROR_USAGE,
                    "diff: --period '%s' must be a number from 1 to 86400, or "
                    "with m, h or d behind it",
                    period);
    if (step && (!instant_parse(step, &instant) || instant <= 0))
        return fail(err, ERROR_USAGE, "diff: --step '%s' must be an instant as --at is", step);
    if (step)
        wish->step = (uint64_t)instant;
    return 0;
}

/* With the accounting database where this user may read its settings, else without. */
static int load_settings(struct settings **settings, const char *path, struct wish *wish,
                         struct error *err)
{
    struct error why;
    wish->has_source = !settings_load(settings, path, SETTINGS_FOR_ALL, &why);
    if (wish->has_source)
        return 0;
    if (settings_load(settings, path, SETTINGS_FOR_READING, err))
        return -1;
    log_note("%s", why.message);
    return 0;
}

static int diff_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { .form = &differences_table };
    const char *at = NULL, *period = NULL, *step = NULL;
    bool json = false, verbose = false;
    const struct command_option known[] = {
        { "at", 0, NULL, &at, NULL },
        { "period", 0, NULL, &period, NULL },
        { "step", 0, NULL, &step, NULL },
        { "cluster", 'M', NULL, NULL, &wish.cluster },
        { "verbose", 'v', &verbose, NULL, NULL },
        { "json", 0, &json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (command_operands(invocation, known, &wish.file, 1, err))
        goto done;
    log_set_verbose(verbose);
    if (json)
        wish.form = &differences_json;
    /* Times of the command line are of the settings' time zone. */
    if (!load_settings(&settings, invocation->settings_path, &wish, err) &&
        !take_wish(&wish, at, period, step, err))
        result = diff_published(&wish, settings, err);
done:
    option_list_free(&wish.cluster);
    settings_destroy(settings);
    return result;
}

const struct command command_diff = {
    "diff",
    "diff [--at TIME] [--period TIME] [--step TIME]\n"
    "       [--cluster NAME] [-v] [--json] FILE",
    "our values against what `sshare -P -l` printed, and why they differ",
    "FILE is what `sshare -P -l -a` printed, or `sshare -l -a`; - is standard input.\n"
    "\n"
    "      --at TIME       when it was printed; else the file's time\n"
    "      --period TIME   slurmctld's PriorityCalcPeriod; else slurm.conf's, else\n"
    "                      300 s\n"
    "      --step TIME     when slurmctld decayed usage, if known; else it is found\n"
    "  -M, --cluster NAME  of which the print is, where there are several\n"
    "  -v, --verbose       say what is done\n"
    "      --json          one JSON object\n",
    diff_command,
};

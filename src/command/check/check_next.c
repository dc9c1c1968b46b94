/* SPDX-License-Identifier: MIT */
#include "command/check/check_next.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "report/column.h"
#include "results/health.h"
#include "results/rows.h"
#include "run/clusters.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/source.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* Finds the clusters to check.  If they cannot be read, fills `said` with the names in [source]
 * clusters instead, so that missing GRANTs can be listed for them. */
static int find_clusters(const struct settings *settings, struct db *source,
                         struct cluster_names *clusters, struct cluster_names *said,
                         struct error *err)
{
    int result = clusters_wanted(settings, source, NULL, complain, clusters, err);
    const char *at = strcmp(settings->clusters, "all") != 0 ? settings->clusters : NULL;
    for (char *name; result && at && (name = list_next(&at));)
        *memory_append(&said->names, &said->count) = name;
    return result;
}

/* Adds all GRANTs that the login lacks. */
static int check_next_add_missing(const struct settings *settings, struct db *source,
                                  const struct cluster_names *clusters, struct text *missing,
                                  struct error *err)
{
    struct source of = source_of(settings, source, NULL);
    int result = of.layout->add_missing(missing, &of, err);
    for (size_t i = 0; !result && i < clusters->count; i++) {
        of.cluster = clusters->names[i];
        result = of.layout->add_missing(missing, &of, err);
    }
    return result;
}

int check_privileges(const struct settings *settings, struct db *source,
                     struct cluster_names *clusters, struct progress *progress, struct text *text,
                     struct error *err)
{
    struct text missing = { 0 };
    struct error ignored;
    struct cluster_names said = { 0 };
    int result = find_clusters(settings, source, clusters, &said, err);
    if (layout_of(settings)->add_missing)
        check_next_add_missing(settings, source, result ? &said : clusters, &missing, &ignored);
    if (missing.length) {
        text_add(
            text,
            "  warning: the login cannot read these tables; grant the privileges if they exist:\n");
        text_add(text, missing.bytes);
        progress->missing_privileges = true;
    }
    text_free(&missing);
    cluster_names_free(&said);
    return result;
}

/* After this time without a run, in seconds, `check` warns.  Runs usually start every five
 * minutes. */
#define OLD_S 3600
/* This directory exists if systemd is process 1; see sd_booted(3). */
#define SYSTEMD_RUNS "/run/systemd/system"
/* If jobs ended longer ago than this, in seconds, a backfill is useful. */
#define FEW_DAYS_S (3 * 86400)

/* Returns true if cron starts runs.  The crontab of Debian's package does nothing if systemd runs,
 * because the timer starts runs then. */
static bool cron_starts_runs(void)
{
    static const char path[] = "/etc/cron.d/fairmill";
    struct text table = { 0 };
    struct error unread;
    if (access(path, F_OK))
        return false;
    bool leaves_it = !access(SYSTEMD_RUNS, F_OK) && !file_read(path, &table, NULL, &unread) &&
                     table.bytes && strstr(table.bytes, "! -d " SYSTEMD_RUNS);
    text_free(&table);
    return !leaves_it;
}

/* Returns a description of the enabled timer or of cron's file, or NULL.  Checks the paths that the
 * packages and doc/production.md use. */
static const char *starter(void)
{
    if (!access("/etc/systemd/system/timers.target.wants/fairmill.timer", F_OK))
        return "fairmill.timer is enabled";
    return cron_starts_runs() ? "cron runs '/etc/cron.d/fairmill'" : NULL;
}

static void add_start(struct text *text, const struct cluster_health *cluster, int64_t now)
{
    text_format_printable(text, "runs of cluster %s: the last run started ", cluster->cluster);
    text_add_duration(text, now > cluster->started_at ? now - cluster->started_at : 0);
    text_format(text, " ago%s\n", cluster->failed ? ", and failed" : "");
}

/* Sets progress->lacks_history to true if a cluster has jobs that ended days ago but no history
 * points from that time. */
static int find_history(struct progress *progress, const struct settings *settings,
                        struct db *results, int64_t now, struct error *err)
{
    struct db_value before[] = { db_integer(now - FEW_DAYS_S), db_integer(now - FEW_DAYS_S) };
    int64_t count = 0;
    if (!settings->history_days)
        return 0;
    int found = rows_read_integer(results, sql_query_history_lacking, before, 2, &count, err);
    progress->lacks_history = found > 0 && count > 0;
    return found < 0 ? -1 : 0;
}

int check_starts(struct text *text, struct progress *progress, const struct settings *settings,
                 struct db *results, struct error *err)
{
    struct health health;
    int64_t now = clock_now(), newest = 0;
    const char *by = starter();
    int result = health_read(results, settings, now, &health, err);
    progress->started_by_clock = by;
    progress->published = !result && health.count;
    for (size_t i = 0; !result && i < health.count; i++) {
        const struct cluster_health *cluster = &health.clusters[i];
        progress->published &= cluster->published;
        if (!*cluster->status)
            continue;
        add_start(text, cluster, now);
        newest = cluster->started_at > newest ? cluster->started_at : newest;
    }
    bool is_old = newest && now - newest > OLD_S;
    if (by)
        text_format(text, is_old ? "  warning: %s, but no run has started for an hour\n" : "  %s\n",
                    by);
    else if (is_old)
        text_add(text, "  warning: neither fairmill.timer nor /etc/cron.d/fairmill starts runs on "
                       "this host\n");
    health_free(&health);
    if (!result)
        result = find_history(progress, settings, results, now, err);
    return result;
}

void check_times(struct progress *progress, struct db *results,
                 const struct cluster_names *clusters)
{
    int64_t now = clock_now(), as_of = 0;
    for (size_t i = 0; i < clusters->count; i++) {
        struct error err;
        struct db_value name = db_text(clusters->names[i]);
        int found = rows_read_integer(results, sql_query_published, &name, 1, &as_of, &err);
        if (found > 0 && as_of > now)
            fail(&err, ERROR_OTHER,
                 "the clock (%s) is before the time of the published results (%s); every run fails "
                 "until then",
                 time_text(now).bytes, time_text(as_of).bytes);
        if (found >= 0 && as_of <= now)
            continue;
        progress->is_ahead = true;
        fail_in(&err, "cluster '%s'", clusters->names[i]);
        complain(&err);
        as_of = 0;
    }
}

void check_add_next(struct text *text, const struct settings *settings,
                    const struct progress *progress, const struct error *failure)
{
    const struct db_settings *side =
        progress->source_is_read ? &settings->results : &settings->source;
    bool has_privileges = db_driver_named(side->driver)->privileges;
    bool is_access = failure && (failure->class == ERROR_DENIED || failure->class == ERROR_MISSING);
    if (progress->missing_privileges)
        text_add(text, "next: run the GRANTs above as a database administrator, then run `fairmill "
                       "check` again\n");
    else if (is_access && has_privileges)
        text_add(text, "next: run `fairmill init --print >fairmill.sql`, review the file and "
                       "execute it as a database administrator, then run `fairmill check` again\n");
    else if (is_access && progress->source_is_read)
        text_add(text, "next: run `fairmill init` to create the result tables\n");
    else if (progress->is_ahead)
        text_add(text, "next: correct the clock, then run `fairmill run --replace`\n");
    else if (failure && failure->class == ERROR_LOGIN)
        text_format(text,
                    "next: check that the login in [%s] exists and that its password is correct in "
                    "option_file, .pgpass or the environment\n",
                    progress->source_is_read ? "results" : "source");
    else if (failure)
        return;
    else if (progress->bad_data)
        text_format(text, "next: %s\n", source_type_of(settings)->correction);
    else if (first_failure()) /* the message contains the remedy; a run would fail, too */
        return;
    else if (!progress->published)
        text_add(text, "next: run `fairmill run -v` to compute the first results\n");
    else if (progress->lacks_history)
        text_add(text, "next: run `fairmill backfill` to compute history from the existing jobs\n");
    else if (!progress->started_by_clock)
        text_add(text, "next: to start runs every five minutes, run `systemctl enable --now "
                       "fairmill.timer` or install cron/fairmill.cron as /etc/cron.d/fairmill\n");
}

void check_add_first(struct text *text, const char *path)
{
    text_format_printable(text,
                          "next: run `fairmill setup >setup.sh` and read setup.sh, or run "
                          "`install -D -m 644 " DOCDIR
                          "/examples/fairmill.conf %s` to install the sample settings\n",
                          path);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "db/db.h"
#include "report/metrics.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "source/source.h"
#include "sql.h"
#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/text.h"

/* For the textfile collector of Prometheus's node_exporter: what is published, as metrics. */

/* A text of a row, with a NUL behind it. */
static double number_of(const struct db_value *value)
{
    return value->type == DB_REAL      ? value->real
           : value->type == DB_INTEGER ? (double)value->integer
                                       : NAN;
}

/* The columns of sql_query_metrics_values. */
enum {
    CLUSTER,
    ACCOUNT,
    USER,
    PARTITION,
    PARENT,
    SHARES,
    NORM_SHARES,
    RAW_USAGE,
    NORM_USAGE,
    EFFECTIVE_USAGE,
    FAIRSHARE,
    LEVEL_FS,
    LEVEL_FS_INFINITE,
    RANK,
};

static void add_association(struct metrics *metrics, const struct db_value *row)
{
    char *names[] = { db_value_text(&row[CLUSTER]), db_value_text(&row[ACCOUNT]),
                      db_value_text(&row[USER]), db_value_text(&row[PARTITION]),
                      db_value_text(&row[PARENT]) };
    bool of_user = *names[USER];
    struct metric_labels labels = {
        .cluster = names[CLUSTER],
        .account = names[ACCOUNT],
        .user = of_user ? names[USER] : NULL,
        .partition = *names[PARTITION] ? names[PARTITION] : NULL,
    };
    bool infinite = number_of(&row[LEVEL_FS_INFINITE]) != 0;
#define OF(what) (of_user ? METRIC_USER_##what : METRIC_ACCOUNT_##what)
    metrics_add(metrics, OF(FAIRSHARE), &labels, number_of(&row[FAIRSHARE]));
    metrics_add(metrics, OF(NORM_SHARES), &labels, number_of(&row[NORM_SHARES]));
    metrics_add(metrics, OF(NORM_USAGE), &labels, number_of(&row[NORM_USAGE]));
    metrics_add(metrics, OF(RAW_SHARES), &labels, number_of(&row[SHARES]));
    metrics_add(metrics, OF(RAW_USAGE), &labels, number_of(&row[RAW_USAGE]));
#undef OF
    metrics_add(metrics, METRIC_EFFECTIVE_USAGE, &labels, number_of(&row[EFFECTIVE_USAGE]));
    metrics_add(metrics, METRIC_LEVEL_FS, &labels, infinite ? NAN : number_of(&row[LEVEL_FS]));
    metrics_add(metrics, METRIC_RANK, &labels, number_of(&row[RANK]));
    if (!of_user && row[PARENT].type == DB_TEXT) {
        labels.parent = names[PARENT];
        metrics_add(metrics, METRIC_PARENT, &labels, 1);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]);
}

/* With [report] private no user has metrics: everybody may see them. */
static void add_account(struct metrics *metrics, const struct db_value *row)
{
    if (!row[USER].text.length)
        add_association(metrics, row);
}

/* The columns of sql_query_status that are metrics. */
enum {
    STATUS_RUN_ID = 1,
    STATUS_SOURCE,
    STATUS_AS_OF,
    STATUS_DURATION,
    STATUS_LAG,
    STATUS_FINDINGS = 7,
    STATUS_LAST
};

static void add_cluster(struct metrics *metrics, const struct db_value *row)
{
    char *cluster = db_value_text(&row[CLUSTER]), *last = db_value_text(&row[STATUS_LAST]);
    struct metric_labels labels = { .cluster = cluster };
    bool published = row[STATUS_AS_OF].type == DB_INTEGER;
    /* As in status: it has published, but its rows have no source any more. */
    bool retired = number_of(&row[STATUS_RUN_ID]) > 0 && !row[STATUS_SOURCE].text.length;
    if (published && !retired) {
        metrics_add(metrics, METRIC_COMPUTED, &labels, number_of(&row[STATUS_AS_OF]));
        metrics_add(metrics, METRIC_DURATION, &labels, number_of(&row[STATUS_DURATION]) / 1000);
        metrics_add(metrics, METRIC_LAG, &labels, number_of(&row[STATUS_LAG]));
        metrics_add(metrics, METRIC_FINDINGS, &labels, number_of(&row[STATUS_FINDINGS]));
    }
    if (!retired)
        metrics_add(metrics, METRIC_FAILED, &labels, !strcmp(last, "failed"));
    free(cluster);
    free(last);
}

static void add_queue(struct metrics *metrics, const struct db_value *row)
{
    char *cluster = db_value_text(&row[CLUSTER]);
    struct metric_labels labels = { .cluster = cluster };
    metrics_add(metrics, METRIC_WAITING, &labels, number_of(&row[1]));
    free(cluster);
}

static int add_all(struct metrics *metrics, struct db *db, const char *sql, const char *types,
                   void (*add)(struct metrics *, const struct db_value *), struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, NULL, 0, types, err);
    while (db_fetch(rows, &row, err) > 0)
        add(metrics, row);
    return db_finish(rows);
}

/* All from one snapshot. */
static int read_all(struct metrics *metrics, const struct settings *settings, struct error *err)
{
    struct db *db;
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = db_begin(db, err);
    if (!result) {
        if (add_all(metrics, db, sql_query_status, "titiiiritit", add_cluster, err) ||
            add_all(metrics, db, sql_query_metrics_values, "tttttirrrrrrii",
                    settings->private ? add_account : add_association, err) ||
            (layout_of(settings)->queue &&
             add_all(metrics, db, sql_query_metrics_queue, "ti", add_queue, err)))
            result = -1;
        db_rollback(db);
    }
    db_close(db);
    return result;
}

struct options {
    struct shared_options shared;
    const char *output;
};

static const struct command_option own_options[] = {
    { "output", NULL, 'o', OPTION_VALUE, AT(output), "FILE",
      .help = "replace this file in one step, instead of stdout" },
    { .name = NULL },
};

static int metrics_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings;
    int result = options_read(invocation, &options, err);
    options_free(&options.shared);
    if (result || settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        return -1;
    struct metrics *metrics = metrics_create();
    struct text text = { 0 };
    result = read_all(metrics, settings, err);
    if (!result) {
        text_add(&text, "");
        metrics_print(metrics, &text);
        /* Collectors pass over names that do not end with .prom, so that what is not done yet is
         * none of theirs. */
        result =
            options.output ? file_replace(options.output, &text, err) : command_print(&text, err);
    }
    text_free(&text);
    metrics_destroy(metrics);
    settings_destroy(settings);
    return result;
}

const struct command command_metrics = {
    .name = "metrics",
    .operands = "",
    .summary = "what is published, for Prometheus's textfile collector",
    .notes = "",
    .options = own_options,
    .run = metrics_command,
};

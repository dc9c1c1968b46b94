/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/command.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"

/* A monitor's plugin is asked without a limit: three runs of the usual five minutes missed. */
#define NAGIOS_MAX_AGE_S 900

/* What monitors expect as exit status. */
enum nagios { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };
static const char *const nagios_names[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

struct options {
    struct shared_options shared;
    bool nagios;
    const char *max_age_text;
    uint64_t max_age_s; /* 0: no limit */
};

/* A cluster that has been run, published or not. */
struct cluster_status {
    char *cluster;
    char *status, *message; /* of the last run, as is `started_at` */
    bool published, failed, late;
    bool for_people;
    int64_t age, as_of, duration_ms, lag, findings, started_at; /* lag -1: unknown */
    double drift;
};

struct status_list {
    struct cluster_status *clusters;
    size_t count;
};

enum {
    CLUSTER,
    RUN_ID,
    SOURCE,
    AS_OF,
    DURATION,
    LAG,
    DRIFT,
    FINDINGS,
    LAST_STATUS,
    LAST_STARTED,
    LAST_MESSAGE
};

static void take_row(const struct options *options, struct status_list *list,
                     const struct db_value *row, int64_t now)
{
    /* A retired cluster has published, but its rows have no source any more. */
    if (db_value_integer(&row[RUN_ID], 0) > 0 && row[SOURCE].text.length == 0)
        return;
    list->clusters = memory_grown(list->clusters, list->count, sizeof *list->clusters);
    struct cluster_status *added = &list->clusters[list->count++];
    *added = (struct cluster_status){
        .cluster = db_value_text(&row[CLUSTER]),
        .status = db_value_text(&row[LAST_STATUS]),
        .message = db_value_text(&row[LAST_MESSAGE]),
        .started_at = db_value_integer(&row[LAST_STARTED], 0),
        .published = row[AS_OF].type == DB_INTEGER,
        .for_people = options->shared.table.form == TABLE_FOR_PEOPLE,
        .as_of = db_value_integer(&row[AS_OF], 0),
        .age = now - db_value_integer(&row[AS_OF], now),
        .duration_ms = db_value_integer(&row[DURATION], 0),
        .lag = db_value_integer(&row[LAG], -1),
        .findings = db_value_integer(&row[FINDINGS], 0),
        .drift = db_value_real(&row[DRIFT]),
    };
    added->failed = !strcmp(added->status, "failed");
    added->late = !added->published || (options->max_age_s && added->age > 0 &&
                                        (uint64_t)added->age > options->max_age_s);
}

static int read_status(const struct settings *settings, const struct options *options,
                       struct status_list *list, struct error *err)
{
    struct db *db;
    const struct db_value *row;
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    struct db_rows *rows = db_query(db, sql_query_status, NULL, 0, "titiiiritit", err);
    int got = rows ? 0 : -1;
    if (rows) {
        int64_t now = time(NULL);
        while ((got = db_fetch(rows, &row, err)) > 0)
            take_row(options, list, row, now);
        db_finish(rows);
    }
    db_close(db);
    return got;
}

static void get_cluster(const void *of, struct cell *cell)
{
    const struct cluster_status *status = of;
    cell_text(cell, status->cluster);
    cell->paint = status->failed || status->late ? PAINT_BAD : PAINT_GOOD;
}

static void get_age(const void *of, struct cell *cell)
{
    const struct cluster_status *status = of;
    if (!status->for_people && status->published) {
        cell_integer(cell, status->age);
    } else if (status->for_people) {
        struct text words = { 0 };
        text_add(&words, status->published ? "" : "never");
        if (status->published)
            text_add_span(&words, status->age);
        cell_format(cell, "%s", words.bytes);
        text_free(&words);
    }
}

enum { AS_OF_INSTANT, DURATION_MS, SOURCE_LAG, STARTED_AT };

static void get_if_known(const void *of, struct cell *cell)
{
    const struct cluster_status *status = of;
    if (cell->column->index == SOURCE_LAG && status->lag >= 0)
        cell_integer(cell, status->lag);
    else if (cell->column->index == AS_OF_INSTANT && status->published)
        cell_integer(cell, status->as_of);
    else if (cell->column->index == STARTED_AT && status->started_at)
        cell_integer(cell, status->started_at);
    else if (cell->column->index == DURATION_MS && status->published)
        cell_integer(cell, status->duration_ms);
}

static void get_last_run(const void *of, struct cell *cell)
{
    const struct cluster_status *status = of;
    if (status->failed)
        cell_format(cell, "failed: %s", status->message);
    else
        cell_text(cell, status->published ? "done" : "");
}

static const struct column columns[] = {
    { "cluster", "Cluster", COLUMN_TEXT, .get = get_cluster },
    { "age", "Age", COLUMN_TEXT, .get = get_age },
    { "as_of", "AsOf", COLUMN_INSTANT, .get = get_if_known, .index = AS_OF_INSTANT,
      .hidden = NOT_FOR_PEOPLE },
    { "duration_ms", "Duration", COLUMN_INTEGER, .get = get_if_known, .index = DURATION_MS,
      .unit = "ms" },
    { "source_lag", "Lag", COLUMN_SPAN, .get = get_if_known, .index = SOURCE_LAG },
    { "findings", "Findings", COLUMN_INTEGER, MEMBER(struct cluster_status, findings) },
    { "drift_max", "Drift", COLUMN_REAL, MEMBER(struct cluster_status, drift), .digits = 3 },
    { "last_run", "LastRun", COLUMN_TEXT, .get = get_last_run, .hidden = ONLY_FOR_PEOPLE },
    { "status", "Status", COLUMN_TEXT, MEMBER(struct cluster_status, status),
      .hidden = NOT_FOR_PEOPLE },
    { "started_at", "StartedAt", COLUMN_INSTANT, .get = get_if_known, .index = STARTED_AT,
      .hidden = NOT_FOR_PEOPLE },
    { "message", "Message", COLUMN_TEXT, MEMBER(struct cluster_status, message),
      .hidden = NOT_FOR_PEOPLE },
    { .name = NULL },
};

static const struct table_layout layout = { columns, "clusters", .by_cluster = false };

static enum nagios judge(const struct status_list *list)
{
    enum nagios worst = list->count ? NAGIOS_OK : NAGIOS_CRITICAL;
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        if (status->late)
            return NAGIOS_CRITICAL;
        if (status->failed)
            worst = NAGIOS_WARNING;
    }
    return worst;
}

/* In the line for a monitor a bar ends what is for people, and the name of a figure is in quotes
 * and ends with an equals sign. */
#define ENDS_TEXT "|"
#define ENDS_NAME "|'="

static void add_without(struct text *text, const char *ends, const char *name)
{
    struct text printable = { 0 };
    text_add_printable(&printable, name);
    for (const char *at = printable.bytes; at && *at; at++)
        if (strchr(ends, *at))
            text_format(text, "\\x%02X", (unsigned)*at);
        else
            text_add_bytes(text, at, 1);
    text_free(&printable);
}

/* One line for people, and behind the bar what a monitor may draw. */
static void add_nagios(struct text *text, const struct options *options,
                       const struct status_list *list)
{
    text_format(text, "FAIRMILL %s -", nagios_names[judge(list)]);
    if (!list->count)
        text_add(text, " no results yet");
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        text_add(text, i ? ", " : " ");
        add_without(text, ENDS_TEXT, status->cluster);
        text_add(text, " ");
        if (status->published)
            text_add_span(text, status->age);
        text_add(text, status->published ? " old" : "never published");
        text_add(text, status->failed ? " (last run failed)" : "");
    }
    text_add(text, " |");
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        text_add(text, " '");
        add_without(text, ENDS_NAME, status->cluster);
        text_format(text, " age'=%" PRId64 "s;;%" PRIu64 " '", status->age, options->max_age_s);
        add_without(text, ENDS_NAME, status->cluster);
        text_format(text, " findings'=%" PRId64, status->findings);
    }
    text_add(text, "\n");
}

static int print_table(const struct options *options, const struct status_list *list,
                       struct error *err)
{
    struct text text = { 0 };
    struct table *table = table_create(&text, &layout, &options->shared.table, err);
    for (size_t i = 0; table && i < list->count; i++)
        table_add(table, &list->clusters[i]);
    int result = table ? table_end(table, err) : -1;
    if (!result)
        result = command_print(&text, err);
    table_destroy(table);
    text_free(&text);
    return result;
}

static int print_nagios(const struct options *options, const struct status_list *list,
                        struct error *err)
{
    struct text text = { 0 };
    add_nagios(&text, options, list);
    int result = command_print(&text, err);
    text_free(&text);
    return result ? -1 : (int)judge(list);
}

/* The exit status of its own, or -1. */
static int print_status(const struct options *options, const struct status_list *list,
                        struct error *err)
{
    if (options->nagios)
        return print_nagios(options, list, err);
    if (!list->count)
        return fail(err, ERROR_OTHER, "no results yet");
    if (print_table(options, list, err))
        return -1;
    for (size_t i = 0; options->max_age_s && i < list->count; i++)
        if (list->clusters[i].late)
            return fail(err, ERROR_OTHER, "the results of cluster '%s' are older than %s",
                        list->clusters[i].cluster, options->max_age_text);
    return 0;
}

static int read_and_print(const struct invocation *invocation, const struct options *options,
                          struct error *err)
{
    struct settings *settings = NULL;
    struct status_list list = { 0 };
    int result = -1;
    if (!settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err) &&
        !read_status(settings, options, &list, err))
        result = print_status(options, &list, err);
    for (size_t i = 0; i < list.count; i++) {
        free(list.clusters[i].cluster);
        free(list.clusters[i].status);
        free(list.clusters[i].message);
    }
    free(list.clusters);
    settings_destroy(settings);
    return result;
}

static const struct command_option own_options[] = {
    { "max-age", NULL, 0, OPTION_VALUE, AT(max_age_text), "TIME",
      .help = "fail if results are older: a number with s, m, h or d behind it" },
    { "nagios", NULL, 0, OPTION_FLAG, AT(nagios), NULL, .form = true,
      .help =
          "one line and an exit status for a monitor (0 ok, 1 the last run failed, 2 too old or "
          "never published, 3 not known); the limit is 15 minutes without --max-age" },
    { .name = NULL },
};

static int status_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    int read = options_read(invocation, &options, err);
    options_free(&options.shared);
    if (read || table_check(&layout, &options.shared.table, err))
        return -1;
    if (options.max_age_text && !duration_parse(options.max_age_text, &options.max_age_s))
        return fail(err, ERROR_USAGE,
                    "--max-age '%s': must be a number with s, m, h or d behind it",
                    options.max_age_text);
    if (options.nagios && !options.max_age_text)
        options.max_age_s = NAGIOS_MAX_AGE_S;
    int result = read_and_print(invocation, &options, err);
    if (result >= 0 || !options.nagios)
        return result;
    /* A monitor reads the first line of what is printed, not the errors. */
    struct text text = { 0 };
    text_add(&text, "FAIRMILL UNKNOWN - ");
    add_without(&text, ENDS_TEXT, err->message);
    text_add(&text, "\n");
    result = command_print(&text, err);
    text_free(&text);
    return result ? -1 : NAGIOS_UNKNOWN;
}

const struct command command_status = {
    .name = "status",
    .operands = "",
    .summary = "how old the results are, and how the last runs went",
    .notes = "",
    .shared = TAKES_TABLE,
    .options = own_options,
    .run = status_command,
};

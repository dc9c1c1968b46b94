/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/command.h"
#include "db/db.h"
#include "report/terminal.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

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
    char *cluster, *shown; /* `shown` can be printed */
    char *message;         /* of the last run */
    bool published, failed;
    int64_t age, duration_ms, lag, findings; /* lag -1: unknown */
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

static void take_row(struct status_list *list, const struct db_value *row, int64_t now)
{
    /* A retired cluster has published, but its rows have no source any more. */
    if (db_value_integer(&row[RUN_ID], 0) > 0 && row[SOURCE].text.length == 0)
        return;
    char *status = db_value_text(&row[LAST_STATUS]);
    list->clusters = memory_resized(list->clusters, list->count + 1, sizeof *list->clusters);
    char *cluster = db_value_text(&row[CLUSTER]);
    struct text shown = { 0 };
    text_add_printable(&shown, cluster);
    list->clusters[list->count++] = (struct cluster_status){
        .cluster = cluster,
        .shown = shown.bytes,
        .message = db_value_text(&row[LAST_MESSAGE]),
        .published = row[AS_OF].type == DB_INTEGER,
        .failed = !strcmp(status, "failed"),
        .age = now - db_value_integer(&row[AS_OF], now),
        .duration_ms = db_value_integer(&row[DURATION], 0),
        .lag = db_value_integer(&row[LAG], -1),
        .findings = db_value_integer(&row[FINDINGS], 0),
        .drift = db_value_real(&row[DRIFT]),
    };
    free(status);
}

static int read_status(const struct settings *settings, struct status_list *list, struct error *err)
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
            take_row(list, row, now);
        db_finish(rows);
    }
    db_close(db);
    return got;
}

static bool too_old(const struct options *options, const struct cluster_status *status)
{
    return !status->published ||
           (options->max_age_s && status->age > 0 && (uint64_t)status->age > options->max_age_s);
}

/* 90 s, 12 min, 3 h, 5 d: as people say it. */
static void add_span(struct text *text, int64_t seconds)
{
    if (seconds < 120)
        text_format(text, "%" PRId64 " s", seconds);
    else if (seconds < 7200)
        text_format(text, "%" PRId64 " min", seconds / 60);
    else if (seconds < 172800)
        text_format(text, "%" PRId64 " h", seconds / 3600);
    else
        text_format(text, "%" PRId64 " d", seconds / 86400);
}

static void add_cell(struct text *text, const char *cell, size_t width)
{
    text_add(text, cell);
    for (size_t used = utf8_width(cell); used < width; used++)
        text_add(text, " ");
}

/* In red where it failed or is older than what was asked for, else in green. */
static void add_name(struct text *text, const struct options *options,
                     const struct cluster_status *status, size_t width)
{
    size_t start = text->length;
    text_add(text, status->shown);
    terminal_paint(text, start,
                   status->failed || too_old(options, status) ? PAINT_BAD : PAINT_GOOD);
    text_format(text, "%*s", (int)(width - utf8_width(status->shown)), "");
}

static void add_line(struct text *text, const struct options *options,
                     const struct cluster_status *status, size_t width)
{
    struct text cell = { 0 };
    add_name(text, options, status, width + 1);
    if (status->published)
        add_span(&cell, status->age);
    else
        text_add(&cell, "never");
    add_cell(text, cell.bytes, 9);
    cell.length = 0;
    text_format(&cell, "%" PRId64 " ms", status->duration_ms);
    add_cell(text, status->published ? cell.bytes : "", 10);
    cell.length = 0;
    text_add(&cell, "");
    if (status->lag >= 0)
        add_span(&cell, status->lag);
    add_cell(text, cell.bytes, 9);
    cell.length = 0;
    text_format(&cell, "%" PRId64, status->findings);
    add_cell(text, cell.bytes, 9);
    cell.length = 0;
    text_add(&cell, "");
    if (!isnan(status->drift))
        text_format(&cell, "%.3g", status->drift);
    add_cell(text, cell.bytes, 9);
    text_add(text, status->failed ? "failed: " : status->published ? "done" : "");
    if (status->failed)
        text_add_printable(text, status->message);
    text_add(text, "\n");
    text_free(&cell);
}

static void add_table(struct text *text, const struct options *options,
                      const struct status_list *list)
{
    size_t width = strlen("Cluster");
    for (size_t i = 0; i < list->count; i++) {
        size_t needed = utf8_width(list->clusters[i].shown);
        width = needed > width ? needed : width;
    }
    add_cell(text, "Cluster", width + 1);
    text_add(text, "Age      Duration  Lag      Findings Drift    LastRun\n");
    terminal_paint(text, 0, PAINT_HEADING);
    for (size_t i = 0; i < list->count; i++)
        add_line(text, options, &list->clusters[i], width);
}

static enum nagios judge(const struct options *options, const struct status_list *list)
{
    enum nagios worst = list->count ? NAGIOS_OK : NAGIOS_CRITICAL;
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        if (too_old(options, status))
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

static void add_without(struct text *text, const char *ends, const char *printable)
{
    for (const char *at = printable; *at; at++)
        if (strchr(ends, *at))
            text_format(text, "\\x%02X", (unsigned)*at);
        else
            text_add_bytes(text, at, 1);
}

/* One line for people, and behind the bar what a monitor may draw. */
static void add_nagios(struct text *text, const struct options *options,
                       const struct status_list *list)
{
    text_format(text, "FAIRMILL %s -", nagios_names[judge(options, list)]);
    if (!list->count)
        text_add(text, " no results yet");
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        text_add(text, i ? ", " : " ");
        add_without(text, ENDS_TEXT, status->shown);
        text_add(text, " ");
        if (status->published)
            add_span(text, status->age);
        text_add(text, status->published ? " old" : "never published");
        text_add(text, status->failed ? " (last run failed)" : "");
    }
    text_add(text, " |");
    for (size_t i = 0; i < list->count; i++) {
        const struct cluster_status *status = &list->clusters[i];
        text_add(text, " '");
        add_without(text, ENDS_NAME, status->shown);
        text_format(text, " age'=%" PRId64 "s;;%" PRIu64 " '", status->age, options->max_age_s);
        add_without(text, ENDS_NAME, status->shown);
        text_format(text, " findings'=%" PRId64, status->findings);
    }
    text_add(text, "\n");
}

/* The exit status of its own, or -1. */
static int tell(const struct options *options, const struct status_list *list, struct error *err)
{
    struct text text = { 0 };
    if (options->nagios)
        add_nagios(&text, options, list);
    else if (list->count)
        add_table(&text, options, list);
    int result = !options->nagios && !list->count ? fail(err, ERROR_OTHER, "no results yet")
                                                  : command_print(&text, err);
    text_free(&text);
    if (result)
        return -1;
    if (options->nagios)
        return (int)judge(options, list);
    for (size_t i = 0; options->max_age_s && i < list->count; i++)
        if (too_old(options, &list->clusters[i]))
            return fail(err, ERROR_OTHER, "the results of cluster '%s' are older than %s",
                        list->clusters[i].cluster, options->max_age_text);
    return 0;
}

static int read_and_tell(const struct invocation *invocation, const struct options *options,
                         struct error *err)
{
    struct settings *settings = NULL;
    struct status_list list = { 0 };
    int result = -1;
    if (!settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err) &&
        !read_status(settings, &list, err))
        result = tell(options, &list, err);
    for (size_t i = 0; i < list.count; i++) {
        free(list.clusters[i].cluster);
        free(list.clusters[i].shown);
        free(list.clusters[i].message);
    }
    free(list.clusters);
    settings_destroy(settings);
    return result;
}

static const struct command_option own_options[] = {
    { "max-age", NULL, 0, OPTION_VALUE, AT(max_age_text), "TIME",
      .help = "fail if results are older: a number with s, m, h or d behind it" },
    { "nagios", NULL, 0, OPTION_FLAG, AT(nagios), NULL,
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
    if (read)
        return -1;
    if (options.max_age_text && !duration_parse(options.max_age_text, &options.max_age_s))
        return fail(err, ERROR_USAGE,
                    "--max-age '%s': must be a number with s, m, h or d behind it",
                    options.max_age_text);
    if (options.nagios && !options.max_age_text)
        options.max_age_s = NAGIOS_MAX_AGE_S;
    int result = read_and_tell(invocation, &options, err);
    if (result >= 0 || !options.nagios)
        return result;
    /* A monitor reads the first line of what is printed, not the errors. */
    struct text text = { 0 }, reason = { 0 };
    text_add_printable(&reason, err->message);
    text_add(&text, "FAIRMILL UNKNOWN - ");
    add_without(&text, ENDS_TEXT, reason.bytes);
    text_add(&text, "\n");
    result = command_print(&text, err);
    text_free(&reason);
    text_free(&text);
    return result ? -1 : NAGIOS_UNKNOWN;
}

const struct command command_status = {
    .name = "status",
    .operands = "",
    .summary = "how old the results are, and how the last runs went",
    .notes = "",
    .options = own_options,
    .run = status_command,
};

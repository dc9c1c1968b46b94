/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/report/report_data.h"
#include "db/db.h"
#include "report/page/page.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define USUAL_DAYS 30

struct options {
    struct shared_options shared;
    const char *output, *days_text;
    uint64_t days;
    bool private; /* no user is named */
};

struct report {
    struct page_cluster *clusters;
    size_t count;
    struct arena *arena;
};

static bool is_wanted(const struct options *options, const char *cluster)
{
    for (size_t i = 0; i < options->shared.clusters.count; i++)
        if (reads_as(options->shared.clusters.values[i], strlen(options->shared.clusters.values[i]),
                     cluster))
            return true;
    return options->shared.clusters.count == 0;
}

static const char *text_of(struct report *report, const struct db_value *value)
{
    return value->type == DB_TEXT ? arena_copy(report->arena, value->text.bytes, value->text.length)
                                  : "";
}

static int read_clusters(struct db *db, struct report *report, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_report_clusters, NULL, 0, "ttiit", err);
    if (!rows)
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        report->clusters =
            memory_resized(report->clusters, report->count + 1, sizeof *report->clusters);
        report->clusters[report->count++] = (struct page_cluster){
            .name = text_of(report, &row[0]),
            .algorithm = text_of(report, &row[1]),
            .as_of = row[2].integer,
            .half_life = row[3].integer,
            .time_zone = text_of(report, &row[4]),
        };
    }
    db_finish(rows);
    if (got)
        return -1;
    return report->count ? 0 : fail(err, ERROR_OTHER, "no results yet");
}

/* Something must answer to each cluster that was asked for. */
static int check_options(const struct options *options, const struct report *report,
                         struct error *err)
{
    for (size_t i = 0; i < options->shared.clusters.count; i++) {
        const char *asked = options->shared.clusters.values[i];
        bool there = false;
        for (size_t j = 0; j < report->count; j++)
            there |= reads_as(asked, strlen(asked), report->clusters[j].name);
        if (!there)
            return fail(err, ERROR_USAGE, "there are no results of a cluster '%s'", asked);
    }
    return 0;
}

static int add_clusters(struct db *db, const struct options *options, struct report *report,
                        struct text *text, struct error *err)
{
    bool first = true;
    if (read_clusters(db, report, err) || check_options(options, report, err))
        return -1;
    for (size_t i = 0; i < report->count; i++) {
        struct page_cluster *cluster = &report->clusters[i];
        if (!is_wanted(options, cluster->name))
            continue;
        int result =
            report_data_read(db, cluster, options->days, options->private, report->arena, err);
        if (!result)
            page_add_cluster(text, cluster, first);
        report_data_free(cluster);
        if (result)
            return -1;
        first = false;
    }
    return 0;
}

/* All from one snapshot. */
static int make_page(const struct settings *settings, const struct options *options,
                     struct text *text, struct error *err)
{
    struct db *db;
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    struct report report = { .arena = arena_create() };
    text_add(text, page_before);
    page_begin(text, options->days, options->private);
    int result = db_begin(db, err);
    if (!result) {
        result = add_clusters(db, options, &report, text, err);
        db_rollback(db);
    }
    page_end(text);
    text_add(text, page_after);
    free(report.clusters);
    arena_destroy(report.arena);
    db_close(db);
    return result;
}

static int take_days(struct options *options, struct error *err)
{
    const char *days = options->days_text;
    options->days = USUAL_DAYS;
    if (days && (!number_unsigned(days, strlen(days), &options->days) || !options->days ||
                 options->days > 3660))
        return fail(err, ERROR_USAGE, "report: --days '%s': must be from 1 to 3660", days);
    return 0;
}

static const struct command_option own_options[] = {
    { "output", NULL, 'o', OPTION_VALUE, AT(output), "FILE",
      .help = "replace this file in one step, instead of stdout" },
    { "days", NULL, 'd', OPTION_VALUE, AT(days_text), "NUMBER",
      .help = "so many days of history; usually 30" },
    { .name = NULL },
};

static int report_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    struct text text = { 0 };
    int result = -1;
    if (options_read(invocation, &options, err) || take_days(&options, err) ||
        settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        goto done;
    options.private = settings->private;
    if (!make_page(settings, &options, &text, err))
        result =
            options.output ? file_replace(options.output, &text, err) : command_print(&text, err);
done:
    text_free(&text);
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_report = {
    .name = "report",
    .operands = "",
    .summary = "one HTML page: the tree, use over time, the queue",
    .notes = "",
    .shared = TAKES_CLUSTERS,
    .options = own_options,
    .run = report_command,
};

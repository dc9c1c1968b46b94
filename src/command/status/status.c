/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "command/command.h"
#include "command/status/limits.h"
#include "results/health.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"

/* Exit statuses of monitoring plugins; the first three are the levels of health. */
#define NAGIOS_UNKNOWN 3
static const char *const nagios_names[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

/* A cluster, and its level after a check against the limits. */
struct status_row {
    const struct cluster_health *health;
    enum health_level level;
    struct text words; /* descriptions of its problems */
    bool for_people;
};

struct status {
    struct health health;
    struct limits limits;
    struct status_row *rows; /* indexed like health.clusters */
    enum health_level worst; /* critical if there is no cluster */
};

struct status_options {
    struct shared_options shared;
    bool nagios;
    const char *max_age;
    struct name_list warning, critical;
    struct status status;
};

static void status_judge(struct status *status, const struct status_options *options)
{
    struct health *health = &status->health;
    status->rows = memory_zeroed(health->count + 1, sizeof *status->rows);
    status->worst = health->count ? HEALTH_OK : HEALTH_CRITICAL;
    for (size_t i = 0; i < health->count; i++) {
        struct status_row *row = &status->rows[i];
        if (limits_has(&status->limits, "age"))
            health_ignore(&health->clusters[i], HEALTH_STALE);
        row->health = &health->clusters[i];
        row->for_people = options->shared.table.form == TABLE_FOR_PEOPLE;
        text_add(&row->words, "");
        row->level = limits_judge(&status->limits, row->health, &row->words);
        if (row->level > status->worst)
            status->worst = row->level;
    }
}

static void get_cluster(const void *of, struct cell *cell)
{
    const struct status_row *row = of;
    cell_text(cell, row->health->cluster);
    cell->paint = row->level ? PAINT_BAD : PAINT_GOOD;
}

static void add_age(struct text *text, int64_t age, const char *old)
{
    text_add_duration(text, age < 0 ? -age : age);
    text_add(text, age < 0 ? " ahead" : old);
}

static void get_age(const void *of, struct cell *cell)
{
    const struct status_row *row = of;
    if (!row->for_people && row->health->published) {
        cell_integer(cell, row->health->age);
    } else if (row->for_people) {
        struct text *words = cell_compose(cell);
        text_add(words, row->health->published ? "" : "never");
        if (row->health->published)
            add_age(words, row->health->age, "");
    }
}

enum { AS_OF, DURATION_MS, SOURCE_LAG, DRIFT_MAX, DRIFTED, COMPARED_AT, STARTED_AT, FINDINGS };

static void status_get_number(const void *of, struct cell *cell)
{
    const struct cluster_health *health = ((const struct status_row *)of)->health;
    const struct {
        bool known;
        int64_t number;
    } numbers[] = {
        [AS_OF] = { health->published, health->as_of },
        [DURATION_MS] = { health->published, health->duration_ms },
        [SOURCE_LAG] = { health->lag >= 0, health->lag },
        [DRIFTED] = { health->compared_at > 0, health->drifted },
        [COMPARED_AT] = { health->compared_at > 0, health->compared_at },
        [STARTED_AT] = { health->started_at > 0, health->started_at },
        [FINDINGS] = { true, health->findings },
    };
    if (cell->column->index == DRIFT_MAX)
        cell_real(cell, health->drift);
    else if (numbers[cell->column->index].known)
        cell_integer(cell, numbers[cell->column->index].number);
}

static void get_kinds(const void *of, struct cell *cell)
{
    const struct cluster_health *health = ((const struct status_row *)of)->health;
    struct text *words = cell_compose(cell);
    for (size_t i = 0; i < health->kind_count; i++)
        text_format(words, "%s%s=%" PRId64, i ? "," : "", health->kinds[i].kind,
                    health->kinds[i].count);
}

static void get_problems(const void *of, struct cell *cell)
{
    const struct cluster_health *health = ((const struct status_row *)of)->health;
    struct text *words = cell_compose(cell);
    for (enum health_problem i = 0; i < HEALTH_PROBLEMS; i++)
        if (health->problems[i])
            text_format(words, "%s%s", words->length ? "," : "", health_problem_name(i));
}

static void get_health(const void *of, struct cell *cell)
{
    const struct status_row *row = of;
    cell_text(cell,
              row->for_people && row->level ? row->words.bytes : health_level_name(row->level));
}

static void get_last_run(const void *of, struct cell *cell)
{
    const struct cluster_health *health = ((const struct status_row *)of)->health;
    if (cell->column->hidden == NOT_FOR_PEOPLE)
        cell_text(cell, health->status);
    else if (health->failed && *health->message)
        cell_format(cell, "failed: %s", health->message);
    else
        cell_text(cell, health->status);
}

#define HEALTH(member) MEMBER_BEHIND(struct status_row, health, struct cluster_health, member)
#define NUMBER(which) .get = status_get_number, .index = which
static const struct column columns[] = {
    { "cluster", "Cluster", COLUMN_TEXT, .get = get_cluster },
    { "age", "Age", COLUMN_TEXT, .get = get_age },
    { "as_of", "AsOf", COLUMN_TIME, NUMBER(AS_OF), .hidden = NOT_FOR_PEOPLE },
    { "duration_ms", "Duration", COLUMN_INTEGER, NUMBER(DURATION_MS), .unit = "ms" },
    { "source_lag", "Lag", COLUMN_DURATION, NUMBER(SOURCE_LAG) },
    { "findings", "Findings", COLUMN_INTEGER, NUMBER(FINDINGS) },
    { "finding_kinds", "FindingKinds", COLUMN_TEXT, .get = get_kinds, .hidden = NOT_FOR_PEOPLE },
    { "drift_max", "Drift", COLUMN_REAL, NUMBER(DRIFT_MAX), .digits = 3, .unit = "TRES-s" },
    { "drifted_associations", "Drifted", COLUMN_INTEGER, NUMBER(DRIFTED),
      .hidden = NOT_FOR_PEOPLE },
    { "compared_at", "ComparedAt", COLUMN_TIME, NUMBER(COMPARED_AT), .hidden = NOT_FOR_PEOPLE },
    { "health", "Health", COLUMN_TEXT, .get = get_health },
    { "problems", "Problems", COLUMN_TEXT, .get = get_problems, .hidden = NOT_FOR_PEOPLE },
    { "last_run", "LastRun", COLUMN_TEXT, .get = get_last_run, .hidden = ONLY_FOR_PEOPLE },
    { "status", "Status", COLUMN_TEXT, .get = get_last_run, .hidden = NOT_FOR_PEOPLE },
    { "started_at", "StartedAt", COLUMN_TIME, NUMBER(STARTED_AT), .hidden = NOT_FOR_PEOPLE },
    { "message", "Message", COLUMN_TEXT, HEALTH(message), .hidden = NOT_FOR_PEOPLE },
    { .name = NULL },
};

static const struct table_layout layout = { columns, "clusters", .by_cluster = false };

/* A bar separates the text from the performance data. */
#define ENDS_TEXT "|"

/* Adds one line: text, a bar, and the performance data. */
static void add_nagios(struct text *text, const struct status *status)
{
    size_t count = status->health.count;
    text_format(text, "FAIRMILL %s -", nagios_names[status->worst]);
    if (!count)
        text_add(text, " no results yet");
    for (size_t i = 0; i < count; i++) {
        const struct status_row *row = &status->rows[i];
        text_add(text, i ? ", " : " ");
        limits_add_name(text, ENDS_TEXT, row->health->cluster);
        if (row->health->published) {
            text_add(text, " ");
            add_age(text, row->health->age, " old");
        }
        if (row->level) {
            text_add(text, " (");
            limits_add_name(text, ENDS_TEXT, row->words.bytes);
            text_add(text, ")");
        }
    }
    text_add(text, " |");
    for (size_t i = 0; i < count; i++)
        limits_add_figures(text, &status->limits, status->rows[i].health);
    text_add(text, "\n");
}

/* Adds to the error how to forget the cluster.  A cluster that no longer exists will never be
 * published. */
static void add_way_out(const char *cluster, struct error *err)
{
    struct error reason = *err;
    fail(err, reason.class,
         "%.1500s; if the cluster no longer exists, run `fairmill forget --cluster %s`",
         reason.message, cluster);
}

/* Answers with the status of each cluster.  Returns the command's exit status, or -1 on error. */
static int status_answer(struct command_context *context, struct error *err)
{
    struct status_options *options = context->options;
    struct published *published = &context->published;
    struct status *status = &options->status;
    if (health_read(published->db, context->settings, clock_now(), &status->health, err))
        return -1;
    health_read_views(published->db, &status->health);
    published_close(published);
    health_hide_reasons(&status->health, &published->permissions);
    status_judge(status, options);
    const char *failure = status->health.failure;
    if (options->nagios) {
        struct text text = { 0 };
        add_nagios(&text, status);
        int result = command_print(&text, err);
        text_free(&text);
        return result ? -1 : (int)status->worst;
    }
    if (!status->health.count)
        return fail(err, ERROR_OTHER, "no results yet%s%s",
                    *failure ? "; the last run failed: " : "", failure);
    for (size_t i = 0; i < status->health.count; i++)
        answer_row(context->answer, &status->rows[i]);
    if (answer_end(context->answer, err))
        return -1;
    for (size_t i = 0; i < status->health.count; i++) {
        const struct status_row *row = &status->rows[i];
        if (!row->level)
            continue;
        fail(err, ERROR_OTHER, "cluster '%s': %s", row->health->cluster, row->words.bytes);
        if (row->health->problems[HEALTH_NEVER_PUBLISHED])
            add_way_out(row->health->cluster, err);
        complain(err);
    }
    return 0; /* errors that were printed determine the exit status */
}

static int status_check(struct command_context *context, struct error *err)
{
    struct status_options *options = context->options;
    struct limits *limits = &options->status.limits;
    uint64_t max_age;
    if (options->nagios)
        context->layout = NULL;
    if (limits_read(limits, &options->warning, HEALTH_WARNING, err) ||
        limits_read(limits, &options->critical, HEALTH_CRITICAL, err))
        return -1;
    if (options->max_age && !duration_parse(options->max_age, &max_age))
        return fail(err, ERROR_USAGE,
                    "--max-age '%s': must be a number and a unit (s, m, h, d or w), such as 15m",
                    options->max_age);
    if (options->max_age)
        limits_add_age(limits, max_age, options->max_age);
    return 0;
}

static void status_release(void *of)
{
    struct status *status = &((struct status_options *)of)->status;
    for (size_t i = 0; status->rows && i < status->health.count; i++)
        text_free(&status->rows[i].words);
    free(status->rows);
    health_free(&status->health);
    limits_free(&status->limits);
}

/* Prints the error to standard output, because monitoring systems read only its first line. */
static int status_failed(const void *of, struct error *err)
{
    const struct status_options *options = of;
    if (!options->nagios)
        return -1;
    struct text text = { 0 };
    text_format(&text, "FAIRMILL %s - ", nagios_names[NAGIOS_UNKNOWN]);
    limits_add_name(&text, ENDS_TEXT, err->message);
    text_add(&text, "\n");
    int result = command_print(&text, err);
    text_free(&text);
    return result ? -1 : NAGIOS_UNKNOWN;
}

static const struct command_option own_options[] = {
    { "max-age", NULL, 0, OPTION_VALUE, AT(status_options, max_age), "DURATION",
      .help = "Set the critical age (default: stale results)" },
    { "warning", NULL, 'w', OPTION_AGAIN, AT(status_options, warning), "NAME=RANGE",
      .help = "Warn if NAME is out of RANGE, such as age=10m" },
    { "critical", NULL, 0, OPTION_AGAIN, AT(status_options, critical), "NAME=RANGE",
      .help = "As --warning, but critical" },
    { "nagios", NULL, 0, OPTION_FLAG, AT(status_options, nagios), NULL, .form = true,
      .help = "Print one line and exit as a Nagios plugin does" },
    { .name = NULL },
};

const struct command command_status = {
    .name = "status",
    .for_users = true,
    .group = GROUP_MONITOR,
    .summary = "Show the age and health of the results",
    .usage = "[OPTION...]",
    .description = "Show the age and the health of the results and how the last runs ended.  Exit\n"
                   "with status 1 if there is a problem.  Drift is the error of stored sums, in\n"
                   "TRES-seconds, when a run last compared them with all jobs.\n",
    .shared = TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct status_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_BEGUN,
    .layout = &layout,
    .check = status_check,
    .answer = status_answer,
    .release = status_release,
    .failed = status_failed,
};

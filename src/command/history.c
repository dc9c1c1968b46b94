/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "db/db.h"
#include "report/series.h"
#include "results/published_find.h"
#include "results/rows.h"
#include "results/tres_days.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

#define USUAL_DAYS 30

/* The first and the last time; both are included. */
struct history_command_span {
    int64_t from, to;
};

struct history_options {
    struct shared_options shared;
    struct option_time from, to; /* INT64_MIN: `days` before the end; INT64_MAX: the newest point */
    const char *days_text;
    uint64_t days;
    bool usage;
    const char *tres; /* NULL: the usage that was charged */
};

/* An existing or removed association: its last recorded state, and its best match with the
 * requested name at any time. */
struct history_command_known {
    char *cluster, *account, *user, *partition;
    int64_t id, parent_id;
    enum name_match match;
    enum { PLACE_UNKNOWN, PLACE_BELOW, PLACE_ELSEWHERE } place; /* relative to the shown account */
    struct series series;                                       /* its history points */
};
struct known_list {
    struct history_command_known *rows;
    size_t count;
    struct name_list clusters; /* that have associations, even if no row is read */
    const char *with_days; /* the cluster whose daily usage was read for all users; NULL: none */
    const char *tres;      /* NULL: the usage that was charged */
    const char *with_tres; /* the cluster to which the following members belong; NULL: none */
    int64_t tres_number, tres_first_day;
};

static void known_free(struct history_command_known *known)
{
    free(known->cluster);
    free(known->account);
    free(known->user);
    free(known->partition);
    free(known->series.points);
}

/* Rows are sorted by cluster, id and time, so the last state of an association remains. */
static void add_known(struct known_list *list, const struct db_value *row, const char *asked)
{
    struct history_command_known known = { db_value_text(&row[0]),
                                           db_value_text(&row[3]),
                                           db_value_text(&row[4]),
                                           db_value_text(&row[5]),
                                           row[1].integer,
                                           db_value_integer(&row[2], 0),
                                           NAME_OTHER,
                                           PLACE_UNKNOWN,
                                           { 0 } };
    struct history_command_known *last = list->count ? &list->rows[list->count - 1] : NULL;
    known.match = association_name_match(
        &(struct association_name){ known.account, known.user, known.partition }, asked);
    if (last && last->id == known.id && !strcmp(last->cluster, known.cluster)) {
        if (last->match > known.match)
            known.match = last->match;
        known_free(last);
        *last = known;
        return;
    }
    *memory_append(&list->rows, &list->count) = known;
}

static int history_command_read_clusters(struct db *db, struct name_list *clusters,
                                         struct error *err)
{
    size_t count;
    do {
        count = clusters->count;
        const struct db_value *row, last = db_text(count ? clusters->values[count - 1] : "");
        struct db_rows *rows = db_query(db, sql_query_association_next_cluster, &last, 1, "t", err);
        while (db_fetch(rows, &row, err) > 0)
            if (row[0].type == DB_TEXT)
                name_list_add(clusters, row[0].text.bytes, row[0].text.length);
        if (db_finish(rows))
            return -1;
    } while (clusters->count > count);
    return 0;
}

/* Reads the states of these associations of a cluster; NULL means all. */
static int history_command_read_states(struct db *db, const char *cluster,
                                       const struct row_ids *ids, const char *asked,
                                       struct known_list *list, struct error *err)
{
    const struct db_value *row;
    struct id_rows rows = { .db = db,
                            .sql = sql_query_association_states,
                            .cluster = cluster,
                            .column_types = "tiittt",
                            .ids = ids,
                            .then_by = "since" };
    while (id_rows_fetch(&rows, &row, err) > 0)
        add_known(list, row, asked);
    return id_rows_finish(&rows);
}

/* Appends the ids of the associations of a cluster that had one of the names at any time. */
static int history_command_find_ids(struct db *db, const char *cluster,
                                    const struct name_candidates *names, uint64_t **ids,
                                    size_t *count, struct error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct name_candidate *name = &names->list[i];
        const struct db_value *row,
            arguments[] = { db_text(cluster), db_text(name->user), db_text(name->account) };
        struct db_rows *rows = db_query(
            db, name->account ? sql_query_association_of_name : sql_query_association_of_user,
            arguments, name->account ? 3 : 2, "i", err);
        while (db_fetch(rows, &row, err) > 0)
            *memory_append(ids, count) = rows_bits_of(&row[0]);
        if (db_finish(rows))
            return -1;
    }
    return 0;
}

static int history_command_read_named(struct db *db, const char *cluster, const char *asked,
                                      struct known_list *list, struct error *err)
{
    struct name_candidates names = { 0 };
    uint64_t *ids = NULL;
    size_t count = 0;
    name_candidates_add(&names, SELECTION_NAMES, asked);
    int result = history_command_find_ids(db, cluster, &names, &ids, &count, err);
    const struct row_ids found = { ids, row_ids_sort(ids, count) };
    if (!result)
        result = history_command_read_states(db, cluster, names.incomplete ? NULL : &found, asked,
                                             list, err);
    name_candidates_free(&names);
    free(ids);
    return result;
}

static void known_list_clear(struct known_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        known_free(&list->rows[i]);
    free(list->rows);
    list->rows = NULL;
    list->count = 0;
}

static bool history_command_has_account(const struct known_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].match != NAME_OTHER && !*list->rows[i].user)
            return true;
    return false;
}

/* Reads the associations that the name can mean.  For the daily usage of an account, reads all
 * associations, because those below it are needed. */
static int history_command_read_known(struct db *db, bool usage, const char *asked,
                                      struct known_list *list, struct error *err)
{
    if (history_command_read_clusters(db, &list->clusters, err))
        return -1;
    for (size_t i = 0; i < list->clusters.count; i++)
        if (history_command_read_named(db, list->clusters.values[i], asked, list, err))
            return -1;
    if (!usage || !history_command_has_account(list))
        return 0;
    known_list_clear(list);
    for (size_t i = 0; i < list->clusters.count; i++)
        if (history_command_read_states(db, list->clusters.values[i], NULL, asked, list, err))
            return -1;
    return 0;
}

/* Finds the period for a cluster.  By default it ends with the newest point, or with the newest day
 * of usage. */
static int history_command_find_span(struct db *db, const struct history_options *options,
                                     const char *cluster, struct history_command_span *span,
                                     struct error *err)
{
    struct db_value name = db_text(cluster);
    const char *newest = options->usage ? sql_query_usage_day_last : sql_query_history_last;
    *span = (struct history_command_span){ options->from.at, options->to.at };
    if (span->to == INT64_MAX && rows_read_integer(db, newest, &name, 1, &span->to, err) < 0)
        return -1;
    if (span->from == INT64_MIN && span->to != INT64_MAX)
        span->from = span->to - (int64_t)options->days * 86400;
    return 0;
}

/* Finds the TRES of the series, once for each cluster.  A search for the first day may be long. */
static int history_command_find_tres(struct db *db, struct known_list *list, struct series *series,
                                     struct error *err)
{
    const char *cluster = series->cluster;
    if ((!list->with_tres || strcmp(list->with_tres, cluster) != 0) &&
        (tres_days_number(db, cluster, series->tres, &list->tres_number, err) ||
         tres_days_first_day(db, cluster, list->tres_number, &list->tres_first_day, err)))
        return -1;
    list->with_tres = cluster;
    series->known_from = list->tres_first_day;
    return 0;
}

static void history_command_add_point(struct series *series, struct series_point point)
{
    *memory_append(&series->points, &series->count) = point;
}

/* Converts a row of sql_query_history_read. */
static struct series_point history_command_point_of(const struct db_value *row)
{
    char *name = db_value_text(&row[4]);
    const struct algorithm *algorithm = algorithm_named(name);
    free(name);
    return (struct series_point){
        .at = row[0].integer,
        .fairshare = db_value_real(&row[1]),
        .usage = db_value_real(&row[2]),
        .level_fs = rows_real_of(&row[3]),
        .algorithm = algorithm ? algorithm->name : "",
    };
}

static int read_points(struct db *db, const struct history_command_known *known,
                       const struct history_command_span *span, struct series *series,
                       struct error *err)
{
    struct db_value arguments[] = { db_integer(known->id), db_text(known->cluster),
                                    db_integer(span->from), db_integer(span->to) };
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_history_read, arguments, 4, "innnt", err);
    while (db_fetch(rows, &row, err) > 0) {
        published_check_point(known->cluster, known->id, row[0].integer, row + 1);
        history_command_add_point(series, history_command_point_of(row));
    }
    return db_finish(rows);
}

/* Returns the association of this cluster with this id, or NULL.  Rows are sorted by cluster and
 * id. */
static struct history_command_known *find_known(const struct known_list *list, const char *cluster,
                                                int64_t id)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->rows[middle].cluster, cluster);
        if (order < 0 || (!order && list->rows[middle].id < id))
            low = middle + 1;
        else
            high = middle;
    }
    bool found =
        low < list->count && list->rows[low].id == id && !strcmp(list->rows[low].cluster, cluster);
    return found ? &list->rows[low] : NULL;
}

/* Marks the associations whose usage is included in the usage of `top`.  These are `top` itself
 * and, if it is an account, all associations that were last recorded below it.  Follows parents
 * upwards and visits each association once. */
static void note_below(struct known_list *list, struct history_command_known *top)
{
    for (size_t i = 0; i < list->count; i++)
        list->rows[i].place = PLACE_UNKNOWN;
    top->place = PLACE_BELOW;
    for (size_t i = 0; i < list->count; i++) {
        struct history_command_known *end = &list->rows[i];
        if (strcmp(end->cluster, top->cluster) != 0)
            continue;
        while (end && end->place == PLACE_UNKNOWN) {
            end->place = PLACE_ELSEWHERE; /* also ends a loop, which states of different times can
                                           * form */
            end = end->parent_id ? find_known(list, top->cluster, end->parent_id) : NULL;
        }
        if (!end || end->place != PLACE_BELOW)
            continue;
        for (struct history_command_known *at = &list->rows[i]; at != end;
             at = find_known(list, top->cluster, at->parent_id))
            at->place = PLACE_BELOW;
    }
}

/* Adds a day of usage; days without usage are points, too. */
static void add_day(struct series *series, int64_t day, double usage)
{
    while (series->count && series->points[series->count - 1].at < day) {
        int64_t last = series->points[series->count - 1].at;
        int64_t next = calendar_end_of_day(last);
        if (next >= day || next <= last)
            break;
        history_command_add_point(series, (struct series_point){ .at = next });
    }
    if (series->count && series->points[series->count - 1].at == day)
        series->points[series->count - 1].usage += usage;
    else
        history_command_add_point(series, (struct series_point){ .at = day, .usage = usage });
}

static struct db_rows *history_command_query_days(struct db *db, const struct known_list *list,
                                                  const struct history_command_known *known,
                                                  const struct history_command_span *span,
                                                  struct error *err)
{
    const struct db_value arguments[] = { db_text(known->cluster), db_integer(span->from),
                                          db_integer(span->to) };
    if (known->series.tres)
        return tres_days_query(db, known->cluster, list->tres_number, span->from, span->to, err);
    return db_query(db, sql_query_usage_day_span, arguments, COUNT(arguments), "iir", err);
}

/* Reads the daily usage of an account.  For users, reads all matching users of the cluster at once,
 * because a user can have associations with many partitions. */
static int history_command_read_days(struct db *db, struct known_list *list,
                                     struct history_command_known *known,
                                     const struct history_command_span *span, struct error *err)
{
    const struct db_value *row;
    bool of_users = *known->user;
    if (of_users && list->with_days && !strcmp(list->with_days, known->cluster))
        return 0;
    if (of_users)
        list->with_days = known->cluster;
    else
        note_below(list, known);
    struct db_rows *rows = history_command_query_days(db, list, known, span, err);
    while (db_fetch(rows, &row, err) > 0) {
        struct history_command_known *whose = find_known(list, known->cluster, row[1].integer);
        bool wanted = whose && (of_users ? *whose->user && whose->match == known->match
                                         : whose->place == PLACE_BELOW);
        double usage = db_value_real(&row[2]);
        if (wanted && !isnan(usage))
            add_day(of_users ? &whose->series : &known->series, row[0].integer, usage);
    }
    return db_finish(rows);
}

static int add_series(const struct published *published, const struct history_options *options,
                      struct known_list *list, struct history_command_known *known,
                      struct answer *answer, struct error *err)
{
    struct db *db = published->db;
    struct series *series = &known->series;
    struct history_command_span span;
    series->cluster = known->cluster;
    series->account = known->account;
    series->user = known->user;
    series->partition = known->partition;
    series->id = known->id;
    series->days = options->usage;
    series->tres = list->tres;
    series->terms = published_words(published, known->cluster);
    if (history_command_find_span(db, options, known->cluster, &span, err))
        return -1;
    series->from = span.from;
    if (list->tres && history_command_find_tres(db, list, series, err))
        return -1;
    int result = options->usage ? history_command_read_days(db, list, known, &span, err)
                                : read_points(db, known, &span, series, err);
    if (!result && series->count)
        series_answer(series, answer);
    free(series->points);
    series->points = NULL;
    return result ? -1 : series->count > 0;
}

static enum name_match best_match(const struct history_options *options,
                                  const struct known_list *list)
{
    enum name_match best = NAME_OTHER;
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].match > best &&
            name_list_wants(&options->shared.clusters, list->rows[i].cluster))
            best = list->rows[i].match;
    return best;
}

/* Treats hidden users as unknown.  Returns true if [report] private hides users on at least one of
 * the clusters. */
static bool history_command_hide_others(const struct permissions *permissions,
                                        struct known_list *list)
{
    bool limited = false;
    for (size_t i = 0; i < list->clusters.count; i++)
        limited |= permissions_are_limited_on(permissions, list->clusters.values[i], PRIVATE_USAGE);
    for (size_t i = 0; i < list->count; i++) {
        struct history_command_known *known = &list->rows[i];
        if (!permissions_show(permissions, known->cluster, known->account, known->user))
            known->match = NAME_OTHER;
    }
    return limited;
}

static bool has_history(const void *list, const char *asked)
{
    const struct known_list *known = list;
    for (size_t i = 0; i < known->clusters.count; i++)
        if (name_is(asked, known->clusters.values[i]))
            return true;
    return false;
}

static int history_command_add_all(const struct published *published,
                                   const struct history_options *options, struct known_list *list,
                                   const char *name, struct answer *answer, struct error *err)
{
    enum name_match best = best_match(options, list);
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->rows[i].match != best ||
            !name_list_wants(&options->shared.clusters, list->rows[i].cluster))
            continue;
        int added = add_series(published, options, list, &list->rows[i], answer, err);
        if (added < 0)
            return -1;
        any |= added;
    }
    if (any)
        return 0;
    return list->tres
               ? fail(err, ERROR_OTHER, "there is no recorded usage of %s by '%s' in that period",
                      list->tres, name)
               : fail(err, ERROR_OTHER, "there is no history of '%s' in that period", name);
}

static int show_all(const struct command_context *context, const char *name,
                    struct known_list *list, struct error *err)
{
    const struct history_options *options = context->options;
    const struct published *published = &context->published;
    if (!list->clusters.count)
        return fail(err, ERROR_OTHER, "no results yet");
    if (name_list_check(&context->shared->clusters, "cluster", has_history, list, err))
        return -1;
    bool limited = history_command_hide_others(&published->permissions, list);
    if (best_match(options, list) == NAME_OTHER)
        return limited ? permissions_deny(name, err)
                       : name_unknown(published_words(published, NULL)->either, name, err);
    return history_command_add_all(published, options, list, name, context->answer, err);
}

/* Adds the history of the associations that match the name, also of clusters that are no longer
 * published. */
static int history_add_name(const struct command_context *context, const char *name,
                            const char *tres, struct error *err)
{
    struct known_list list = { .tres = tres };
    const struct history_options *options = context->options;
    int result =
        history_command_read_known(context->published.db, options->usage, name, &list, err) ||
                show_all(context, name, &list, err)
            ? -1
            : 0;
    known_list_clear(&list);
    name_list_free(&list.clusters);
    return result;
}

static int history_answer(struct command_context *context, struct error *err)
{
    const struct name_list *names = &context->shared->names;
    const struct history_options *options = context->options;
    char *tres = NULL;
    int result = published_warn(&context->published, err);
    if (!result && options->tres)
        result = tres_days_find(context->published.db, &context->shared->clusters, options->tres,
                                &tres, err);
    for (size_t i = 0; !result && i < names->count; i++)
        result = history_add_name(context, names->values[i], tres, err);
    free(tres);
    return result;
}

static int history_check(struct command_context *context, struct error *err)
{
    struct history_options *options = context->options;
    const char *days = options->days_text;
    options->from.at = INT64_MIN;
    options->to.at = INT64_MAX;
    options->days = USUAL_DAYS;
    options->usage |= options->tres != NULL;
    if (options->usage)
        context->layout = options->tres ? &series_of_tres_days : &series_of_days;
    if (!options->shared.names.count)
        return fail(err, ERROR_USAGE, "history: missing NAME; see `fairmill help history`");
    if (days && (!number_unsigned(days, strlen(days), &options->days) || !options->days ||
                 options->days > 36525))
        return fail(err, ERROR_USAGE, "history: --days '%s': must be a number from 1 to 36525",
                    days);
    if (options->from.text && days)
        return fail(err, ERROR_USAGE, "history: --since and --days are mutually exclusive");
    return 0;
}

static const struct command_option own_options[] = {
    { "since", "from", 0, OPTION_TIME, AT(history_options, from), "TIME",
      .help = "Start at TIME (default: see --days)" },
    { "until", "to", 0, OPTION_TIME, AT(history_options, to), "TIME",
      .help = "End at TIME (default: the newest point)" },
    { "days", NULL, 'd', OPTION_VALUE, AT(history_options, days_text), "NUMBER",
      .help = "Start NUMBER days before the end (default: 30)" },
    { "usage", NULL, 0, OPTION_FLAG, AT(history_options, usage), NULL,
      .help = "Show the undecayed usage of each day, in TRES-seconds", .former = 'u' },
    { "tres", NULL, 'T', OPTION_VALUE, AT(history_options, tres), "NAME",
      .help = "Show the usage of a TRES like gres/gpu by day" },
    { .name = NULL },
};

const struct command command_history = {
    .name = "history",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Show the fairshare or usage of a user or account",
    .usage = "[OPTION...] NAME...",
    .description = "Show the fairshare of users and accounts over time, or their usage by day.\n"
                   "\n" HELP_OF_NAMES,
    .shared = TAKES_NAME | TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct history_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_BEGUN,
    .layout = &series_of_points,
    .check = history_check,
    .answer = history_answer,
};

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/insight/budget.h"
#include "core/tree/tree.h"
#include "core/usage/kept_tres.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Writes fairmill_budget.  The recent rate of an association is the mean over the whole days of the
 * last seven days, as they are stored in fairmill_usage_day.
 */

#define NO_GROUP UINT32_MAX

/* The recent usage of an association with a limit, including everything below it. */
struct recent_group {
    uint32_t node;
    uint32_t above; /* index of the nearest group above it, or NO_GROUP */
    uint128 seconds[KEPT_TRES_LIMIT];
};

struct recent_usage {
    const struct tree *tree;
    uint32_t *nearest; /* indexed by node: the group at or next above it, or NO_GROUP */
    struct recent_group *groups;
    size_t count;
    uint64_t days_s; /* total length of the days in seconds; 0 if no whole day is stored */
};

/* A group comes after all groups above it, because a node comes after its parent. */
static void recent_add_groups(struct recent_usage *recent, const struct publication *publication)
{
    const struct tree *tree = publication->tree;
    bool *limited = memory_zeroed(tree->count + 1, sizeof *limited);
    for (size_t i = 0; i < publication->budget_count; i++)
        if (!publication->budgets[i].is_qos)
            limited[publication->budgets[i].node] = true;
    recent->tree = tree;
    recent->nearest = memory_zeroed(tree->count + 1, sizeof *recent->nearest);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t above = i ? recent->nearest[tree->nodes[i].parent] : NO_GROUP;
        recent->nearest[i] = limited[i] ? (uint32_t)recent->count : above;
        if (limited[i])
            *memory_append(&recent->groups, &recent->count) =
                (struct recent_group){ .node = i, .above = above };
    }
    free(limited);
}

static void recent_take_row(struct recent_usage *recent, const struct db_value *row)
{
    uint32_t node = tree_place(recent->tree, (uint64_t)row[0].integer);
    if (node == NO_NODE || recent->nearest[node] == NO_GROUP)
        return;
    struct recent_group *group = &recent->groups[recent->nearest[node]];
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
        int64_t seconds = db_value_integer(&row[1 + i], 0);
        group->seconds[i] += seconds > 0 ? (uint64_t)seconds : 0;
    }
}

static void recent_add_to_groups_above(struct recent_usage *recent)
{
    for (size_t i = recent->count; i-- > 0;) {
        const struct recent_group *group = &recent->groups[i];
        if (group->above == NO_GROUP)
            continue;
        for (size_t k = 0; k < KEPT_TRES_LIMIT; k++)
            recent->groups[group->above].seconds[k] += group->seconds[k];
    }
}

/*
 * Reads the days before today.  If the first stored day is later than seven days ago, the mean is
 * over the days since then.
 */
static int recent_read(struct recent_usage *recent, const struct publisher *publisher, uint64_t now,
                       struct error *err)
{
    const struct db_value *row, cluster = db_text(publisher->cluster);
    int64_t oldest, from = (int64_t)budget_recent_from(now), today = (int64_t)calendar_day(now);
    int found =
        rows_read_integer(publisher->db, sql_query_usage_day_oldest, &cluster, 1, &oldest, err);
    if (found < 0)
        return -1;
    from = found && oldest > from ? oldest : from;
    if (!found || from >= today)
        return 0;
    recent->days_s = (uint64_t)(today - from);
    const struct db_value arguments[] = { cluster, db_integer(from), db_integer(today - 1) };
    struct db_rows *rows = db_stream(publisher->db, sql_query_usage_day_tres, arguments,
                                     COUNT(arguments), "iiiiiiiiiiiiiiiii", err);
    while (db_fetch(rows, &row, err) > 0)
        recent_take_row(recent, row);
    recent_add_to_groups_above(recent);
    return db_finish(rows);
}

/* Returns the mean usage per second, or NAN if it is unknown. */
static double recent_rate_of(const struct recent_usage *recent, const struct budget *budget)
{
    if (budget->is_qos)
        return budget->recent_rate;
    const struct recent_group *group = &recent->groups[recent->nearest[budget->node]];
    return recent->days_s ? (double)group->seconds[budget->number - 1] / (double)recent->days_s
                          : NAN;
}

/* Returns whole minutes, as slurmctld compares them. */
static int64_t whole_minutes(double seconds)
{
    double minutes = floor(seconds / 60);
    return minutes < 0x1p63 ? (int64_t)minutes : INT64_MAX;
}

struct budget_rows_writer {
    const struct publisher *publisher;
    const struct publication *publication;
    const struct recent_usage *recent;
    struct row_writer rows;
    struct row_hash stored;
    int64_t as_of;
    struct text converted[4];
};

static struct db_value budget_name(struct budget_rows_writer *writer, uint32_t name, size_t place)
{
    return rows_text(names_text(writer->publication->names, name), &writer->converted[place]);
}

static int64_t budget_exhausted_of(const struct budget_rows_writer *writer,
                                   const struct budget *budget)
{
    const struct settings *settings = writer->publisher->settings;
    return budget_exhausted_at(&(const struct budget_outlook){
        .used_s = budget->used_s,
        .limit_s = (double)budget->limit_minutes * 60,
        .rate = recent_rate_of(writer->recent, budget),
        .now = (uint64_t)writer->as_of,
        .half_life_s = budget->no_decay ? 0 : settings->half_life_s,
        .period = &settings->reset_period,
    });
}

static void budget_write_row(struct budget_rows_writer *writer, const struct budget *budget,
                             struct error *err)
{
    const struct node *node =
        budget->is_qos ? NULL : &writer->publication->tree->nodes[budget->node];
    int64_t limit = budget->limit_minutes < INT64_MAX ? (int64_t)budget->limit_minutes : INT64_MAX;
    int64_t used = whole_minutes(budget->used_s), running = (int64_t)(budget->running_s / 60);
    __int128 left = (__int128)limit - used - running;
    const struct row_field row[] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "kind", 't', db_text(node ? "association" : "qos") },
        { "id", 'i', db_integer(node ? node->id : (int64_t)budget->qos) },
        { "tres", 't', db_text(budget->tres) },
        { "account", 't', node ? budget_name(writer, node->account, 0) : db_text("") },
        { "user_name", 't', node ? budget_name(writer, node->user, 1) : db_text("") },
        { "partition_name", 't', node ? budget_name(writer, node->partition, 2) : db_text("") },
        { "qos", 't', node ? db_text("") : rows_text(budget->qos_name, &writer->converted[3]) },
        { "limit_minutes", 'i', db_integer(limit) },
        { "used_minutes", 'i', db_integer(used) },
        { "running_minutes", 'i', db_integer(running) },
        { "left_minutes", 'i', db_integer(left > INT64_MIN ? (int64_t)left : INT64_MIN) },
        { "exhausted_at", 'i', rows_integer(budget_exhausted_of(writer, budget)) },
        { "run_id", 'i', db_integer(writer->publisher->run_id) },
        { "computed_at", 'i', db_integer(writer->as_of) },
    };
    row_hash_add_fields(&writer->stored, row + 1, COUNT(row) - 1);
    rows_add(&writer->rows, row, COUNT(row), err);
}

int budget_rows_write(const struct publisher *publisher, const struct publication *publication,
                      int64_t as_of, struct error *err)
{
    const struct db_value cluster = db_text(publisher->cluster);
    if (db_execute(publisher->db, sql_query_budget_clear, &cluster, 1, NULL, err))
        return -1;
    struct recent_usage recent = { 0 };
    struct budget_rows_writer writer = {
        .publisher = publisher,
        .publication = publication,
        .recent = &recent,
        .rows = { .db = publisher->db, .table = "fairmill_budget" },
        .as_of = as_of,
    };
    int result = 0;
    if (publication->budget_count)
        recent_add_groups(&recent, publication);
    if (recent.count)
        result = recent_read(&recent, publisher, (uint64_t)as_of, err);
    for (size_t i = 0; !result && i < publication->budget_count; i++)
        budget_write_row(&writer, &publication->budgets[i], err);
    for (size_t i = 0; i < COUNT(writer.converted); i++)
        text_free(&writer.converted[i]);
    free(recent.nearest);
    free(recent.groups);
    if (rows_end(&writer.rows, result, err))
        return -1;
    const struct hash_segment hash = { 0, writer.stored };
    return stored_write(publisher->db, publisher->cluster, writer.rows.table, &hash, err);
}

/* SPDX-License-Identifier: MIT */
#include "results/published_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/waits.h"
#include "results/published.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* A factor that is older does not describe the time at which jobs waited. */
#define FACTOR_AGE_LIMIT_DAYS 7

/* An association that exists or existed.  Its names are numbers in waits_list.names. */
struct waits_association {
    int64_t id, parent_id; /* parent_id is 0 for the root */
    uint32_t account, user, partition;
    bool is_shown, is_wanted; /* to the requesting user; by the filter */
    double factor;            /* on the current day; NAN: unknown */
};

/* Names by which jobs are grouped; INDEX_NONE: not grouped by this name. */
struct waits_group {
    uint32_t account, user, partition, qos;
};
/* A number of jobs of a group. */
struct waits_entry {
    int64_t period;
    uint32_t group;
    struct wait_observation observation; /* its factor is NAN if unknown */
};

struct waits_reading {
    struct published *published;
    const struct published_cluster *cluster;
    const struct waits_request *request;
    struct waits_list *list;
    struct names *names;
    struct id_index *places; /* of associations, by id */
    struct waits_association *associations;
    size_t count;
    struct names *keys; /* numbers of groups, by the bytes of their struct waits_group */
    struct waits_group *groups;
    size_t group_count;
    struct waits_entry *entries;
    size_t entry_count;
    int64_t point;  /* history point of the associations' factors; 0: none */
    int64_t period; /* start of the current period */
};

/* ---- Associations ---- */

static uint32_t waits_name(struct waits_reading *reading, const char *bytes, size_t length)
{
    return names_add(reading->names, bytes, length);
}

/* Adds an association, or replaces its names, because later names come later. */
static void waits_take(struct waits_reading *reading, const struct waits_association *association)
{
    uint32_t place =
        id_index_add(reading->places, (uint64_t)association->id, (uint32_t)reading->count);
    if (place == INDEX_NONE)
        *memory_append(&reading->associations, &reading->count) = *association;
    else
        reading->associations[place] = *association;
}

static void waits_take_published(void *context, const struct published_row *row)
{
    struct waits_reading *reading = context;
    waits_take(reading,
               &(const struct waits_association){
                   .id = row->id,
                   .parent_id = row->parent_id,
                   .account = waits_name(reading, row->account, strlen(row->account)),
                   .user = waits_name(reading, row->user, strlen(row->user)),
                   .partition = waits_name(reading, row->partition, strlen(row->partition)),
                   .factor = NAN,
               });
}

static uint32_t waits_name_in(struct waits_reading *reading, const struct db_value *value)
{
    return value->type == DB_TEXT ? waits_name(reading, value->text.bytes, value->text.length)
                                  : waits_name(reading, "", 0);
}

static bool waits_needs_associations(const struct waits_reading *reading)
{
    const struct published_filter *filter = &reading->published->filter;
    return !reading->request->without_correlation || filter->accounts.count ||
           filter->users.count || reading->request->by & (WAITS_BY_ACCOUNT | WAITS_BY_USER);
}

/* Reads the associations at all history points, then the current ones. */
static int waits_read_associations(struct waits_reading *reading, struct error *err)
{
    if (!waits_needs_associations(reading))
        return 0;
    const struct db_value *row, cluster = db_text(reading->cluster->name);
    struct db_rows *rows =
        db_query(reading->published->db, sql_query_association_names, &cluster, 1, "iittti", err);
    while (db_fetch(rows, &row, err) > 0)
        waits_take(reading, &(const struct waits_association){
                                .id = row[0].integer,
                                .parent_id = db_value_integer(&row[1], 0),
                                .account = waits_name_in(reading, &row[2]),
                                .user = waits_name_in(reading, &row[3]),
                                .partition = waits_name_in(reading, &row[4]),
                                .factor = NAN,
                            });
    return db_finish(rows) || published_read_rows(reading->published, reading->cluster,
                                                  waits_take_published, reading, err)
               ? -1
               : 0;
}

static struct association_name waits_full_name(const struct waits_reading *reading,
                                               const struct waits_association *association)
{
    return (struct association_name){ names_text(reading->names, association->account),
                                      names_text(reading->names, association->user),
                                      names_text(reading->names, association->partition) };
}

static struct waits_association *waits_association_of(const struct waits_reading *reading,
                                                      int64_t id)
{
    uint32_t place = id_index_find(reading->places, (uint64_t)id);
    return place == INDEX_NONE ? NULL : &reading->associations[place];
}

/* Returns true if an account of the filter is the association's or is above it.  Parents of
 * different times can form a loop, so the number of steps is limited. */
static bool waits_is_below(const struct waits_reading *reading,
                           const struct waits_association *association)
{
    const struct association_selection *selection = &reading->published->selection;
    for (size_t steps = 0; association && steps <= reading->count; steps++) {
        struct association_name name = waits_full_name(reading, association);
        if (selection_chooses(selection, SELECTION_ACCOUNTS,
                              &(const struct association_name){ name.account, "", "" }))
            return true;
        association = waits_association_of(reading, association->parent_id);
    }
    return false;
}

/* Applies the permissions and the filter. */
static void waits_select(struct waits_reading *reading)
{
    struct published *published = reading->published;
    const char *cluster = reading->cluster->name;
    bool of_users = published->filter.users.count || reading->request->by & WAITS_BY_USER;
    for (size_t i = 0; i < reading->count; i++) {
        struct waits_association *association = &reading->associations[i];
        struct association_name name = waits_full_name(reading, association);
        association->is_shown =
            permissions_show(&published->permissions, cluster, name.account, name.user) &&
            permissions_show_job(&published->permissions, cluster, name.account, name.user);
        if (!association->is_shown)
            name.user = name.partition = "";
        selection_note(&published->selection, &name);
        association->is_wanted = (association->is_shown || !of_users) &&
                                 selection_chooses(&published->selection, SELECTION_USERS, &name) &&
                                 waits_is_below(reading, association);
    }
}

/* ---- Factors ---- */

/* Sets the factors to those of the last history point before `end`. */
static int waits_read_factors(struct waits_reading *reading, int64_t end, struct error *err)
{
    struct db *db = reading->published->db;
    const struct db_value *row;
    const struct db_value find[] = {
        db_text(reading->cluster->name), db_text(reading->cluster->algorithm->name),
        db_integer(calendar_start(CALENDAR_DAY, end - 1, -FACTOR_AGE_LIMIT_DAYS)), db_integer(end)
    };
    int64_t point = 0;
    if (rows_read_integer(db, sql_query_wait_point, find, COUNT(find), &point, err) < 0)
        return -1;
    if (point == reading->point)
        return 0;
    reading->point = point;
    for (size_t i = 0; i < reading->count; i++)
        reading->associations[i].factor = NAN;
    if (!point)
        return 0;
    const struct db_value key[] = { db_text(reading->cluster->name), db_integer(point) };
    struct db_rows *rows = db_query(db, sql_query_wait_point_factors, key, COUNT(key), "in", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct waits_association *association = waits_association_of(reading, row[0].integer);
        if (association)
            association->factor = db_value_real(&row[1]);
    }
    return db_finish(rows);
}

/* ---- Jobs ---- */

static uint32_t waits_group_of(struct waits_reading *reading, const struct waits_group *group)
{
    uint32_t count = names_count(reading->keys);
    uint32_t number = names_add(reading->keys, (const char *)group, sizeof *group);
    if (number == count)
        *memory_append(&reading->groups, &reading->group_count) = *group;
    return number;
}

static bool waits_wants(const struct waits_reading *reading, const struct name_list *list,
                        uint32_t name)
{
    return !list || name_list_wants(list, names_text(reading->names, name));
}

/* Returns true if the request selects the jobs of an association that has no record. */
static bool waits_wants_unknown(const struct waits_reading *reading)
{
    const struct published *published = reading->published;
    bool of_users = reading->request->by & WAITS_BY_USER;
    return !published->filter.users.count && !published->filter.accounts.count &&
           !(of_users && permissions_are_limited_on(&published->permissions, reading->cluster->name,
                                                    PRIVATE_ALL));
}

/* Adds a row of sql_query_wait_days.  An association that has no record has empty names. */
static void waits_add_row(struct waits_reading *reading, const struct db_value *row)
{
    const struct waits_request *request = reading->request;
    const struct waits_association *known = waits_association_of(reading, row[0].integer);
    uint32_t partition = waits_name_in(reading, &row[1]), qos = waits_name_in(reading, &row[2]);
    uint32_t none = waits_name(reading, "", 0);
    size_t bucket = wait_bucket_at(row[3].integer);
    bool is_wanted = known ? known->is_wanted : waits_wants_unknown(reading);
    if (!is_wanted || bucket == WAIT_BUCKETS || row[4].integer <= 0 ||
        !waits_wants(reading, request->partitions, partition) ||
        !waits_wants(reading, request->qos, qos))
        return;
    struct waits_group group = { INDEX_NONE, INDEX_NONE, INDEX_NONE, INDEX_NONE };
    if (request->by & WAITS_BY_ACCOUNT)
        group.account = known ? known->account : none;
    if (request->by & WAITS_BY_USER)
        group.user = known ? known->user : none;
    if (request->by & WAITS_BY_PARTITION)
        group.partition = partition;
    if (request->by & WAITS_BY_QOS)
        group.qos = qos;
    *memory_append(&reading->entries, &reading->entry_count) = (struct waits_entry){
        .period = reading->period,
        .group = waits_group_of(reading, &group),
        .observation = { known ? known->factor : NAN, (uint32_t)bucket, (uint64_t)row[4].integer },
    };
}

static int waits_read_day(struct waits_reading *reading, int64_t day, int64_t end,
                          struct error *err)
{
    const struct db_value *row, cluster = db_text(reading->cluster->name);
    const struct db_value span[] = { cluster, db_integer(day), db_integer(end),
                                     cluster, db_integer(day), db_integer(end) };
    if (!reading->request->without_correlation && waits_read_factors(reading, end, err))
        return -1;
    struct db_rows *rows =
        db_query(reading->published->db, sql_query_wait_days, span, COUNT(span), "ittii", err);
    while (db_fetch(rows, &row, err) > 0)
        waits_add_row(reading, row);
    return db_finish(rows);
}

/* Reads day by day, because the factors change with the days. */
static int waits_read_days(struct waits_reading *reading, struct error *err)
{
    const struct waits_request *request = reading->request;
    const struct db_value clusters[] = { db_text(reading->cluster->name),
                                         db_text(reading->cluster->name) };
    int64_t oldest = INT64_MAX, end;
    if (rows_read_integer(reading->published->db, sql_query_wait_oldest_day, clusters,
                          COUNT(clusters), &oldest, err) < 0)
        return -1;
    int64_t from = calendar_start(CALENDAR_DAY, request->from, 0);
    reading->list->total = (struct waits_row){ .from = from, .to = request->to };
    int64_t period_end = request->end_of ? from : INT64_MAX;
    reading->period = from;
    for (int64_t day = from > oldest ? from : oldest; day < request->to; day = end) {
        end = calendar_end_of_day(day);
        while (day >= period_end) {
            reading->period = period_end;
            period_end = request->end_of(period_end);
        }
        if (waits_read_day(reading, day, end, err))
            return -1;
    }
    return 0;
}

/* ---- Rows ---- */

static const char *waits_text_of(const struct waits_reading *reading, uint32_t name)
{
    return name == INDEX_NONE ? NULL : names_text(reading->names, name);
}

static int waits_compare_names(const struct waits_reading *reading, uint32_t one, uint32_t other)
{
    return one == other ? 0 : strcmp(waits_text_of(reading, one), waits_text_of(reading, other));
}

static int waits_by_period_and_group(const void *a, const void *b, void *context)
{
    const struct waits_entry *one = a, *other = b;
    const struct waits_reading *reading = context;
    if (one->period != other->period)
        return one->period < other->period ? -1 : 1;
    const struct waits_group *first = &reading->groups[one->group];
    const struct waits_group *second = &reading->groups[other->group];
    int order = waits_compare_names(reading, first->account, second->account);
    if (!order)
        order = waits_compare_names(reading, first->user, second->user);
    if (!order)
        order = waits_compare_names(reading, first->partition, second->partition);
    return order ? order : waits_compare_names(reading, first->qos, second->qos);
}

/* Sums up entries.  `observations` has room for `count` elements. */
static void waits_sum_up(struct waits_row *row, const struct waits_entry *entries, size_t count,
                         struct wait_observation *observations)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wait_observation *observation = &entries[i].observation;
        row->counts.jobs[observation->bucket] += observation->jobs;
        if (!isnan(observation->factor))
            observations[known++] = *observation;
    }
    row->correlation = wait_correlation(observations, known);
}

static int64_t waits_end_of_period(const struct waits_request *request, int64_t period)
{
    int64_t end = request->end_of ? request->end_of(period) : request->to;
    return end < request->to ? end : request->to;
}

static void waits_make_rows(struct waits_reading *reading)
{
    struct waits_list *list = reading->list;
    struct waits_entry *entries = reading->entries;
    size_t count = reading->entry_count;
    struct wait_observation *observations = memory_zeroed(count + 1, sizeof *observations);
    if (count)
        qsort_r(entries, count, sizeof *entries, waits_by_period_and_group, reading);
    for (size_t i = 0, end; i < count; i = end) {
        const struct waits_group *group = &reading->groups[entries[i].group];
        for (end = i; end < count && entries[end].period == entries[i].period &&
                      entries[end].group == entries[i].group;)
            end++;
        struct waits_row *row = memory_append(&list->rows, &list->count);
        *row = (struct waits_row){
            .from = entries[i].period,
            .to = waits_end_of_period(reading->request, entries[i].period),
            .account = waits_text_of(reading, group->account),
            .user = waits_text_of(reading, group->user),
            .partition = waits_text_of(reading, group->partition),
            .qos = waits_text_of(reading, group->qos),
        };
        waits_sum_up(row, entries + i, end - i, observations);
    }
    waits_sum_up(&list->total, entries, count, observations);
    free(observations);
}

int published_waits_read(struct published *published, const struct published_cluster *cluster,
                         const struct waits_request *request, struct waits_list *list,
                         struct error *err)
{
    struct waits_reading reading = {
        .published = published,
        .cluster = cluster,
        .request = request,
        .list = list,
        .names = names_create(),
        .keys = names_create(),
        .places = id_index_create(),
    };
    *list = (struct waits_list){ .names = reading.names };
    int result = waits_read_associations(&reading, err);
    if (!result) {
        waits_select(&reading);
        result = waits_read_days(&reading, err);
    }
    if (!result)
        waits_make_rows(&reading);
    id_index_destroy(reading.places);
    names_destroy(reading.keys);
    free(reading.associations);
    free(reading.groups);
    free(reading.entries);
    return result;
}

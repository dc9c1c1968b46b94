/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "source/slurmdbd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The columns we read of each table.  `wanted` ones may be missing from older or newer layouts,
 * all others must be there. */
struct layout {
    const char *table; /* after `CLUSTER_` where `per_cluster` */
    bool per_cluster;
    const char *needed[10];
    const char *wanted[4];
};

static const struct layout cluster_layout = {
    "cluster_table", false, { "name", "deleted" }, { 0 }
};
static const struct layout qos_layout = { "qos_table", false, { "id", "usage_factor" }, { 0 } };
static const struct layout event_layout = {
    "event_table",
    true,
    { "node_name", "time_start", "time_end", "tres" },
    { 0 },
};
static const struct layout association_layout = {
    "assoc_table",
    true,
    { "id_assoc", "acct", "user", "partition", "parent_acct", "shares", "deleted" },
    { "id_parent", "lineage", "lft" },
};
static const struct layout job_layout = {
    "job_table",
    true,
    { "id_assoc", "id_qos", "time_submit", "time_start", "time_end", "timelimit", "id_job",
      "tres_alloc" },
    { 0 },
};
static const struct layout *const layouts[] = {
    &cluster_layout, &qos_layout, &event_layout, &association_layout, &job_layout, NULL,
};

/* The largest part of `wanted` that is there, a bit each. */
enum { HAS_ID_PARENT = 1, HAS_LINEAGE = 2, HAS_LFT = 4 };

static void add_table_name(struct text *text, const struct layout *layout, const char *cluster)
{
    if (layout->per_cluster)
        text_format(text, "%s_", cluster);
    text_add(text, layout->table);
}

static void add_table(struct text *text, const struct layout *layout, const char *cluster)
{
    struct text name = { 0 };
    add_table_name(&name, layout, cluster);
    text_add_identifier(text, name.bytes);
    text_free(&name);
}

static int fetch_all(struct db *db, const char *sql, const struct db_value *arguments,
                     size_t argument_count, const char *types,
                     int (*take)(void *, const struct db_value *, struct error *), void *context,
                     struct error *err)
{
    struct db_rows *rows;
    if (db_query(db, sql, arguments, argument_count, types, &rows, err))
        return -1;
    const struct db_value *row;
    int result;
    while ((result = db_fetch(rows, &row, err)) > 0)
        if (take(context, row, err)) {
            result = -1;
            break;
        }
    db_finish(rows);
    return result;
}

struct probe {
    const struct layout *layout;
    unsigned needed, wanted; /* a bit for each that was seen */
    bool any;
};

static int take_column(void *context, const struct db_value *row, struct error *err)
{
    struct probe *probe = context;
    (void)err;
    if (row[0].type != DB_TEXT)
        return 0;
    probe->any = true;
    for (unsigned i = 0; i < 10 && probe->layout->needed[i]; i++)
        if (strlen(probe->layout->needed[i]) == row[0].text.length &&
            !memcmp(probe->layout->needed[i], row[0].text.bytes, row[0].text.length))
            probe->needed |= 1u << i;
    for (unsigned i = 0; i < 4 && probe->layout->wanted[i]; i++)
        if (strlen(probe->layout->wanted[i]) == row[0].text.length &&
            !memcmp(probe->layout->wanted[i], row[0].text.bytes, row[0].text.length))
            probe->wanted |= 1u << i;
    return 0;
}

static void add_columns(struct text *text, const struct layout *layout, char quote)
{
    const char *between = "";
    for (unsigned i = 0; i < 10 && layout->needed[i]; i++, between = ", ")
        text_format(text, "%s%c%s%c", between, quote, layout->needed[i], quote);
}

/* Users' scripts, environments and command lines are none of our business, so the job table is
 * granted column by column; the other tables whole, since their columns come and go. */
static void add_grant(struct text *text, const struct layout *layout,
                      const struct db_settings *settings, const char *cluster)
{
    struct text table = { 0 }, privileges = { 0 };
    add_table_name(&table, layout, cluster);
    text_add(&privileges, "SELECT");
    if (layout == &job_layout) {
        text_add(&privileges, " (");
        add_columns(&privileges, layout, '`');
        text_add(&privileges, ")");
    }
    db_add_grant(text, settings, privileges.bytes, table.bytes);
    text_free(&table);
    text_free(&privileges);
}

void slurmdbd_grants(struct text *text, const struct db_settings *settings, const char *cluster)
{
    for (const struct layout *const *each = layouts; *each; each++)
        if ((*each)->per_cluster == (cluster != NULL)) {
            add_grant(text, *each, settings, cluster ? cluster : "");
            text_add(text, ";\n");
        }
}

/* What is missing, and how it may be had. */
static int fail_missing(const struct db *db, const struct layout *layout, const char *cluster,
                        const char *column, struct error *err)
{
    struct text table = { 0 }, grant = { 0 };
    add_table_name(&table, layout, cluster);
    add_grant(&grant, layout, db->settings, cluster);
    fail(err, ERROR_MISSING, "%s%s%s'%s' of the accounting database is missing or not readable%s%s",
         column ? "column '" : "table ", column ? column : "", column ? "' of table " : "",
         table.bytes, grant.length ? "; if it is there: " : "", grant.length ? grant.bytes : "");
    text_free(&table);
    text_free(&grant);
    return -1;
}

/* Which of the layout's columns are there; fails where a needed one is not. */
static int probe(struct db *db, const struct layout *layout, const char *cluster, unsigned *wanted,
                 struct error *err)
{
    struct probe found = { .layout = layout };
    struct text name = { 0 };
    add_table_name(&name, layout, cluster);
    struct db_value table = db_text(name.bytes);
    int result = fetch_all(db, db->driver->columns_query, &table, 1, "t", take_column, &found, err);
    text_free(&name);
    if (result)
        return -1;
    for (unsigned i = 0; i < 10 && layout->needed[i]; i++)
        if (!(found.needed >> i & 1))
            return fail_missing(db, layout, cluster, found.any ? layout->needed[i] : NULL, err);
    if (wanted)
        *wanted = found.wanted;
    return 0;
}

/* A column that was there a moment ago and is not any more: somebody upgrades slurmdbd just now.
 * It will be there again. */
static int in_upgrade(const struct layout *layout, const char *cluster, struct error *err)
{
    if (err->class == ERROR_MISSING)
        err->class = ERROR_RETRY;
    if (layout->per_cluster)
        return fail_in(err, "cannot read '%s_%s'", cluster, layout->table);
    return fail_in(err, "cannot read '%s'", layout->table);
}

static uint64_t number_of(const struct db_value *value)
{
    if (value->type == DB_UNSIGNED)
        return value->unsigned_integer;
    return value->type == DB_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

struct cluster_list {
    struct cluster *clusters;
    size_t count;
};

static int take_cluster(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_list *list = context;
    if (row[0].type != DB_TEXT || !row[0].text.length)
        return 0;
    if (memchr(row[0].text.bytes, '\0', row[0].text.length))
        return fail(err, ERROR_DATA, "a cluster's name in cluster_table has a NUL byte");
    struct text name = { 0 };
    text_add_as_utf8(&name, row[0].text.bytes, row[0].text.length);
    list->clusters = memory_resized(list->clusters, list->count + 1, sizeof *list->clusters);
    list->clusters[list->count++] = (struct cluster){ name.bytes, number_of(&row[1]) != 0 };
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct cluster *one = a, *other = b;
    return strcmp(one->name, other->name);
}

int slurmdbd_clusters(struct db *db, struct cluster **clusters, size_t *count, struct error *err)
{
    struct cluster_list list = { 0 };
    if (probe(db, &cluster_layout, "", NULL, err))
        return -1;
    if (fetch_all(db, "SELECT \"name\", \"deleted\" FROM \"cluster_table\"", NULL, 0, "ti",
                  take_cluster, &list, err)) {
        clusters_free(list.clusters, list.count);
        return in_upgrade(&cluster_layout, "", err);
    }
    if (list.count)
        qsort(list.clusters, list.count, sizeof *list.clusters, by_name);
    *clusters = list.clusters;
    *count = list.count;
    return 0;
}

void clusters_free(struct cluster *clusters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(clusters[i].name);
    free(clusters);
}

struct association_reader {
    struct accounting *accounting;
    size_t room;
    const char **lineages; /* by row, where they are read */
    int64_t *lefts;
    struct arena *arena;
    bool ordered;
};

static uint32_t name_of(struct accounting *accounting, const struct db_value *value)
{
    if (value->type != DB_TEXT)
        return accounting->empty_name;
    return names_add(accounting->names, value->text.bytes, value->text.length);
}

static void grow(struct association_reader *reader)
{
    reader->room = reader->room ? reader->room * 2 : 1024;
    struct accounting *accounting = reader->accounting;
    accounting->rows = memory_resized(accounting->rows, reader->room, sizeof *accounting->rows);
    if (reader->ordered) {
        reader->lineages = memory_resized(reader->lineages, reader->room, sizeof *reader->lineages);
        reader->lefts = memory_resized(reader->lefts, reader->room, sizeof *reader->lefts);
    }
}

enum {
    A_ID,
    A_ID_PARENT,
    A_ACCT,
    A_USER,
    A_PARTITION,
    A_PARENT_ACCT,
    A_SHARES,
    A_DELETED,
    A_LINEAGE,
    A_LFT
};

static int take_association(void *context, const struct db_value *row, struct error *err)
{
    struct association_reader *reader = context;
    struct accounting *accounting = reader->accounting;
    uint64_t id = number_of(&row[A_ID]), parent = number_of(&row[A_ID_PARENT]);
    if (id == 0 || id > UINT32_MAX || parent > UINT32_MAX)
        return fail(err, ERROR_DATA,
                    "association %" PRIu64 " (id_parent %" PRIu64 ") has an id out of range", id,
                    parent);
    int64_t shares = row[A_SHARES].type == DB_INTEGER ? row[A_SHARES].integer : 1;
    if (shares > INT32_MAX || shares < INT32_MIN)
        return fail(err, ERROR_DATA, "association %" PRIu64 " has shares out of range: %" PRId64,
                    id, shares);
    if (accounting->count == reader->room)
        grow(reader);
    if (reader->ordered) {
        const struct db_value *lineage = &row[A_LINEAGE];
        bool has_lineage = lineage->type == DB_TEXT;
        reader->lineages[accounting->count] =
            arena_copy(reader->arena, has_lineage ? lineage->text.bytes : "",
                       has_lineage ? lineage->text.length : 0);
        reader->lefts[accounting->count] = row[A_LFT].type == DB_INTEGER ? row[A_LFT].integer : 0;
    }
    accounting->rows[accounting->count++] = (struct association){
        .id = (uint32_t)id,
        .parent_id = (uint32_t)parent,
        .account = name_of(accounting, &row[A_ACCT]),
        .user = name_of(accounting, &row[A_USER]),
        .partition = name_of(accounting, &row[A_PARTITION]),
        .parent_account = name_of(accounting, &row[A_PARENT_ACCT]),
        .shares = (int32_t)shares,
        .deleted = number_of(&row[A_DELETED]) != 0,
    };
    return 0;
}

static int by_lineage(const void *a, const void *b, void *context)
{
    const struct association_reader *reader = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order = strcmp(reader->lineages[one], reader->lineages[other]);
    if (order)
        return order;
    if (reader->lefts[one] != reader->lefts[other])
        return reader->lefts[one] < reader->lefts[other] ? -1 : 1;
    const struct association *rows = reader->accounting->rows;
    return (rows[one].id > rows[other].id) - (rows[one].id < rows[other].id);
}

/* Number the rows in the order in which slurmdbd hands them to slurmctld. */
static void number_rows(struct association_reader *reader)
{
    size_t count = reader->accounting->count;
    uint32_t *sorted = memory_zeroed(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    if (count)
        qsort_r(sorted, count, sizeof *sorted, by_lineage, reader);
    for (uint32_t i = 0; i < count; i++)
        reader->accounting->rows[sorted[i]].order = i;
    free(sorted);
}

static int read_associations(struct db *db, const char *cluster, bool ordered,
                             struct accounting *accounting, struct error *err)
{
    unsigned has;
    if (probe(db, &association_layout, cluster, &has, err))
        return -1;
    bool lineage = ordered && (has & HAS_LINEAGE), lft = ordered && !lineage && (has & HAS_LFT);
    struct text sql = { 0 };
    text_format(&sql,
                "SELECT \"id_assoc\", %s, \"acct\", \"user\", \"partition\", \"parent_acct\","
                " \"shares\", \"deleted\", %s, %s FROM ",
                has & HAS_ID_PARENT ? "\"id_parent\"" : "0", lineage ? "\"lineage\"" : "''",
                lft ? "\"lft\"" : "0");
    add_table(&sql, &association_layout, cluster);
    struct association_reader reader = {
        .accounting = accounting,
        .ordered = ordered,
        .arena = arena_create(),
    };
    int result = fetch_all(db, sql.bytes, NULL, 0, "iittttiiti", take_association, &reader, err);
    if (!result && ordered)
        number_rows(&reader);
    text_free(&sql);
    free(reader.lineages);
    free(reader.lefts);
    arena_destroy(reader.arena);
    return result ? in_upgrade(&association_layout, cluster, err) : 0;
}

static int take_qos(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    if (id_index_add(accounting->qos_place, number_of(&row[0]), accounting->qos_count) !=
        INDEX_NONE)
        return 0;
    accounting->qos_price = memory_resized(accounting->qos_price, accounting->qos_count + 1,
                                           sizeof *accounting->qos_price);
    accounting->qos_price[accounting->qos_count++] =
        price_of_factor(row[1].type == DB_REAL ? row[1].real : 1);
    return 0;
}

static int read_qos(struct db *db, struct accounting *accounting, struct error *err)
{
    if (probe(db, &qos_layout, "", NULL, err))
        return -1;
    if (fetch_all(db, "SELECT \"id\", \"usage_factor\" FROM \"qos_table\"", NULL, 0, "ir", take_qos,
                  accounting, err))
        return in_upgrade(&qos_layout, "", err);
    return 0;
}

static int take_registration(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    uint64_t count;
    (void)err;
    if (row[0].type != DB_TEXT)
        return 0;
    if (tres_count(row[0].text.bytes, row[0].text.length, TRES_CPU, &count) == TRES_FOUND)
        accounting->cpus = (double)count;
    if (tres_count(row[0].text.bytes, row[0].text.length, TRES_BILLING, &count) == TRES_FOUND)
        accounting->billing = (double)count;
    return 0;
}

/* The cluster's own event without an end is what it last registered; the newest comes last. */
static int read_registration(struct db *db, const char *cluster, struct accounting *accounting,
                             struct error *err)
{
    if (probe(db, &event_layout, cluster, NULL, err))
        return -1;
    struct text sql = { 0 };
    text_add(&sql, "SELECT \"tres\" FROM ");
    add_table(&sql, &event_layout, cluster);
    text_add(&sql, " WHERE \"node_name\" = '' AND \"time_end\" = 0 ORDER BY \"time_start\"");
    int result = fetch_all(db, sql.bytes, NULL, 0, "t", take_registration, accounting, err);
    text_free(&sql);
    return result ? in_upgrade(&event_layout, cluster, err) : 0;
}

int slurmdbd_read(struct db *db, const char *cluster, bool ordered, struct accounting **read,
                  struct error *err)
{
    struct accounting *accounting = memory_zeroed(1, sizeof *accounting);
    accounting->names = names_create();
    accounting->empty_name = names_add(accounting->names, "", 0);
    accounting->qos_place = id_index_create();
    accounting->cpus = accounting->billing = NAN;
    if (read_qos(db, accounting, err) || read_registration(db, cluster, accounting, err) ||
        read_associations(db, cluster, ordered, accounting, err) ||
        probe(db, &job_layout, cluster, NULL, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    *read = accounting;
    return 0;
}

void accounting_destroy(struct accounting *accounting)
{
    if (!accounting)
        return;
    names_destroy(accounting->names);
    free(accounting->rows);
    id_index_destroy(accounting->qos_place);
    free(accounting->qos_price);
    free(accounting);
}

uint128 accounting_price(const struct accounting *accounting, uint64_t qos)
{
    uint32_t place = id_index_find(accounting->qos_place, qos);
    return place == INDEX_NONE ? UNITS_PER_TRES : accounting->qos_price[place];
}

struct job_reader {
    int (*take)(void *context, const struct job_row *row, struct error *err);
    void *context;
};

enum { J_ASSOCIATION, J_QOS, J_SUBMIT, J_START, J_END, J_LIMIT, J_ID, J_TRES };

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    const struct job_reader *reader = context;
    bool has_tres = row[J_TRES].type == DB_TEXT;
    struct job_row job = {
        .id_job = number_of(&row[J_ID]),
        .association = number_of(&row[J_ASSOCIATION]),
        .qos = number_of(&row[J_QOS]),
        .job = {
            .time_submit = number_of(&row[J_SUBMIT]),
            .time_start = number_of(&row[J_START]),
            .time_end = number_of(&row[J_END]),
            .time_limit = number_of(&row[J_LIMIT]),
            .tres_alloc = has_tres ? row[J_TRES].text.bytes : "",
            .tres_alloc_length = has_tres ? row[J_TRES].text.length : 0,
        },
    };
    return reader->take(reader->context, &job, err);
}

int slurmdbd_read_jobs(struct db *db, const char *cluster, uint64_t oldest,
                       int (*take)(void *context, const struct job_row *row, struct error *err),
                       void *context, struct error *err)
{
    struct job_reader reader = { take, context };
    struct text sql = { 0 };
    text_add(&sql, "SELECT ");
    add_columns(&sql, &job_layout, '"');
    text_add(&sql, " FROM ");
    add_table(&sql, &job_layout, cluster);
    text_format(&sql, " %s WHERE \"time_start\" > 0 AND (\"time_end\" = 0 OR \"time_end\" > ?)",
                db->driver->scan_hint);
    struct db_value argument = db_integer((int64_t)oldest);
    int result = fetch_all(db, sql.bytes, &argument, 1, "iiiiiiit", take_job, &reader, err);
    text_free(&sql);
    return result ? in_upgrade(&job_layout, cluster, err) : 0;
}

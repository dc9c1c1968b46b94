/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/seal.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* slurmdbd's tables, as every release from 20.11 to 26.05 lays them out: which columns there are
 * is asked of the database, never told from a version number. */

#define COLUMNS_NEEDED 10
#define COLUMNS_WANTED 4

/* The columns we read of a table.  `wanted` ones are missing from some releases. */
struct table {
    const char *suffix; /* its name, or what follows `CLUSTER_` */
    bool per_cluster;
    const char *needed[COLUMNS_NEEDED];
    const char *wanted[COLUMNS_WANTED];
};

static const struct table cluster_table = {
    "cluster_table",
    false,
    { "name", "deleted" },
    { 0 },
};
static const struct table qos_table = {
    "qos_table",
    false,
    { "id", "usage_factor" },
    { 0 },
};
static const struct table event_table = {
    "event_table",
    true,
    { "node_name", "time_start", "time_end", "tres" },
    { 0 },
};
static const struct table association_table = {
    "assoc_table",
    true,
    { "id_assoc", "acct", "user", "partition", "parent_acct", "shares", "deleted" },
    { "id_parent", "lineage", "lft" },
};
enum { HAS_ID_PARENT = 1, HAS_LINEAGE = 2, HAS_LFT = 4 }; /* a bit for each wanted one */
static const struct table job_table = {
    "job_table",
    true,
    { "id_assoc", "id_qos", "time_submit", "time_start", "time_end", "timelimit", "id_job",
      "tres_alloc", "job_db_inx" },
    { 0 },
};
static const struct table *const tables[] = {
    &cluster_table, &qos_table, &event_table, &association_table, &job_table, NULL,
};

static void add_name(struct text *text, const struct table *table, const char *cluster)
{
    if (table->per_cluster)
        text_format(text, "%s_", cluster);
    text_add(text, table->suffix);
}

static void add_quoted_name(struct text *text, const struct table *table, const char *cluster)
{
    struct text name = { 0 };
    add_name(&name, table, cluster);
    text_add_identifier(text, name.bytes);
    text_free(&name);
}

/* Users' scripts, environments and command lines are none of our business, so the job table is
 * granted column by column; the other tables whole, since their columns come and go. */
static void add_grant(struct text *text, const struct table *table,
                      const struct db_settings *settings, const char *cluster)
{
    struct text name = { 0 }, privileges = { 0 };
    add_name(&name, table, cluster);
    text_add(&privileges, "SELECT");
    if (table == &job_table)
        for (unsigned i = 0; i < COLUMNS_NEEDED && table->needed[i]; i++)
            text_format(&privileges, "%s%s", i ? ", " : " (", table->needed[i]);
    text_add(&privileges, table == &job_table ? ")" : "");
    db_add_grant(text, settings, privileges.bytes, name.bytes);
    text_free(&name);
    text_free(&privileges);
}

static void add_grants(struct text *text, const struct settings *settings, const char *cluster)
{
    for (const struct table *const *each = tables; *each; each++) {
        size_t before = text->length;
        if ((*each)->per_cluster == (cluster != NULL))
            add_grant(text, *each, &settings->source, cluster ? cluster : "");
        if (text->length > before)
            text_add(text, ";\n");
    }
}

/* What is missing, and how it may be had. */
static int fail_missing(const struct db *db, const struct table *table, const char *cluster,
                        const char *column, struct error *err)
{
    struct text name = { 0 }, grant = { 0 };
    add_name(&name, table, cluster);
    add_grant(&grant, table, db->settings, cluster);
    fail(err, ERROR_MISSING, "%s%s%s'%s' of the accounting database is missing or not readable%s%s",
         column ? "column '" : "table ", column ? column : "", column ? "' of table " : "",
         name.bytes, grant.length ? "; if it is there: " : "", grant.length ? grant.bytes : "");
    text_free(&name);
    text_free(&grant);
    return -1;
}

/* Which of a table's columns were seen, a bit each. */
struct probe {
    const struct table *table;
    unsigned needed, wanted;
    bool any;
};

static unsigned seen(const char *const *columns, size_t count, const struct db_value *name)
{
    for (unsigned i = 0; i < count && columns[i]; i++)
        if (strlen(columns[i]) == name->text.length &&
            !memcmp(columns[i], name->text.bytes, name->text.length))
            return 1u << i;
    return 0;
}

static int take_column(void *context, const struct db_value *row, struct error *err)
{
    struct probe *probe = context;
    (void)err;
    if (row[0].type != DB_TEXT)
        return 0;
    probe->any = true;
    probe->needed |= seen(probe->table->needed, COLUMNS_NEEDED, &row[0]);
    probe->wanted |= seen(probe->table->wanted, COLUMNS_WANTED, &row[0]);
    return 0;
}

/* Which wanted columns are there (`wanted` may be NULL); fails where a needed one is not. */
static int probe(struct db *db, const struct table *table, const char *cluster, unsigned *wanted,
                 struct error *err)
{
    struct probe found = { .table = table };
    struct text name = { 0 };
    add_name(&name, table, cluster);
    struct db_value argument = db_text(name.bytes);
    int result =
        reading_each(db, db->driver->columns_query, &argument, 1, "t", take_column, &found, err);
    text_free(&name);
    if (result)
        return -1;
    for (unsigned i = 0; i < COLUMNS_NEEDED && table->needed[i]; i++)
        if (!(found.needed >> i & 1))
            return fail_missing(db, table, cluster, found.any ? table->needed[i] : NULL, err);
    if (wanted)
        *wanted = found.wanted;
    return 0;
}

/* Run a query on a table that was probed.  A column that was there a moment ago and is not any
 * more means that somebody upgrades slurmdbd just now: it will be there again. */
static int read_table(struct db *db, const struct table *table, const char *cluster,
                      const char *sql, const struct db_value *arguments, size_t argument_count,
                      const char *types,
                      int (*take)(void *, const struct db_value *, struct error *), void *context,
                      struct error *err)
{
    if (!reading_each(db, sql, arguments, argument_count, types, take, context, err))
        return 0;
    if (err->class == ERROR_MISSING)
        err->class = ERROR_RETRY;
    struct text name = { 0 };
    add_name(&name, table, cluster);
    fail_in(err, "cannot read '%s'", name.bytes);
    text_free(&name);
    return -1;
}

static int read_clusters(struct db *db, const struct settings *settings, struct cluster **clusters,
                         size_t *count, struct error *err)
{
    struct cluster_list list = { 0 };
    (void)settings;
    if (probe(db, &cluster_table, "", NULL, err))
        return -1;
    if (read_table(db, &cluster_table, "", "SELECT \"name\", \"deleted\" FROM \"cluster_table\"",
                   NULL, 0, "ti", reading_cluster, &list, err)) {
        clusters_free(list.clusters, list.count);
        return -1;
    }
    reading_sort_clusters(&list);
    *clusters = list.clusters;
    *count = list.count;
    return 0;
}

/* Associations, with what slurmdbd orders them by where that is wanted. */
struct association_reader {
    struct accounting *accounting;
    bool ordered;
    struct arena *arena;
    size_t room;
    const char **lineages; /* by row */
    int64_t *lefts;
};

enum { READ_PARENT_ACCOUNT = READ_OWN, READ_LINEAGE, READ_LFT };

static void note_order(struct association_reader *reader, const struct db_value *row)
{
    size_t at = reader->accounting->count - 1;
    if (at >= reader->room) {
        reader->room = reader->accounting->room;
        reader->lineages = memory_resized(reader->lineages, reader->room, sizeof *reader->lineages);
        reader->lefts = memory_resized(reader->lefts, reader->room, sizeof *reader->lefts);
    }
    const struct db_value *lineage = &row[READ_LINEAGE];
    bool is_text = lineage->type == DB_TEXT;
    reader->lineages[at] = arena_copy(reader->arena, is_text ? lineage->text.bytes : "",
                                      is_text ? lineage->text.length : 0);
    reader->lefts[at] = row[READ_LFT].type == DB_INTEGER ? row[READ_LFT].integer : 0;
}

static int take_association(void *context, const struct db_value *row, struct error *err)
{
    struct association_reader *reader = context;
    struct association *association;
    if (reading_association(reader->accounting, row, &association, err))
        return -1;
    association->parent_account = reading_name(reader->accounting, &row[READ_PARENT_ACCOUNT]);
    if (reader->ordered)
        note_order(reader, row);
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
    if (probe(db, &association_table, cluster, &has, err))
        return -1;
    bool lineage = ordered && (has & HAS_LINEAGE), lft = ordered && !lineage && (has & HAS_LFT);
    struct text sql = { 0 };
    text_format(&sql,
                "SELECT \"id_assoc\", %s, \"acct\", \"user\", \"partition\", \"shares\","
                " \"deleted\", \"parent_acct\", %s, %s FROM ",
                has & HAS_ID_PARENT ? "\"id_parent\"" : "0", lineage ? "\"lineage\"" : "''",
                lft ? "\"lft\"" : "0");
    add_quoted_name(&sql, &association_table, cluster);
    struct association_reader reader = { accounting, ordered, arena_create(), 0, NULL, NULL };
    int result = read_table(db, &association_table, cluster, sql.bytes, NULL, 0, "iitttiitti",
                            take_association, &reader, err);
    if (!result && ordered)
        number_rows(&reader);
    text_free(&sql);
    free(reader.lineages);
    free(reader.lefts);
    arena_destroy(reader.arena);
    return result;
}

static int take_qos(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    (void)err;
    uint64_t id = reading_number(&row[0]);
    if (id_index_add(accounting->qos_place, id, accounting->qos_count) != INDEX_NONE)
        return 0;
    accounting->qos_id =
        memory_resized(accounting->qos_id, accounting->qos_count + 1, sizeof *accounting->qos_id);
    accounting->qos_id[accounting->qos_count] = id;
    accounting->qos_price = memory_resized(accounting->qos_price, accounting->qos_count + 1,
                                           sizeof *accounting->qos_price);
    accounting->qos_price[accounting->qos_count++] =
        price_of_factor(row[1].type == DB_REAL ? row[1].real : 1);
    return 0;
}

static int read_qos(struct db *db, struct accounting *accounting, struct error *err)
{
    if (probe(db, &qos_table, "", NULL, err))
        return -1;
    return read_table(db, &qos_table, "", "SELECT \"id\", \"usage_factor\" FROM \"qos_table\"",
                      NULL, 0, "ir", take_qos, accounting, err);
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
    if (probe(db, &event_table, cluster, NULL, err))
        return -1;
    struct text sql = { 0 };
    text_add(&sql, "SELECT \"tres\" FROM ");
    add_quoted_name(&sql, &event_table, cluster);
    text_add(&sql, " WHERE \"node_name\" = '' AND \"time_end\" = 0 ORDER BY \"time_start\"");
    int result = read_table(db, &event_table, cluster, sql.bytes, NULL, 0, "t", take_registration,
                            accounting, err);
    text_free(&sql);
    return result;
}

static int read_small(struct db *db, const struct settings *settings, const char *cluster,
                      bool ordered, struct accounting **read, struct error *err)
{
    (void)settings;
    struct accounting *accounting = accounting_create();
    if (read_qos(db, accounting, err) || read_registration(db, cluster, accounting, err) ||
        read_associations(db, cluster, ordered, accounting, err) ||
        probe(db, &job_table, cluster, NULL, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    *read = accounting;
    return 0;
}

struct job_reader {
    const struct accounting *accounting;
    job_taker take;
    void *context;
};

/* What is read of a job. */
#define JOB_COLUMNS                                                                           \
    "\"id_assoc\", \"id_qos\", \"time_submit\", \"time_start\", \"time_end\", \"timelimit\"," \
    " \"id_job\", \"tres_alloc\""
enum { JOB_ASSOCIATION, JOB_QOS, JOB_SUBMIT, JOB_START, JOB_END, JOB_LIMIT, JOB_ID, JOB_TRES };

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    const struct job_reader *reader = context;
    bool has_tres = row[JOB_TRES].type == DB_TEXT;
    struct job_row job = {
        .id_job = reading_number(&row[JOB_ID]),
        .association = reading_number(&row[JOB_ASSOCIATION]),
        .price = accounting_price(reader->accounting, reading_number(&row[JOB_QOS])),
        .job = {
            .time_submit = reading_number(&row[JOB_SUBMIT]),
            .time_start = reading_number(&row[JOB_START]),
            .time_end = reading_number(&row[JOB_END]),
            .time_limit = reading_number(&row[JOB_LIMIT]),
            .tres_alloc = has_tres ? row[JOB_TRES].text.bytes : "",
            .tres_alloc_length = has_tres ? row[JOB_TRES].text.length : 0,
        },
    };
    return reader->take(reader->context, &job, err);
}

/* An instant as databases hold it. */
static struct db_value instant_value(uint64_t instant)
{
    return db_integer(instant > INT64_MAX ? INT64_MAX : (int64_t)instant);
}

/* One query on the job table: the columns, and the WHERE that selects rows. */
static int query_jobs(struct db *db, const char *cluster, const char *hint, const char *where,
                      const struct db_value *arguments, size_t argument_count,
                      struct job_reader *reader, struct error *err)
{
    struct text sql = { 0 };
    text_add(&sql, "SELECT " JOB_COLUMNS " FROM ");
    add_quoted_name(&sql, &job_table, cluster);
    text_format(&sql, " %s WHERE \"time_start\" > 0 AND %s", hint, where);
    int result = read_table(db, &job_table, cluster, sql.bytes, arguments, argument_count,
                            "iiiiiiit", take_job, reader, err);
    text_free(&sql);
    return result;
}

/* How many keys one query asks for. */
#define KEYS_A_QUERY 500

static int read_jobs_by_key(struct db *db, const char *cluster, const struct job_range *range,
                            struct job_reader *reader, struct error *err)
{
    int result = 0;
    for (size_t done = 0; !result && done < range->key_count; done += KEYS_A_QUERY) {
        size_t count =
            range->key_count - done < KEYS_A_QUERY ? range->key_count - done : KEYS_A_QUERY;
        struct db_value arguments[KEYS_A_QUERY + 2] = { instant_value(range->from),
                                                        instant_value(range->to) };
        struct text where = { 0 };
        text_add(&where, "\"time_end\" >= ? AND \"time_end\" < ? AND \"job_db_inx\" IN (");
        for (size_t i = 0; i < count; i++) {
            text_add(&where, i ? ", ?" : "?");
            arguments[i + 2] = db_unsigned(range->keys[done + i]);
        }
        text_add(&where, ")");
        result = query_jobs(db, cluster, "", where.bytes, arguments, count + 2, reader, err);
        text_free(&where);
    }
    return result;
}

static int read_jobs(struct db *db, const struct settings *settings, const char *cluster,
                     const struct accounting *accounting, const struct job_range *range,
                     job_taker take, void *context, struct error *err)
{
    (void)settings;
    struct job_reader reader = { accounting, take, context };
    if (range->keys)
        return read_jobs_by_key(db, cluster, range, &reader, err);
    struct db_value ends[] = { instant_value(range->from), instant_value(range->to) };
    if (range->most)
        return query_jobs(db, cluster, db->driver->scan_hint,
                          range->open ? "(\"time_end\" = 0 OR \"time_end\" >= ?)"
                                      : "\"time_end\" >= ? AND \"time_end\" < ?",
                          ends, range->open ? 1 : 2, &reader, err);
    /* Two queries, as not every database makes two ranges of an index of an OR. */
    if (range->open && query_jobs(db, cluster, "", "\"time_end\" = 0", NULL, 0, &reader, err))
        return -1;
    return query_jobs(db, cluster, "", "\"time_end\" >= ? AND \"time_end\" < ?", ends, 2, &reader,
                      err);
}

static int take_key(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    job_keys_add(context, reading_number(&row[0]));
    return 0;
}

static int read_open_keys(struct db *db, const char *cluster, struct job_keys *keys,
                          struct error *err)
{
    struct text sql = { 0 };
    text_add(&sql, "SELECT \"job_db_inx\" FROM ");
    add_quoted_name(&sql, &job_table, cluster);
    text_add(&sql, " WHERE \"time_end\" = 0");
    int result = read_table(db, &job_table, cluster, sql.bytes, NULL, 0, "i", take_key, keys, err);
    text_free(&sql);
    job_keys_sort(keys);
    return result;
}

static int take_instant(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    *(uint64_t *)context = reading_number(&row[0]);
    return 0;
}

/* The first or last end in a range; an index on time_end has it at hand. */
static int read_end(struct db *db, const char *cluster, uint64_t after, uint64_t until,
                    const char *order, uint64_t *end, struct error *err)
{
    struct text sql = { 0 };
    struct db_value arguments[] = { instant_value(after), instant_value(until) };
    *end = 0;
    text_add(&sql, "SELECT \"time_end\" FROM ");
    add_quoted_name(&sql, &job_table, cluster);
    text_format(&sql,
                " WHERE \"time_end\" > ? AND \"time_end\" <= ? AND \"time_start\" > 0"
                " AND \"time_start\" <= \"time_end\" ORDER BY \"time_end\" %s LIMIT 1",
                order);
    int result =
        read_table(db, &job_table, cluster, sql.bytes, arguments, 2, "i", take_instant, end, err);
    text_free(&sql);
    return result;
}

static int read_ends(struct db *db, const char *cluster, uint64_t after, uint64_t until,
                     uint64_t *oldest, uint64_t *newest, struct error *err)
{
    if (read_end(db, cluster, after, until, "ASC", oldest, err))
        return -1;
    return read_end(db, cluster, after, until, "DESC", newest, err);
}

const struct layout layout_slurmdbd = {
    .name = "slurmdbd",
    .clusters = read_clusters,
    .read = read_small,
    .read_jobs = read_jobs,
    .read_open_keys = read_open_keys,
    .read_ends = read_ends,
    .add_grants = add_grants,
};

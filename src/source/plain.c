/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Two relations, tables or views that the settings name, for everybody who does not run slurmdbd:
 *
 *     associations(cluster, id, parent_id, account, user_name, partition_name, shares, deleted)
 *     usage(cluster, id, time_start, time_end, charge)
 *
 * parent_id is NULL or 0 for the root, user_name NULL or '' for an account, shares as in sacctmgr
 * (2147483647 is `parent`), time_end NULL or 0 while it goes on, charge in TRES a second. */

/* A relation's name, which may have a schema before a dot. */
static void add_relation(struct text *text, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot) {
        char *schema = memory_bytes(name, (size_t)(dot - name));
        text_add_identifier(text, schema);
        text_add(text, ".");
        free(schema);
    }
    text_add_identifier(text, dot ? dot + 1 : name);
}

/* The GRANT that reading it needs.  A relation of another schema is its owner's to grant. */
static void add_grant(struct text *text, const struct db_settings *settings, const char *relation)
{
    if (!strchr(relation, '.'))
        db_add_grant(text, settings, "SELECT", NULL, relation);
}

static int read_relation(struct db *db, const char *select, const char *relation, const char *where,
                         const struct db_value *arguments, size_t count, const char *types,
                         int (*take)(void *, const struct db_value *, struct error *),
                         void *context, struct error *err)
{
    struct text sql = { 0 };
    text_format(&sql, "SELECT %s FROM ", select);
    add_relation(&sql, relation);
    text_format(&sql, " %s", where);
    int result = reading_each(db, sql.bytes, arguments, count, types, take, context, err);
    text_free(&sql);
    if (!result)
        return 0;
    fail_in(err, "cannot read '%s'", relation);
    struct text grant = { 0 };
    if (err->class == ERROR_DENIED || err->class == ERROR_MISSING)
        add_grant(&grant, db->settings, relation);
    if (grant.length) {
        struct error reason = *err;
        fail(err, reason.class, "%.1500s; if it is there: %s", reason.message, grant.bytes);
    }
    text_free(&grant);
    return -1;
}

/* A cluster is there while one of its associations lives. */
static int read_clusters(struct db *db, const struct settings *settings, struct cluster **clusters,
                         size_t *count, struct error *err)
{
    struct cluster_list list = { 0 };
    if (read_relation(db, "\"cluster\", MIN(COALESCE(\"deleted\", 0))", settings->associations,
                      "GROUP BY \"cluster\"", NULL, 0, "ti", reading_cluster, &list, err)) {
        clusters_free(list.clusters, list.count);
        return -1;
    }
    reading_sort_clusters(&list);
    *clusters = list.clusters;
    *count = list.count;
    return 0;
}

static int take_association(void *context, const struct db_value *row, struct error *err)
{
    struct accounting *accounting = context;
    struct association *association;
    return reading_association(accounting, row, &association, err);
}

static int by_id(const void *a, const void *b)
{
    const struct association *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

/* There are no names of parents here to link by: the parent's own name stands for it, so that
 * tree_build() finds both in agreement.  Ties under slurmctld's way go by id. */
static void name_parents(struct accounting *accounting)
{
    struct association *rows = accounting->rows;
    if (accounting->count)
        qsort(rows, accounting->count, sizeof *rows, by_id);
    struct id_index *places = id_index_create();
    for (uint32_t i = 0; i < accounting->count; i++) {
        id_index_add(places, rows[i].id, i);
        rows[i].order = i;
    }
    for (uint32_t i = 0; i < accounting->count; i++) {
        uint32_t parent = id_index_find(places, rows[i].parent_id);
        if (rows[i].parent_id && parent != INDEX_NONE)
            rows[i].parent_account = rows[parent].account;
    }
    id_index_destroy(places);
}

static int read_small(struct db *db, const struct settings *settings, const char *cluster,
                      bool ordered, struct accounting **read, struct error *err)
{
    struct accounting *accounting = accounting_create(NULL);
    struct db_value argument = db_text(cluster);
    (void)ordered;
    if (read_relation(db,
                      "\"id\", \"parent_id\", \"account\", \"user_name\", \"partition_name\","
                      " \"shares\", \"deleted\"",
                      settings->associations, "WHERE \"cluster\" = ?", &argument, 1, "iitttii",
                      take_association, accounting, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    name_parents(accounting);
    *read = accounting;
    return 0;
}

struct usage_reader {
    job_taker take;
    void *context;
};

enum { USAGE_ID, USAGE_START, USAGE_END, USAGE_CHARGE };

static int take_usage(void *context, const struct db_value *row, struct error *err)
{
    const struct usage_reader *reader = context;
    double charge = row[USAGE_CHARGE].type == DB_REAL ? row[USAGE_CHARGE].real : 0;
    struct tariff tariff = { .price = charge < 0 ? PRICE_TOO_LARGE : price_of_factor(charge) };
    struct job_row job = {
        .id_job = reading_number(&row[USAGE_ID]),
        .association = reading_number(&row[USAGE_ID]),
        .tariff = &tariff,
        .job = {
            .time_start = reading_number(&row[USAGE_START]),
            .time_end = reading_number(&row[USAGE_END]),
            .tres_alloc = NULL, /* the tariff's price is the whole charge */
        },
    };
    return reader->take(reader->context, &job, err);
}

static int read_usage(struct db *db, const struct settings *settings, const char *cluster,
                      const struct accounting *accounting, const struct job_range *range,
                      job_taker take, void *context, struct error *err)
{
    struct usage_reader reader = { take, context };
    struct db_value arguments[] = { db_text(cluster), db_unsigned(range->from) };
    (void)accounting;
    return read_relation(db, "\"id\", \"time_start\", \"time_end\", \"charge\"", settings->usage,
                         "WHERE \"cluster\" = ? AND \"time_start\" > 0"
                         " AND (\"time_end\" IS NULL OR \"time_end\" = 0 OR \"time_end\" >= ?)",
                         arguments, 2, "iiir", take_usage, &reader, err);
}

static int take_ends(void *context, const struct db_value *row, struct error *err)
{
    uint64_t *ends = context;
    (void)err;
    ends[0] = reading_number(&row[0]);
    ends[1] = reading_number(&row[1]);
    return 0;
}

static int read_ends(struct db *db, const struct settings *settings, const char *cluster,
                     uint64_t after, uint64_t until, uint64_t *oldest, uint64_t *newest,
                     struct error *err)
{
    uint64_t ends[2] = { 0 };
    struct db_value arguments[] = { db_text(cluster), db_unsigned(after), db_unsigned(until) };
    int result = read_relation(db, "MIN(\"time_end\"), MAX(\"time_end\")", settings->usage,
                               "WHERE \"cluster\" = ? AND \"time_end\" > ? AND \"time_end\" <= ?"
                               " AND \"time_start\" > 0 AND \"time_start\" <= \"time_end\"",
                               arguments, 3, "ii", take_ends, ends, err);
    *oldest = ends[0];
    *newest = ends[1];
    return result;
}

static void add_grants(struct text *text, const struct settings *settings, const char *cluster)
{
    const char *const relations[] = { settings->associations, settings->usage };
    for (size_t i = 0; !cluster && i < 2; i++) {
        size_t before = text->length;
        add_grant(text, &settings->source, relations[i]);
        if (text->length > before)
            text_add(text, ";\n");
    }
}

/* Rows without keys: every run reads all of them. */
const struct layout layout_plain = {
    .name = "plain",
    .clusters = read_clusters,
    .read = read_small,
    .read_jobs = read_usage,
    .read_ends = read_ends,
    .add_grants = add_grants,
};

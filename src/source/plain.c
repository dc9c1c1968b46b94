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

/* Names are bytes, but to a database two of them may be equal: by its collation `Alpha` is `alpha`,
 * and so is `alpha ` with a blank; or what it compares them with it converts.  So it groups
 * nothing for us, and what it finds equal is looked at again. */

struct cluster_reader {
    struct names *seen;
    struct cluster_list list; /* by their numbers */
};

/* A cluster is there while one of its associations lives. */
static int take_cluster(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_reader *reader = context;
    if (row[0].type != DB_TEXT || !row[0].text.length)
        return 0;
    uint32_t number = names_add(reader->seen, row[0].text.bytes, row[0].text.length);
    if (number == reader->list.count)
        return reading_cluster(&reader->list, row, err);
    reader->list.clusters[number].deleted &= reading_number(&row[1]) != 0;
    return 0;
}

static int read_clusters(struct db *db, const struct settings *settings, struct cluster **clusters,
                         size_t *count, struct error *err)
{
    struct cluster_reader reader = { .seen = names_create() };
    int result = read_relation(db, "\"cluster\", \"deleted\"", settings->associations, "", NULL, 0,
                               "ti", take_cluster, &reader, err);
    names_destroy(reader.seen);
    if (result) {
        clusters_free(reader.list.clusters, reader.list.count);
        return -1;
    }
    reading_sort_clusters(&reader.list);
    *clusters = reader.list.clusters;
    *count = reader.list.count;
    return 0;
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return *text == '\0';
}

/* Read those rows of a relation whose last column is this cluster, and perhaps others.  A database
 * can find a name in ASCII whatever its bytes are to it; any other we find ourselves. */
static int read_of_cluster(struct db *db, const char *select, const char *relation,
                           const char *cluster, const char *where, const struct db_value *argument,
                           const char *types,
                           int (*take)(void *, const struct db_value *, struct error *),
                           void *context, struct error *err)
{
    struct db_value arguments[2];
    size_t count = 0;
    if (argument)
        arguments[count++] = *argument;
    if (is_ascii(cluster))
        arguments[count++] = db_text(cluster);
    struct text condition = { 0 };
    text_format(&condition, "WHERE %s%s", where, is_ascii(cluster) ? " AND \"cluster\" = ?" : "");
    int result = read_relation(db, select, relation, condition.bytes, arguments, count, types, take,
                               context, err);
    text_free(&condition);
    return result;
}

/* Whether a row's cluster is this one. */
static bool is_of(const struct db_value *stored, const char *cluster)
{
    return stored->type == DB_TEXT && reads_as(stored->text.bytes, stored->text.length, cluster);
}

struct association_reader {
    struct accounting *accounting;
    const char *cluster;
};

enum { READ_CLUSTER = READ_OWN };

static int take_association(void *context, const struct db_value *row, struct error *err)
{
    const struct association_reader *reader = context;
    struct association *association;
    if (!is_of(&row[READ_CLUSTER], reader->cluster))
        return 0;
    return reading_association(reader->accounting, row, &association, err);
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
    struct association_reader reader = { accounting, cluster };
    (void)ordered;
    if (read_of_cluster(db,
                        "\"id\", \"parent_id\", \"account\", \"user_name\", \"partition_name\","
                        " \"shares\", \"deleted\", \"cluster\"",
                        settings->associations, cluster, "1 = 1", NULL, "iitttiit",
                        take_association, &reader, err)) {
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
    const char *cluster;
};

enum { USAGE_ID, USAGE_START, USAGE_END, USAGE_CHARGE, USAGE_CLUSTER };

static int take_usage(void *context, const struct db_value *row, struct error *err)
{
    const struct usage_reader *reader = context;
    if (!is_of(&row[USAGE_CLUSTER], reader->cluster))
        return 0;
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
    struct usage_reader reader = { take, context, cluster };
    struct db_value after = db_unsigned(range->from);
    (void)accounting;
    return read_of_cluster(
        db, "\"id\", \"time_start\", \"time_end\", \"charge\", \"cluster\"", settings->usage,
        cluster,
        "\"time_start\" > 0 AND (\"time_end\" IS NULL OR \"time_end\" = 0 OR \"time_end\" >= ?)",
        &after, "iiirt", take_usage, &reader, err);
}

struct end_reader {
    const char *cluster;
    uint64_t after, until;
    uint64_t oldest, newest;
};

static int take_end(void *context, const struct db_value *row, struct error *err)
{
    struct end_reader *reader = context;
    uint64_t end = reading_number(&row[0]);
    (void)err;
    if (end <= reader->after || end > reader->until || !is_of(&row[1], reader->cluster))
        return 0;
    if (!reader->oldest || end < reader->oldest)
        reader->oldest = end;
    if (end > reader->newest)
        reader->newest = end;
    return 0;
}

static int read_ends(struct db *db, const struct settings *settings, const char *cluster,
                     uint64_t after, uint64_t until, uint64_t *oldest, uint64_t *newest,
                     struct error *err)
{
    struct end_reader reader = { cluster, after, until, 0, 0 };
    int result = read_of_cluster(db, "\"time_end\", \"cluster\"", settings->usage, cluster,
                                 "\"time_start\" > 0 AND \"time_end\" >= \"time_start\"", NULL,
                                 "it", take_end, &reader, err);
    *oldest = reader.oldest;
    *newest = reader.newest;
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

/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/reading.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * The layout `plain`, for sites without slurmdbd.  It reads two tables or views, which the settings
 * name:
 *
 *     associations(cluster, id, parent_id, account, user_name, partition_name, shares, deleted)
 *     usage(cluster, id, time_start, time_end, charge)
 *
 * parent_id is NULL or 0 for the root. user_name is NULL or '' for an account.  `shares` are as in
 * sacctmgr (2147483647 is `parent`). time_end is NULL or 0 while the usage continues.  `charge` is
 * in TRES per second.
 */

/* Adds the name of a relation, which may have a schema before a dot. */
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

/*
 * Adds the GRANT that reading the relation needs.  Adds nothing for a relation in another schema,
 * to which only its owner can grant access.
 */
static void plain_add_grant(struct text *text, const struct db_settings *settings,
                            const char *relation)
{
    if (!strchr(relation, '.'))
        db_add_grant(text, settings, "SELECT", NULL, relation);
}

struct relation_query {
    const char *select, *relation, *types;
    const char *where;               /* NULL selects all rows */
    const struct db_value *argument; /* argument of `where`; or NULL */
};

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return *text == '\0';
}

/*
 * Returns a query for the rows of the source's cluster, or of all clusters if its cluster is NULL.
 * The last column is the cluster's name.  The query has at most two arguments.
 *
 * A database can compare an ASCII name in any encoding.  For other names, the query returns rows of
 * all clusters, and plain_is_of() filters them.
 */
static struct query query_of(const struct source *source, const struct relation_query *asked,
                             struct text *sql, struct db_value *arguments)
{
    struct query query = { .arguments = arguments, .types = asked->types };
    bool by_cluster = source->cluster && is_ascii(source->cluster);
    text_format(sql, "SELECT %s FROM ", asked->select);
    add_relation(sql, asked->relation);
    text_add(sql, " ");
    if (asked->where)
        text_format(sql, "WHERE %s%s", asked->where, by_cluster ? " AND \"cluster\" = ?" : "");
    if (asked->argument)
        arguments[query.argument_count++] = *asked->argument;
    if (by_cluster)
        arguments[query.argument_count++] = db_text(source->cluster);
    query.sql = sql->bytes;
    return query;
}

static int explain_relation(const struct source *source, const char *relation, struct error *err)
{
    fail_in(err, "cannot read '%s'", relation);
    struct text grant = { 0 };
    if (err->class == ERROR_DENIED || err->class == ERROR_MISSING)
        plain_add_grant(&grant, source->db->settings, relation);
    if (grant.length) {
        struct error reason = *err;
        fail(err, reason.class, "%.1500s; if it exists, run: %s", reason.message, grant.bytes);
    }
    text_free(&grant);
    return -1;
}

static int read_relation(const struct source *source, const struct relation_query *asked,
                         row_taker take, void *context, struct error *err)
{
    struct text sql = { 0 };
    struct db_value arguments[2];
    const struct query query = query_of(source, asked, &sql, arguments);
    int result = reading_each(source->db, &query, take, context, err);
    text_free(&sql);
    return result ? explain_relation(source, asked->relation, err) : 0;
}

/*
 * Cluster names are bytes, but a database may treat two different names as equal.  In some
 * collations `Alpha` equals `alpha`, and so does `alpha ` with a trailing space.  A database may
 * also convert names before it compares them.  So no query groups by cluster, and fairmill compares
 * again the names that a database finds equal.
 */

struct plain_cluster_reader {
    struct names *seen;
    struct cluster_list list; /* indexed by the number of the name in `seen` */
};

/* Adds a cluster.  A cluster exists if at least one of its associations is not deleted. */
static int plain_take_cluster(void *context, const struct db_value *row, struct error *err)
{
    struct plain_cluster_reader *reader = context;
    if (row[0].type != DB_TEXT || !row[0].text.length)
        return 0;
    uint32_t number = names_add(reader->seen, row[0].text.bytes, row[0].text.length);
    if (number == reader->list.count)
        return reading_cluster(&reader->list, row, err);
    reader->list.clusters[number].deleted &= reading_number(&row[1]) != 0;
    return 0;
}

static int plain_read_clusters(const struct source *source, struct cluster_list *list,
                               struct error *err)
{
    const struct relation_query query = { .select = "\"cluster\", \"deleted\"",
                                          .relation = source->settings->associations,
                                          .types = "ti" };
    struct plain_cluster_reader reader = { .seen = names_create() };
    int result = read_relation(source, &query, plain_take_cluster, &reader, err);
    names_destroy(reader.seen);
    if (result) {
        cluster_list_free(&reader.list);
        return -1;
    }
    reading_sort_clusters(&reader.list);
    *list = reader.list;
    return 0;
}

/* Returns true if a row is of this cluster. */
static bool plain_is_of(const struct db_value *stored, const char *cluster)
{
    return stored->type == DB_TEXT && reads_as(stored->text.bytes, stored->text.length, cluster);
}

struct plain_association_reader {
    struct accounting *accounting;
    const char *cluster;
};

enum { READ_CLUSTER = READ_OWN };

static int plain_take_association(void *context, const struct db_value *row, struct error *err)
{
    const struct plain_association_reader *reader = context;
    struct association *association;
    if (!plain_is_of(&row[READ_CLUSTER], reader->cluster))
        return 0;
    return reading_association(reader->accounting, row, &association, err);
}

static int plain_by_id(const void *a, const void *b)
{
    const struct association *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

/*
 * Sets the parent's name in each row, because the relation does not contain it and tree_build()
 * compares it with the parent's id.  Sets `order` so that ties are in ascending order of id.
 */
static void name_parents(struct accounting *accounting)
{
    struct association *rows = accounting->rows;
    if (accounting->count)
        qsort(rows, accounting->count, sizeof *rows, plain_by_id);
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

static int plain_read_small(const struct source *source, struct accounting **read,
                            struct error *err)
{
    const struct relation_query query = {
        .select = "\"id\", \"parent_id\", \"account\", \"user_name\", \"partition_name\","
                  " \"shares\", \"deleted\", \"cluster\"",
        .relation = source->settings->associations,
        .types = "iitttiit",
        .where = "1 = 1",
    };
    struct accounting *accounting = accounting_create(NULL);
    struct plain_association_reader reader = { accounting, source->cluster };
    if (read_relation(source, &query, plain_take_association, &reader, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    name_parents(accounting);
    *read = accounting;
    return 0;
}

struct usage_rows {
    struct job_reading base;
    struct db_value after, arguments[2];
    struct charge_rate rate; /* of the current row */
    bool asked;
};

enum { USAGE_ID, USAGE_START, USAGE_END, USAGE_CHARGE, USAGE_CLUSTER };

static bool plain_make_row(struct job_reading *reading, const struct db_value *values,
                           struct job_row *row)
{
    struct usage_rows *rows = (struct usage_rows *)reading;
    if (!plain_is_of(&values[USAGE_CLUSTER], reading->base.source.cluster))
        return false;
    double charge = values[USAGE_CHARGE].type == DB_REAL ? values[USAGE_CHARGE].real : 0;
    rows->rate =
        (struct charge_rate){ .rate = charge >= 0 && isfinite(charge) ? rate_of_factor(charge)
                                                                      : RATE_TOO_LARGE };
    *row = (struct job_row){
        .id_job = reading_number(&values[USAGE_ID]),
        .association = reading_number(&values[USAGE_ID]),
        .rate = &rows->rate,
        .job = {
            .time_start = reading_number(&values[USAGE_START]),
            .time_end = reading_number(&values[USAGE_END]),
            .tres_alloc = NULL, /* the rate is the whole charge */
        },
    };
    return true;
}

static int plain_ask(struct reading *reading, struct error *err)
{
    struct usage_rows *rows = (struct usage_rows *)reading;
    const struct relation_query asked = {
        .select = "\"id\", \"time_start\", \"time_end\", \"charge\", \"cluster\"",
        .relation = reading->source.settings->usage,
        .types = "iiirt",
        .where = "\"time_start\" > 0 AND"
                 " (\"time_end\" IS NULL OR \"time_end\" = 0 OR \"time_end\" >= ?)",
        .argument = &rows->after,
    };
    if (rows->asked)
        return 0;
    rows->asked = true;
    const struct query query = query_of(&reading->source, &asked, &reading->sql, rows->arguments);
    return reading_run(reading, &query, err);
}

static int plain_explain(const struct reading *reading, struct error *err)
{
    return explain_relation(&reading->source, reading->source.settings->usage, err);
}

static struct job_reading *plain_usage_of(const struct source *source,
                                          const struct accounting *accounting,
                                          const struct job_range *range)
{
    struct usage_rows *rows = memory_zeroed(1, sizeof *rows);
    (void)accounting;
    rows->base.base =
        (struct reading){ .source = *source, .ask = plain_ask, .explain = plain_explain };
    rows->base.make = plain_make_row;
    rows->after = db_unsigned(range->from);
    return &rows->base;
}

/* Returns a reading without rows: jobs in this layout are never suspended. */
static struct job_reading *plain_suspensions_of(const struct source *source,
                                                const struct accounting *accounting,
                                                const struct job_range *range)
{
    struct job_reading *none = plain_usage_of(source, accounting, range);
    ((struct usage_rows *)none)->asked = true;
    return none;
}

struct end_reader {
    const char *cluster;
    uint64_t after, until;
    uint64_t oldest, newest;
};

static int plain_take_end(void *context, const struct db_value *row, struct error *err)
{
    struct end_reader *reader = context;
    uint64_t end = reading_number(&row[0]);
    (void)err;
    if (end <= reader->after || end > reader->until || !plain_is_of(&row[1], reader->cluster))
        return 0;
    if (!reader->oldest || end < reader->oldest)
        reader->oldest = end;
    if (end > reader->newest)
        reader->newest = end;
    return 0;
}

static int plain_read_ends(const struct source *source, uint64_t after, uint64_t until,
                           uint64_t *oldest, uint64_t *newest, struct error *err)
{
    const struct relation_query query = {
        .select = "\"time_end\", \"cluster\"",
        .relation = source->settings->usage,
        .types = "it",
        .where = "\"time_start\" > 0 AND \"time_end\" >= \"time_start\"",
    };
    struct end_reader reader = { source->cluster, after, until, 0, 0 };
    int result = read_relation(source, &query, plain_take_end, &reader, err);
    *oldest = reader.oldest;
    *newest = reader.newest;
    return result;
}

static void plain_add_grants(struct text *text, const struct settings *settings,
                             const char *cluster)
{
    const char *const relations[] = { settings->associations, settings->usage };
    for (size_t i = 0; !cluster && i < 2; i++) {
        size_t before = text->length;
        plain_add_grant(text, &settings->source, relations[i]);
        if (text->length > before)
            text_add(text, ";\n");
    }
}

/* Rows in this layout lack keys, so every run reads all rows. */
const struct layout layout_plain = {
    .name = "plain",
    .clusters = plain_read_clusters,
    .read = plain_read_small,
    .jobs = plain_usage_of,
    .suspensions = plain_suspensions_of,
    .read_ends = plain_read_ends,
    .add_grants = plain_add_grants,
};

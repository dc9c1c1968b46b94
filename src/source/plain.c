/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/plain_relation.h"
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
    const struct plain_query query = { .select = "\"cluster\", \"deleted\"",
                                       .relation = source->settings->associations,
                                       .types = "ti" };
    struct plain_cluster_reader reader = { .seen = names_create() };
    int result = plain_read_relation(source, &query, plain_take_cluster, &reader, err);
    names_destroy(reader.seen);
    if (result) {
        cluster_list_free(&reader.list);
        return -1;
    }
    reading_sort_clusters(&reader.list);
    *list = reader.list;
    return 0;
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
    const struct plain_query query = {
        .select = "\"id\", \"parent_id\", \"account\", \"user_name\", \"partition_name\","
                  " \"shares\", \"deleted\", \"cluster\"",
        .relation = source->settings->associations,
        .types = "iitttiit",
        .where = "1 = 1",
    };
    struct accounting *accounting = accounting_create(NULL);
    struct plain_association_reader reader = { accounting, source->cluster };
    if (plain_read_relation(source, &query, plain_take_association, &reader, err)) {
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
    const struct plain_query asked = {
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
    const struct query query =
        plain_query_of(&reading->source, &asked, &reading->sql, rows->arguments);
    return reading_run(reading, &query, err);
}

static int plain_explain(const struct reading *reading, struct error *err)
{
    return plain_explain_relation(&reading->source, reading->source.settings->usage, err);
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
    const struct plain_query query = {
        .select = "\"time_end\", \"cluster\"",
        .relation = source->settings->usage,
        .types = "it",
        .where = "\"time_start\" > 0 AND \"time_end\" >= \"time_start\"",
    };
    struct end_reader reader = { source->cluster, after, until, 0, 0 };
    int result = plain_read_relation(source, &query, plain_take_end, &reader, err);
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

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/settings.h"
#include "source/plain_relation.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * The layout `plain`, for sites without slurmdbd.  It reads two or three tables or views, which the
 * settings name:
 *
 *     associations(cluster, id, parent_id, account, user_name, partition_name, shares, deleted)
 *     usage(cluster, id, time_start, time_end, charge)
 *     usage_tres(cluster, id, time_start, time_end, tres, amount)
 *
 * parent_id is NULL or 0 for the root. user_name is NULL or '' for an account.  `shares` are as in
 * sacctmgr (2147483647 is `parent`). time_end is NULL or 0 while the usage continues.  `charge` is
 * in TRES per second.  `amount` is the integer amount of one TRES per second, which is not charged.
 */

#define MOST_TRES 64          /* in one cluster */
#define LONGEST_TRES_NAME 255 /* in characters; the size of the column in the results */

/* Amounts from here on are out of range.  Doubles below it are exact. */
#define TOO_LARGE_AMOUNT 9007199254740992.0

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

/* Returns the name of a relation with usage, or NULL after the last one. */
static const char *plain_usage_relation(const struct settings *settings, size_t number)
{
    if (!number)
        return settings->usage;
    bool keeps = *settings->usage_tres && strcasecmp(settings->tres, "none") != 0;
    return number == 1 && keeps ? settings->usage_tres : NULL;
}

struct plain_tres_reader {
    struct accounting *accounting;
    const char *cluster;
    struct names *seen; /* the names as in the database */
};

/* Returns the TRES with this name in UTF-8, or NULL. */
static struct tres_name *plain_tres_of(const struct accounting *accounting, const char *name)
{
    for (size_t i = 0; i < accounting->tres_count; i++)
        if (!strcasecmp(accounting->tres[i].name, name))
            return &accounting->tres[i];
    return NULL;
}

/*
 * Adds a TRES.  Of names that differ only in case, keeps the one that sorts first, so that the name
 * does not depend on the order of rows.
 */
static int plain_add_tres(struct accounting *accounting, const struct text *name, struct error *err)
{
    if (strlen(name->bytes) < name->length || utf8_length(name->bytes) > LONGEST_TRES_NAME)
        return fail(err, ERROR_DATA,
                    "the name of a TRES contains a NUL byte or has more than %d characters",
                    LONGEST_TRES_NAME);
    struct tres_name *tres = plain_tres_of(accounting, name->bytes);
    if (!tres && accounting->tres_count == MOST_TRES)
        return fail(err, ERROR_DATA, "more than %d different TRES", MOST_TRES);
    if (tres && strcmp(name->bytes, tres->name) > 0)
        return 0;
    if (tres)
        free(tres->name);
    else
        tres = memory_append(&accounting->tres, &accounting->tres_count);
    *tres = (struct tres_name){ .name = memory_text(name->bytes), .automatic = true };
    return 0;
}

static int plain_take_tres(void *context, const struct db_value *row, struct error *err)
{
    const struct plain_tres_reader *reader = context;
    uint32_t count = names_count(reader->seen);
    if (row[0].type != DB_TEXT || !row[0].text.length || !plain_is_of(&row[1], reader->cluster) ||
        names_add(reader->seen, row[0].text.bytes, row[0].text.length) != count)
        return 0;
    struct text name = { 0 };
    text_add_as_utf8(&name, row[0].text.bytes, row[0].text.length);
    int result = plain_add_tres(reader->accounting, &name, err);
    text_free(&name);
    return result;
}

static int plain_by_tres(const void *a, const void *b)
{
    const struct tres_name *one = a, *other = b;
    return strcmp(one->name, other->name);
}

/* Reads the names of all TRES, sorts them bytewise and numbers them from 1. */
static int plain_read_tres(const struct source *source, struct accounting *accounting,
                           struct error *err)
{
    const struct plain_query query = {
        .select = "\"tres\", \"cluster\"",
        .relation = plain_usage_relation(source->settings, 1),
        .types = "tt",
        .where = "\"time_start\" > 0",
    };
    if (!query.relation)
        return 0;
    struct plain_tres_reader reader = { accounting, source->cluster, names_create() };
    int result = plain_read_relation(source, &query, plain_take_tres, &reader, err);
    names_destroy(reader.seen);
    if (accounting->tres_count)
        qsort(accounting->tres, accounting->tres_count, sizeof *accounting->tres, plain_by_tres);
    for (size_t i = 0; i < accounting->tres_count; i++)
        accounting->tres[i].id = i + 1;
    return result;
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
    if (plain_read_relation(source, &query, plain_take_association, &reader, err) ||
        plain_read_tres(source, accounting, err)) {
        accounting_destroy(accounting);
        return -1;
    }
    name_parents(accounting);
    *read = accounting;
    return 0;
}

struct usage_rows {
    struct job_reading base;
    const struct accounting *accounting;
    struct db_value after, arguments[2];
    struct charge_rate rate; /* of the current row */
    struct text name, tres;  /* of the current row of usage_tres */
    size_t asked;            /* number of relations that were read */
};

/* USAGE_CHARGE is `amount` in usage_tres, and only usage_tres has USAGE_TRES. */
enum { USAGE_ID, USAGE_START, USAGE_END, USAGE_CHARGE, USAGE_CLUSTER, USAGE_TRES };

/* Sets the rate and the TRES of a row of usage_tres.  Returns false if no TRES is named. */
static bool plain_read_amount(struct usage_rows *rows, const struct db_value *values)
{
    const struct db_value *name = &values[USAGE_TRES];
    double amount = values[USAGE_CHARGE].type == DB_REAL ? values[USAGE_CHARGE].real : 0;
    if (name->type != DB_TEXT || !name->text.length)
        return false;
    rows->name.length = rows->tres.length = 0;
    text_add_as_utf8(&rows->name, name->text.bytes, name->text.length);
    const struct tres_name *tres = plain_tres_of(rows->accounting, rows->name.bytes);
    if (!tres)
        return false;
    bool valid = amount >= 0 && amount < TOO_LARGE_AMOUNT && amount == floor(amount);
    rows->rate = (struct charge_rate){ .rate = valid ? 0 : RATE_TOO_LARGE };
    text_format(&rows->tres, "%" PRIu64 "=%.17g", tres->id, amount);
    return true;
}

static bool plain_make_row(struct job_reading *reading, const struct db_value *values,
                           struct job_row *row)
{
    struct usage_rows *rows = (struct usage_rows *)reading;
    bool of_tres = rows->asked > 1;
    if (!plain_is_of(&values[USAGE_CLUSTER], reading->base.source.cluster) ||
        (of_tres && !plain_read_amount(rows, values)))
        return false;
    if (!of_tres) {
        double charge = values[USAGE_CHARGE].type == DB_REAL ? values[USAGE_CHARGE].real : 0;
        rows->rate =
            (struct charge_rate){ .rate = charge >= 0 && isfinite(charge) ? rate_of_factor(charge)
                                                                          : RATE_TOO_LARGE };
    }
    *row = (struct job_row){
        .id_job = reading_number(&values[USAGE_ID]),
        .association = reading_number(&values[USAGE_ID]),
        .rate = &rows->rate,
        .job = {
            .time_start = reading_number(&values[USAGE_START]),
            .time_end = reading_number(&values[USAGE_END]),
            .tres_alloc = NULL, /* the rate is the whole charge */
        },
        .tres = of_tres ? rows->tres.bytes : "",
        .tres_length = of_tres ? rows->tres.length : 0,
    };
    return true;
}

static int plain_ask(struct reading *reading, struct error *err)
{
    struct usage_rows *rows = (struct usage_rows *)reading;
    bool of_tres = rows->asked == 1;
    const struct plain_query asked = {
        .select = of_tres
                      ? "\"id\", \"time_start\", \"time_end\", \"amount\", \"cluster\", \"tres\""
                      : "\"id\", \"time_start\", \"time_end\", \"charge\", \"cluster\"",
        .relation = plain_usage_relation(reading->source.settings, rows->asked),
        .types = of_tres ? "iiirtt" : "iiirt",
        .where = "\"time_start\" > 0 AND"
                 " (\"time_end\" IS NULL OR \"time_end\" = 0 OR \"time_end\" >= ?)",
        .argument = &rows->after,
    };
    if (!asked.relation)
        return 0;
    rows->asked++;
    const struct query query =
        plain_query_of(&reading->source, &asked, &reading->sql, rows->arguments);
    return reading_run(reading, &query, err);
}

static int plain_explain(const struct reading *reading, struct error *err)
{
    const struct usage_rows *rows = (const struct usage_rows *)reading;
    return plain_explain_relation(
        &reading->source, plain_usage_relation(reading->source.settings, rows->asked - 1), err);
}

static void plain_end_rows(struct reading *reading)
{
    struct usage_rows *rows = (struct usage_rows *)reading;
    text_free(&rows->name);
    text_free(&rows->tres);
}

static struct job_reading *plain_usage_of(const struct source *source,
                                          const struct accounting *accounting,
                                          const struct job_range *range)
{
    struct usage_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.base = (struct reading){
        .source = *source, .ask = plain_ask, .explain = plain_explain, .end = plain_end_rows
    };
    rows->base.make = plain_make_row;
    rows->accounting = accounting;
    rows->after = db_unsigned(range->from);
    return &rows->base;
}

/* Returns a reading without rows: jobs in this layout are never suspended. */
static struct job_reading *plain_suspensions_of(const struct source *source,
                                                const struct accounting *accounting,
                                                const struct job_range *range)
{
    struct job_reading *none = plain_usage_of(source, accounting, range);
    ((struct usage_rows *)none)->asked = 2;
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
    struct end_reader reader = { source->cluster, after, until, 0, 0 };
    const char *relation;
    int result = 0;
    for (size_t i = 0; !result && (relation = plain_usage_relation(source->settings, i)); i++) {
        const struct plain_query query = {
            .select = "\"time_end\", \"cluster\"",
            .relation = relation,
            .types = "it",
            .where = "\"time_start\" > 0 AND \"time_end\" >= \"time_start\"",
        };
        result = plain_read_relation(source, &query, plain_take_end, &reader, err);
    }
    *oldest = reader.oldest;
    *newest = reader.newest;
    return result;
}

static void plain_add_grants(struct text *text, const struct settings *settings,
                             const char *cluster)
{
    const char *const relations[] = { settings->associations, settings->usage,
                                      settings->usage_tres };
    for (size_t i = 0; !cluster && i < 3; i++) {
        size_t before = text->length;
        if (*relations[i])
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

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/rows.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "results/publish.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* An infinite level_fs: no two databases hold infinity alike; this compares, sorts and sums. */
#define INFINITE_LEVEL_FS 1e100

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct db_column fairshare_columns[] = {
    { "cluster", 't' },
    { "id_assoc", 'i' },
    { "parent_id", 'i' },
    { "depth", 'i' },
    { "account", 't' },
    { "user_name", 't' },
    { "partition_name", 't' },
    { "shares", 'i' },
    { "shares_norm", 'r' },
    { "level_shares_norm", 'r' },
    { "usage_raw", 'r' },
    { "usage_norm", 'r' },
    { "capacity_usage", 'r' },
    { "level_usage", 'r' },
    { "classic_usage", 'r' },
    { "classic_factor", 'r' },
    { "linear_usage", 'r' },
    { "linear_factor", 'r' },
    { "depth_oblivious_ratio", 'r' },
    { "depth_oblivious_factor", 'r' },
    { "level_fs", 'r' },
    { "level_fs_infinite", 'i' },
    { "fair_tree_rank", 'i' },
    { "fair_tree_factor", 'r' },
    { "pbs_target", 'r' },
    { "pbs_tree_usage", 'r' },
    { "pbs_factor", 'r' },
    { "fairshare", 'r' },
    { "run_id", 'i' },
    { "computed_at", 'i' },
};

static struct db_value real_or_null(double number)
{
    if (isnan(number))
        return db_null();
    return db_real(isinf(number) ? INFINITE_LEVEL_FS : number);
}

static struct db_value integer_or_null(int64_t number)
{
    return number < 0 ? db_null() : db_integer(number);
}

struct db_value rows_name(const char *name, struct text *converted)
{
    size_t length = strlen(name);
    if (utf8_valid(name, length))
        return db_bytes(name, length);
    converted->length = 0;
    text_add_as_utf8(converted, name, length);
    return db_bytes(converted->bytes, converted->length);
}

/* A text that may quote bytes of the source, as UTF-8 in `converted`. */
static struct db_value text_as_utf8(const char *bytes, struct text *converted)
{
    converted->length = 0;
    text_add_bytes(converted, "", 0);
    text_add_as_utf8(converted, bytes, strlen(bytes));
    return db_bytes(converted->bytes, converted->length);
}

int rows_read_integer(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t count, int64_t *integer, bool *found, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, arguments, count, "i", err);
    if (!rows)
        return -1;
    int got = db_fetch(rows, &row, err);
    *found = got > 0 && row[0].type == DB_INTEGER;
    if (*found)
        *integer = row[0].integer;
    db_finish(rows);
    return got < 0 ? -1 : 0;
}

struct row_writer {
    const struct publisher *publisher;
    const struct publication *publication;
    int64_t as_of;
    struct text converted[3];
};

static void fill_row(struct row_writer *writer, uint32_t i, struct db_value *row)
{
    const struct tree *tree = writer->publication->tree;
    const struct names *names = writer->publication->names;
    const struct node *node = &tree->nodes[i];
    const struct values *values = &writer->publication->values[i];
    const struct algorithm *algorithm = writer->publisher->settings->algorithm;
    bool root = i == 0;
    struct db_value filled[] = {
        db_text(writer->publisher->cluster),
        db_integer(node->id),
        root ? db_null() : db_integer(tree->nodes[node->parent].id),
        db_integer(node->depth),
        rows_name(names_text(names, node->account), &writer->converted[0]),
        rows_name(names_text(names, node->user), &writer->converted[1]),
        rows_name(names_text(names, node->partition), &writer->converted[2]),
        node_has_parent_shares(node) ? db_null() : db_integer(node->shares),
        real_or_null(values->shares_norm),
        real_or_null(values->level_shares_norm),
        real_or_null(values->usage_raw),
        real_or_null(values->usage_norm),
        real_or_null(values->capacity_usage),
        real_or_null(values->level_usage),
        real_or_null(values->classic_usage),
        real_or_null(values->classic_factor),
        real_or_null(values->linear_usage),
        real_or_null(values->linear_factor),
        real_or_null(values->depth_oblivious_ratio),
        real_or_null(values->depth_oblivious_factor),
        real_or_null(values->level_fs),
        root ? db_null() : db_integer(isinf(values->level_fs) ? 1 : 0),
        values->fair_tree_rank ? db_integer(values->fair_tree_rank) : db_null(),
        real_or_null(values->fair_tree_factor),
        real_or_null(values->shares_norm),
        real_or_null(values->pbs_tree_usage),
        real_or_null(values->pbs_factor),
        real_or_null(algorithm->factor(values)),
        db_integer(writer->publisher->run_id),
        db_integer(writer->as_of),
    };
    _Static_assert(COUNT(filled) == COUNT(fairshare_columns), "a value for each column");
    memcpy(row, filled, sizeof filled);
}

int rows_write_fairshare(const struct publisher *publisher, const struct publication *publication,
                         int64_t as_of, struct error *err)
{
    struct row_writer writer = { publisher, publication, as_of, { { 0 } } };
    struct db_value cluster = db_text(publisher->cluster);
    /* Nearly every value changes with every run, so that writing over the old rows would be the
     * slower road by a third.  In the order of the key a database need not search for where a row
     * belongs, nor split what it has just filled. */
    if (db_execute(publisher->db, sql_query_fairshare_clear, &cluster, 1, NULL, err))
        return -1;
    struct db_bulk *bulk = db_bulk_begin(publisher->db, "fairmill_fairshare", fairshare_columns,
                                         COUNT(fairshare_columns), 0, err);
    for (uint32_t i = 0; i < publication->tree->count; i++) {
        struct db_value row[COUNT(fairshare_columns)];
        fill_row(&writer, publication->tree->by_id[i], row);
        db_bulk_row(bulk, row, err);
    }
    for (size_t i = 0; i < COUNT(writer.converted); i++)
        text_free(&writer.converted[i]);
    return db_bulk_end(bulk, err);
}

static const struct db_column finding_columns[] = {
    { "cluster", 't' },   { "kind", 't' },  { "subject", 't' }, { "first_seen", 'i' },
    { "last_seen", 'i' }, { "count", 'i' }, { "detail", 't' },
};

/* A row of fairmill_finding. */
struct finding_row {
    char *kind, *subject, *detail;
    int64_t first_seen, last_seen, count;
};

struct finding_rows {
    struct finding_row *rows;
    size_t count;
};

static int read_findings(const struct publisher *publisher, struct finding_rows *found,
                         struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(publisher->cluster);
    struct db_rows *rows =
        db_query(publisher->db, sql_query_finding_read, &cluster, 1, "ttiiit", err);
    while (db_fetch(rows, &row, err) > 0) {
        found->rows = memory_resized(found->rows, found->count + 1, sizeof *found->rows);
        found->rows[found->count++] = (struct finding_row){
            .kind = db_value_text(&row[0]),
            .subject = db_value_text(&row[1]),
            .first_seen = row[2].integer,
            .last_seen = row[3].integer,
            .count = row[4].integer,
            .detail = db_value_text(&row[5]),
        };
    }
    return db_finish(rows);
}

static struct finding_row *finding_row(struct finding_rows *found, const char *kind,
                                       const char *subject)
{
    for (size_t i = 0; i < found->count; i++)
        if (!strcmp(found->rows[i].kind, kind) && !strcmp(found->rows[i].subject, subject))
            return &found->rows[i];
    found->rows = memory_resized(found->rows, found->count + 1, sizeof *found->rows);
    struct finding_row *fresh = &found->rows[found->count++];
    *fresh = (struct finding_row){ .kind = memory_text(kind), .subject = memory_text(subject) };
    return fresh;
}

static void merge_findings(struct finding_rows *found, const struct findings *findings,
                           int64_t as_of)
{
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding *seen = &findings->kind[kind].kept[i];
            bool of_cluster = !seen->subject && kind != FINDING_JOB_WITHOUT_ASSOCIATION;
            char subject[24];
            snprintf(subject, sizeof subject, "%llu", (unsigned long long)seen->subject);
            struct finding_row *row =
                finding_row(found, finding_name(kind), of_cluster ? "" : subject);
            if (!row->count || as_of < row->first_seen)
                row->first_seen = as_of;
            row->last_seen = as_of;
            row->count++;
            free(row->detail);
            row->detail = memory_text(seen->detail);
        }
}

/* By kind, the most recent first. */
static int by_kind_and_age(const void *a, const void *b)
{
    const struct finding_row *one = a, *other = b;
    int order = strcmp(one->kind, other->kind);
    if (order)
        return order;
    if (one->last_seen != other->last_seen)
        return one->last_seen > other->last_seen ? -1 : 1;
    return strcmp(one->subject, other->subject);
}

static int write_findings(const struct publisher *publisher, struct finding_rows *found,
                          struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_execute(publisher->db, sql_query_finding_clear, &cluster, 1, NULL, err))
        return -1;
    struct db_bulk *bulk = db_bulk_begin(publisher->db, "fairmill_finding", finding_columns,
                                         COUNT(finding_columns), 3, err);
    size_t of_kind = 0;
    struct text detail = { 0 };
    for (size_t i = 0; i < found->count; i++) {
        const struct finding_row *each = &found->rows[i];
        of_kind = i && !strcmp(each->kind, each[-1].kind) ? of_kind + 1 : 0;
        if (of_kind >= FINDINGS_PER_KIND)
            continue;
        struct db_value row[] = { cluster,
                                  db_text(each->kind),
                                  db_text(each->subject),
                                  db_integer(each->first_seen),
                                  db_integer(each->last_seen),
                                  db_integer(each->count),
                                  text_as_utf8(each->detail, &detail) };
        db_bulk_row(bulk, row, err);
    }
    text_free(&detail);
    return db_bulk_end(bulk, err);
}

int rows_write_findings(const struct publisher *publisher, const struct findings *findings,
                        int64_t as_of, struct error *err)
{
    struct finding_rows found = { 0 };
    int result = read_findings(publisher, &found, err);
    if (!result) {
        merge_findings(&found, findings, as_of);
        if (found.count) {
            qsort(found.rows, found.count, sizeof *found.rows, by_kind_and_age);
            result = write_findings(publisher, &found, err);
        }
    }
    for (size_t i = 0; i < found.count; i++) {
        free(found.rows[i].kind);
        free(found.rows[i].subject);
        free(found.rows[i].detail);
    }
    free(found.rows);
    return result;
}

static const struct db_column run_columns[] = {
    { "cluster", 't' },
    { "run_id", 'i' },
    { "as_of", 'i' },
    { "started_at", 'i' },
    { "duration_ms", 'i' },
    { "kind", 't' },
    { "why", 't' },
    { "status", 't' },
    { "algorithm", 't' },
    { "conformance", 't' },
    { "half_life", 'i' },
    { "time_zone", 't' },
    { "associations", 'i' },
    { "users", 'i' },
    { "jobs_read", 'i' },
    { "unattributed_usage", 'r' },
    { "truncation_bound", 'r' },
    { "source_newest", 'i' },
    { "source_lag", 'i' },
    { "drift_max", 'r' },
    { "drifted_associations", 'i' },
    { "settings_digest", 't' },
    { "version", 't' },
    { "host", 't' },
    { "os_user", 't' },
    { "message", 't' },
};

static int write_one(struct db *db, const char *table, const struct db_column *columns,
                     size_t count, size_t keys, const struct db_value *row, struct error *err)
{
    struct db_bulk *bulk = db_bulk_begin(db, table, columns, count, keys, err);
    db_bulk_row(bulk, row, err);
    return db_bulk_end(bulk, err);
}

static const char *os_user(void)
{
    const struct passwd *entry = getpwuid(geteuid());
    return entry ? entry->pw_name : "";
}

int rows_write_run(const struct publisher *publisher, const struct run_record *record,
                   const char *status, struct error *err)
{
    const struct settings *settings = publisher->settings;
    struct text converted = { 0 };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct db_value row[] = {
        db_text(publisher->cluster),
        db_integer(publisher->run_id),
        db_integer(record->as_of),
        db_integer(record->started_at),
        db_integer(record->duration_ms),
        db_text(record->kind),
        db_text(record->why),
        db_text(status),
        db_text(settings->algorithm->name),
        db_text(conformance_name(settings->conformance)),
        db_integer((int64_t)settings->half_life_s),
        db_text(settings->time_zone),
        integer_or_null(record->associations),
        integer_or_null(record->users),
        integer_or_null(record->jobs_read),
        real_or_null(record->unattributed_usage),
        real_or_null(record->truncation_bound),
        integer_or_null(record->source_newest),
        record->source_newest < 0 ? db_null() : db_integer(record->source_lag),
        real_or_null(record->drift_max),
        integer_or_null(record->drifted),
        db_text(settings->digest),
        db_text(PACKAGE_VERSION),
        db_text(host),
        db_text(os_user()),
        text_as_utf8(record->message, &converted),
    };
    _Static_assert(COUNT(row) == COUNT(run_columns), "a value for each column");
    /* A failure never takes the place of a row that is there: the run may have been published and
     * only its COMMIT's answer lost. */
    size_t keys = strcmp(status, "failed") ? 2 : 0;
    int result =
        write_one(publisher->db, "fairmill_run", run_columns, COUNT(run_columns), keys, row, err);
    text_free(&converted);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "results/seal_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "results/publication.h"
#include "results/rows.h"
#include "sql.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The columns of sql_query_seal_read. */
enum {
    SEAL_AS_OF,
    SEAL_FULL_AS_OF,
    SEAL_CUTOFF,
    SEAL_SEALED_TO,
    SEAL_START,
    SEAL_JOBS_FROM,
    SEAL_OLDEST_END,
    SEAL_FIRST_CHARGE,
    SEAL_NEWEST_END,
    SEAL_SUMS_HASH,
    SEAL_OPEN_HASH,
    SEAL_SOURCE,
    SEAL_BASIS,
    SEAL_HASH
};

static const struct db_column seal_columns[] = {
    { "cluster", 't' },      { "as_of", 'i' },       { "full_as_of", 'i' }, { "cutoff", 'i' },
    { "sealed_to", 'i' },    { "counts_from", 'i' }, { "jobs_from", 'i' },  { "oldest_end", 'i' },
    { "first_charge", 'i' }, { "newest_end", 'i' },  { "sums_hash", 'i' },  { "open_hash", 'i' },
    { "source", 't' },       { "basis", 't' },       { "hash", 'i' },
};
static const struct row_table seal_table = { "fairmill_seal", seal_columns, COUNT(seal_columns) };

static int read_header(struct db *db, const struct db_value *cluster, struct kept_seal *kept,
                       struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_seal_read, cluster, 1, "iiiiiiiiiiitti", err);
    if (db_fetch(rows, &row, err) > 0) {
        kept->seal = (struct seal){
            .kept = true,
            .as_of = rows_bits_of(&row[SEAL_AS_OF]),
            .full_as_of = rows_bits_of(&row[SEAL_FULL_AS_OF]),
            .cutoff = rows_bits_of(&row[SEAL_CUTOFF]),
            .sealed_to = rows_bits_of(&row[SEAL_SEALED_TO]),
            .start = rows_bits_of(&row[SEAL_START]),
            .jobs_from = rows_bits_of(&row[SEAL_JOBS_FROM]),
            .oldest_end = rows_bits_of(&row[SEAL_OLDEST_END]),
            .first_charge = rows_bits_of(&row[SEAL_FIRST_CHARGE]),
            .newest_end = rows_bits_of(&row[SEAL_NEWEST_END]),
            .sums_hash = rows_bits_of(&row[SEAL_SUMS_HASH]),
            .open_hash = rows_bits_of(&row[SEAL_OPEN_HASH]),
            .source = db_value_text(&row[SEAL_SOURCE]),
            .basis = db_value_text(&row[SEAL_BASIS]),
        };
        kept->damaged = rows_bits_of(&row[SEAL_HASH]) != seal_hash(&kept->seal);
    }
    return db_finish(rows);
}

static int read_open(struct db *db, const struct db_value *cluster, struct job_keys *open,
                     struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_seal_open_read, cluster, 1, "i", err);
    while (db_fetch(rows, &row, err) > 0)
        job_keys_add(open, rows_bits_of(&row[0]));
    job_keys_sort(open);
    return db_finish(rows);
}

static void add_finding(struct findings *findings, const struct db_value *row)
{
    char *kind = db_value_text(&row[0]), *detail = db_value_text(&row[3]);
    for (enum finding_kind each = 0; each < FINDING_KINDS; each++)
        if (!strcmp(finding_name(each), kind))
            findings_add_ended(findings, each, rows_bits_of(&row[1]), rows_bits_of(&row[2]), "%s",
                               detail);
    free(kind);
    free(detail);
}

static int read_findings(struct db *db, const struct db_value *cluster, struct findings *findings,
                         struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_seal_odd_read, cluster, 1, "tiit", err);
    while (db_fetch(rows, &row, err) > 0)
        add_finding(findings, row);
    return db_finish(rows);
}

void kept_seal_free(struct kept_seal *kept)
{
    seal_free(&kept->seal);
    job_keys_free(&kept->open);
    findings_destroy(kept->findings);
    *kept = (struct kept_seal){ 0 };
}

int seal_read(struct db *db, const char *cluster, struct kept_seal *kept, struct error *err)
{
    struct db_value name = db_text(cluster);
    kept->damaged = false;
    if (read_header(db, &name, kept, err) || read_open(db, &name, &kept->open, err) ||
        read_findings(db, &name, kept->findings, err))
        return -1;
    if (kept->seal.kept && kept->seal.open_hash != job_keys_hash(&kept->open))
        kept->damaged = true;
    return 0;
}

int seal_read_sums(struct db *db, const char *cluster,
                   int (*take)(void *context, uint64_t id, const struct wide *sum,
                               struct error *err),
                   void *context, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_seal_usage_read, &name, 1, "iiiii", err);
    if (!rows)
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        struct wide sum = { { rows_bits_of(&row[4]), rows_bits_of(&row[3]), rows_bits_of(&row[2]),
                              rows_bits_of(&row[1]) } };
        if (take(context, rows_bits_of(&row[0]), &sum, err)) {
            got = -1;
            break;
        }
    }
    db_finish(rows);
    return got;
}

static int write_header(struct db *db, const struct db_value *cluster, const struct seal *seal,
                        struct error *err)
{
    struct db_value row[] = {
        *cluster,
        rows_bits(seal->as_of),
        rows_bits(seal->full_as_of),
        rows_bits(seal->cutoff),
        rows_bits(seal->sealed_to),
        rows_bits(seal->start),
        rows_bits(seal->jobs_from),
        rows_bits(seal->oldest_end),
        rows_bits(seal->first_charge),
        rows_bits(seal->newest_end),
        rows_bits(seal->sums_hash),
        rows_bits(seal->open_hash),
        db_text(seal->source),
        db_text(seal->basis),
        rows_bits(seal_hash(seal)),
    };
    _Static_assert(COUNT(row) == COUNT(seal_columns), "a value for each column");
    return rows_write_one(db, &seal_table, 1, row, err);
}

static const struct db_column usage_columns[] = {
    { "cluster", 't' }, { "id_assoc", 'i' }, { "sum_3", 'i' },
    { "sum_2", 'i' },   { "sum_1", 'i' },    { "sum_0", 'i' },
};
static const struct row_table usage_table = { "fairmill_seal_usage", usage_columns,
                                              COUNT(usage_columns) };

static int write_sums(struct db *db, const struct db_value *cluster,
                      const struct seal_change *change, struct error *err)
{
    struct db_bulk *bulk = rows_begin(db, &usage_table, change->anew ? 0 : 2, err);
    const struct usage_sum **sums = usage_sums_by_id(change->sums);
    for (size_t i = 0; i < change->sums->count; i++) {
        const struct usage_sum *each = sums[i];
        struct db_value row[] = {
            *cluster,
            rows_bits(each->id),
            rows_bits(each->sum.word[3]),
            rows_bits(each->sum.word[2]),
            rows_bits(each->sum.word[1]),
            rows_bits(each->sum.word[0]),
        };
        db_bulk_row(bulk, row, err);
    }
    free(sums);
    return db_bulk_end(bulk, err);
}

static const struct db_column open_columns[] = { { "cluster", 't' }, { "job_key", 'i' } };
static const struct row_table open_table = { "fairmill_seal_open", open_columns,
                                             COUNT(open_columns) };

static int write_opened(struct db *db, const struct db_value *cluster, const struct job_keys *keys,
                        struct error *err)
{
    struct db_bulk *bulk = rows_begin(db, &open_table, 0, err);
    for (size_t i = 0; i < keys->count; i++) {
        struct db_value row[] = { *cluster, rows_bits(keys->keys[i]) };
        db_bulk_row(bulk, row, err);
    }
    return db_bulk_end(bulk, err);
}

static const struct db_column finding_columns[] = {
    { "cluster", 't' }, { "kind", 't' }, { "subject", 'i' }, { "time_end", 'i' }, { "detail", 't' },
};
static const struct row_table finding_table = { "fairmill_seal_odd", finding_columns,
                                                COUNT(finding_columns) };

static int write_findings(struct db *db, const struct db_value *cluster,
                          const struct findings *findings, struct error *err)
{
    struct text detail = { 0 };
    if (db_execute(db, sql_query_seal_odd_clear, cluster, 1, NULL, err))
        return -1;
    struct db_bulk *bulk = rows_begin(db, &finding_table, 0, err);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding *each = &findings->kind[kind].kept[i];
            struct db_value row[] = { *cluster, db_text(finding_name(kind)),
                                      rows_bits(each->subject), rows_bits(each->ends),
                                      rows_text(each->detail, &detail) };
            db_bulk_row(bulk, row, err);
        }
    text_free(&detail);
    return db_bulk_end(bulk, err);
}

int seal_clear(const struct publisher *publisher, struct error *err)
{
    static const char *const clears[] = {
        sql_query_seal_clear,
        sql_query_seal_usage_clear,
        sql_query_seal_open_clear,
        sql_query_seal_odd_clear,
    };
    struct db_value cluster = db_text(publisher->cluster);
    for (size_t i = 0; i < COUNT(clears); i++)
        if (db_execute(publisher->db, clears[i], &cluster, 1, NULL, err))
            return -1;
    return 0;
}

int seal_write(const struct publisher *publisher, const struct seal_change *change,
               struct error *err)
{
    struct db *db = publisher->db;
    struct db_value cluster = db_text(publisher->cluster);
    int result;
    if (change->anew)
        result = seal_clear(publisher, err);
    else
        result =
            rows_execute_for(db, sql_query_seal_open_remove, &cluster, 1,
                             (struct row_ids){ change->ended->keys, change->ended->count }, err);
    if (result)
        return -1;
    if (write_header(db, &cluster, change->seal, err) || write_sums(db, &cluster, change, err) ||
        write_opened(db, &cluster, change->opened, err) ||
        write_findings(db, &cluster, change->findings, err))
        return -1;
    return 0;
}

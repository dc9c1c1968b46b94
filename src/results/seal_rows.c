/* SPDX-License-Identifier: MIT */
#include "results/seal_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "results/publication.h"
#include "results/rows.h"
#include "sql.h"
#include "util/text.h"

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
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        struct wide sum = { { rows_bits_of(&row[4]), rows_bits_of(&row[3]), rows_bits_of(&row[2]),
                              rows_bits_of(&row[1]) } };
        result = take(context, rows_bits_of(&row[0]), &sum, err);
    }
    return db_finish(rows) || result ? -1 : 0;
}

static int write_header(struct db *db, const struct db_value *cluster, const struct seal *seal,
                        struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', *cluster },
        { "as_of", 'i', rows_bits(seal->as_of) },
        { "full_as_of", 'i', rows_bits(seal->full_as_of) },
        { "cutoff", 'i', rows_bits(seal->cutoff) },
        { "sealed_to", 'i', rows_bits(seal->sealed_to) },
        { "counts_from", 'i', rows_bits(seal->start) },
        { "jobs_from", 'i', rows_bits(seal->jobs_from) },
        { "oldest_end", 'i', rows_bits(seal->oldest_end) },
        { "first_charge", 'i', rows_bits(seal->first_charge) },
        { "newest_end", 'i', rows_bits(seal->newest_end) },
        { "sums_hash", 'i', rows_bits(seal->sums_hash) },
        { "open_hash", 'i', rows_bits(seal->open_hash) },
        { "source", 't', db_text(seal->source) },
        { "basis", 't', db_text(seal->basis) },
        { "hash", 'i', rows_bits(seal_hash(seal)) },
    };
    return rows_write_one(db, "fairmill_seal", 1, row, COUNT(row), err);
}

static int write_sums(struct db *db, const struct db_value *cluster,
                      const struct seal_change *change, struct error *err)
{
    struct row_writer writer = { .db = db,
                                 .table = "fairmill_seal_usage",
                                 .keys = change->anew ? 0 : 2 };
    const struct usage_sum **sums = usage_sums_by_id(change->sums);
    for (size_t i = 0; i < change->sums->count; i++) {
        const struct usage_sum *each = sums[i];
        struct row_field row[] = {
            { "cluster", 't', *cluster },
            { "id_assoc", 'i', rows_bits(each->id) },
            { "sum_3", 'i', rows_bits(each->sum.word[3]) },
            { "sum_2", 'i', rows_bits(each->sum.word[2]) },
            { "sum_1", 'i', rows_bits(each->sum.word[1]) },
            { "sum_0", 'i', rows_bits(each->sum.word[0]) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    free(sums);
    return rows_end(&writer, 0, err);
}

static int write_opened(struct db *db, const struct db_value *cluster, const struct job_keys *keys,
                        struct error *err)
{
    struct row_writer writer = { .db = db, .table = "fairmill_seal_open" };
    for (size_t i = 0; i < keys->count; i++) {
        struct row_field row[] = {
            { "cluster", 't', *cluster },
            { "job_key", 'i', rows_bits(keys->keys[i]) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    return rows_end(&writer, 0, err);
}

static int write_findings(struct db *db, const struct db_value *cluster,
                          const struct findings *findings, struct error *err)
{
    struct text detail = { 0 };
    if (db_execute(db, sql_query_seal_odd_clear, cluster, 1, NULL, err))
        return -1;
    struct row_writer writer = { .db = db, .table = "fairmill_seal_odd" };
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding *each = &findings->kind[kind].kept[i];
            struct row_field row[] = {
                { "cluster", 't', *cluster },
                { "kind", 't', db_text(finding_name(kind)) },
                { "subject", 'i', rows_bits(each->subject) },
                { "time_end", 'i', rows_bits(each->ends) },
                { "detail", 't', rows_text(each->detail, &detail) },
            };
            rows_add(&writer, row, COUNT(row), err);
        }
    text_free(&detail);
    return rows_end(&writer, 0, err);
}

const char *const seal_clears[] = { sql_query_seal_clear, sql_query_seal_usage_clear,
                                    sql_query_seal_open_clear, sql_query_seal_odd_clear, NULL };

int seal_write(const struct publisher *publisher, const struct seal_change *change,
               struct error *err)
{
    struct db *db = publisher->db;
    struct db_value cluster = db_text(publisher->cluster);
    if (change->anew) {
        if (rows_execute_all(db, seal_clears, &cluster, 1, err))
            return -1;
    } else if (rows_execute_for(db, sql_query_seal_open_remove, &cluster, 1,
                                (struct row_ids){ change->ended->keys, change->ended->count },
                                err)) {
        return -1;
    }
    if (write_header(db, &cluster, change->seal, err) || write_sums(db, &cluster, change, err) ||
        write_opened(db, &cluster, change->opened, err) ||
        write_findings(db, &cluster, change->findings, err))
        return -1;
    return 0;
}

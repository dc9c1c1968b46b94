/* SPDX-License-Identifier: MIT */
#include "results/checkpoint_rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/usage/kept_tres.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/error.h"
#include "util/text.h"

/*
 * The integer columns of fairmill_seal.  sql_query_seal_read returns these columns first, in this
 * order.
 */
static const struct {
    const char *name;
    size_t place; /* offset in struct checkpoint */
} numbers[] = {
    { "as_of", offsetof(struct checkpoint, as_of) },
    { "full_as_of", offsetof(struct checkpoint, full_as_of) },
    { "cutoff", offsetof(struct checkpoint, cutoff) },
    { "sealed_to", offsetof(struct checkpoint, checkpointed_to) },
    { "counts_from", offsetof(struct checkpoint, start) },
    { "jobs_from", offsetof(struct checkpoint, jobs_from) },
    { "oldest_end", offsetof(struct checkpoint, oldest_end) },
    { "first_charge", offsetof(struct checkpoint, first_charge) },
    { "newest_end", offsetof(struct checkpoint, newest_end) },
    { "sums_hash", offsetof(struct checkpoint, sums_hash) },
    { "open_hash", offsetof(struct checkpoint, open_hash) },
    { "checked_to", offsetof(struct checkpoint, checked_to) },
};
static const char finding_table[] = "fairmill_seal_odd", day_hash_table[] = "fairmill_seal_slice";

static int checkpoint_rows_read_header(struct db *db, const struct db_value *cluster,
                                       struct stored_checkpoint *stored, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_seal_read, cluster, 1, "iiiiiiiiiiiitti", err);
    if (db_fetch(rows, &row, err) > 0) {
        const struct db_value *rest = row + COUNT(numbers);
        stored->checkpoint = (struct checkpoint){
            .kept = true,
            .source = db_value_text(&rest[0]),
            .basis = db_value_text(&rest[1]),
        };
        for (size_t i = 0; i < COUNT(numbers); i++)
            *(uint64_t *)((char *)&stored->checkpoint + numbers[i].place) = rows_bits_of(&row[i]);
        stored->damaged = rows_bits_of(&rest[2]) != checkpoint_hash(&stored->checkpoint);
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

static void keep_finding(struct row_hash *stored, const char *kind, const struct finding *finding,
                         const struct db_value *detail)
{
    const uint64_t words[] = { row_hash_of_text(kind, strlen(kind)),
                               finding->subject,
                               finding->ends,
                               row_hash_of_text(detail->text.bytes, detail->text.length),
                               finding->jobs,
                               finding->first,
                               finding->last };
    row_hash_add(stored, words, COUNT(words));
}

static void checkpoint_rows_add_finding(struct findings *findings, const struct db_value *row,
                                        struct row_hash *stored)
{
    char *kind = db_value_text(&row[0]), *detail = db_value_text(&row[3]);
    struct finding finding = { .subject = rows_bits_of(&row[1]),
                               .ends = rows_bits_of(&row[2]),
                               .jobs = rows_bits_of(&row[4]),
                               .first = rows_bits_of(&row[5]),
                               .last = rows_bits_of(&row[6]) };
    if (row[3].type == DB_TEXT)
        keep_finding(stored, kind, &finding, &row[3]);
    for (enum finding_kind each = 0; each < FINDING_KINDS; each++)
        if (!strcmp(finding_name(each), kind))
            findings_add_jobs(findings, each, &finding, "%s", detail);
    free(kind);
    free(detail);
}

/* Sets `*intact` to whether the stored hash of a table equals `found`, the hash of its rows. */
static int checkpoint_rows_compare_stored(struct db *db, const char *cluster, const char *table,
                                          const struct row_hash *found, bool *intact,
                                          struct error *err)
{
    struct row_hash known;
    int result = stored_read_all(db, cluster, table, &known, err);
    *intact = row_hash_same(&known, found);
    return result;
}

static int checkpoint_rows_read_findings(struct db *db, const char *cluster,
                                         struct stored_checkpoint *stored, bool *intact,
                                         struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct row_hash found = { 0 };
    struct db_rows *rows = db_query(db, sql_query_seal_odd_read, &name, 1, "tiitiii", err);
    while (db_fetch(rows, &row, err) > 0)
        checkpoint_rows_add_finding(stored->findings, row, &found);
    if (db_finish(rows))
        return -1;
    return checkpoint_rows_compare_stored(db, cluster, finding_table, &found, intact, err);
}

static void keep_day_hash(struct row_hash *stored, uint64_t day, struct day_hash hash)
{
    const uint64_t words[] = { day, hash.rows, hash.hash };
    row_hash_add(stored, words, COUNT(words));
}

/*
 * No job row ends on this day, in the year 10000, or later.  The hash of rollups is stored under a
 * day number that does not exist.
 */
#define LAST_DAY (UINT64_C(253402300800) / CHECKPOINT_SLICE_S)
#define ROLLUPS_DAY UINT64_MAX
static int read_day_hashes(struct db *db, const char *cluster, struct stored_checkpoint *stored,
                           bool *intact, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct row_hash found = { 0 };
    struct db_rows *rows = db_query(db, sql_query_seal_slice_read, &name, 1, "iii", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct day_hash hash = { rows_bits_of(&row[1]), rows_bits_of(&row[2]) };
        uint64_t day = rows_bits_of(&row[0]);
        keep_day_hash(&found, day, hash);
        if (day < LAST_DAY)
            day_hashes_set(&stored->hashes, day, hash);
        else if (day == ROLLUPS_DAY)
            stored->hashes.rollups = hash;
    }
    if (db_finish(rows))
        return -1;
    return checkpoint_rows_compare_stored(db, cluster, day_hash_table, &found, intact, err);
}

void stored_checkpoint_free(struct stored_checkpoint *stored)
{
    checkpoint_free(&stored->checkpoint);
    job_keys_free(&stored->open);
    day_hashes_free(&stored->hashes);
    findings_destroy(stored->findings);
    stored_days_free(&stored->days);
    *stored = (struct stored_checkpoint){ 0 };
}

static int checkpoint_rows_read_all(struct db *db, const char *cluster,
                                    struct stored_checkpoint *stored, bool *intact,
                                    struct error *err)
{
    struct db_value name = db_text(cluster);
    bool findings = false, hashes = false;
    if (checkpoint_rows_read_header(db, &name, stored, err) ||
        read_open(db, &name, &stored->open, err) ||
        checkpoint_rows_read_findings(db, cluster, stored, &findings, err) ||
        read_day_hashes(db, cluster, stored, &hashes, err))
        return -1;
    *intact = !stored->damaged && findings && hashes &&
              stored->checkpoint.open_hash == job_keys_hash(&stored->open);
    return 0;
}

int checkpoint_read(struct db *db, const char *cluster, struct stored_checkpoint *stored,
                    struct error *err)
{
    bool intact = false;
    stored->damaged = false;
    /* A value of the wrong type was not stored by a run. */
    if (checkpoint_rows_read_all(db, cluster, stored, &intact, err) && err->class != ERROR_DATA)
        return -1;
    stored->damaged = stored->checkpoint.kept && !intact;
    return 0;
}

int checkpoint_read_sums(struct db *db, const char *cluster,
                         int (*take)(void *context, const struct stored_sum *stored,
                                     struct error *err),
                         void *context, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_stream(db, sql_query_seal_usage_read, &name, 1, "iiiiit", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        bool has_tres = row[5].type == DB_TEXT;
        const struct stored_sum stored = {
            .id = rows_bits_of(&row[0]),
            .sum = { { rows_bits_of(&row[4]), rows_bits_of(&row[3]), rows_bits_of(&row[2]),
                       rows_bits_of(&row[1]) } },
            .tres = has_tres ? row[5].text.bytes : "",
            .tres_length = has_tres ? row[5].text.length : 0,
        };
        result = take(context, &stored, err);
    }
    return db_finish(rows) || result ? -1 : 0;
}

static int write_header(struct db *db, const struct db_value *cluster,
                        const struct checkpoint *checkpoint, struct error *err)
{
    struct row_field row[4 + COUNT(numbers)] = {
        { "cluster", 't', *cluster },
        { "source", 't', db_text(checkpoint->source) },
        { "basis", 't', db_text(checkpoint->basis) },
        { "hash", 'i', rows_bits(checkpoint_hash(checkpoint)) },
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint64_t number = *(const uint64_t *)((const char *)checkpoint + numbers[i].place);
        row[4 + i] = (struct row_field){ numbers[i].name, 'i', rows_bits(number) };
    }
    return rows_write_one(db, "fairmill_seal", 1, row, COUNT(row), err);
}

static int write_sums(struct db *db, const struct db_value *cluster,
                      const struct checkpoint_change *change, struct error *err)
{
    struct row_writer writer = { .db = db,
                                 .table = "fairmill_seal_usage",
                                 .keys = change->anew ? 0 : 2 };
    const struct usage_sum **sums = usage_sums_by_id(change->sums);
    struct text tres = { 0 };
    for (size_t i = 0; i < change->sums->count; i++) {
        const struct usage_sum *each = sums[i];
        tres.length = 0;
        if (change->kept)
            tres_sums_write(change->kept,
                            usage_sums_tres(change->sums, (size_t)(each - change->sums->rows)),
                            &tres);
        struct row_field row[] = {
            { "cluster", 't', *cluster },
            { "id_assoc", 'i', rows_bits(each->id) },
            { "sum_3", 'i', rows_bits(each->sum.word[3]) },
            { "sum_2", 'i', rows_bits(each->sum.word[2]) },
            { "sum_1", 'i', rows_bits(each->sum.word[1]) },
            { "sum_0", 'i', rows_bits(each->sum.word[0]) },
            { "tres", 't', tres.length ? db_text(tres.bytes) : db_null() },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    text_free(&tres);
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

/* Returns NULL unless the finding is about several jobs. */
static struct db_value checkpoint_rows_number_or_null(uint64_t number,
                                                      const struct finding *finding)
{
    return finding->jobs ? rows_bits(number) : db_null();
}

static int checkpoint_rows_write_findings(const struct publisher *publisher,
                                          const struct findings *findings, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    struct text detail = { 0 };
    struct hash_segment part = { 0 };
    if (db_execute(publisher->db, sql_query_seal_odd_clear, &cluster, 1, NULL, err))
        return -1;
    struct row_writer writer = { .db = publisher->db, .table = finding_table };
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < findings->kind[kind].count; i++) {
            const struct finding *each = &findings->kind[kind].kept[i];
            struct row_field row[] = {
                { "cluster", 't', cluster },
                { "kind", 't', db_text(finding_name(kind)) },
                { "subject", 'i', rows_bits(each->subject) },
                { "time_end", 'i', rows_bits(each->ends) },
                { "detail", 't', rows_text(each->detail, &detail) },
                { "jobs", 'i', checkpoint_rows_number_or_null(each->jobs, each) },
                { "first_start", 'i', checkpoint_rows_number_or_null(each->first, each) },
                { "last_start", 'i', checkpoint_rows_number_or_null(each->last, each) },
            };
            keep_finding(&part.stored, finding_name(kind), each, &row[4].value);
            rows_add(&writer, row, COUNT(row), err);
        }
    text_free(&detail);
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write(publisher->db, publisher->cluster, finding_table, &part, err);
}

struct day_hash_writer {
    struct row_writer rows;
    struct db_value cluster;
    struct row_hash stored;
    struct job_keys removed;
};

static void write_day_hash(struct day_hash_writer *writer, uint64_t day, struct day_hash old,
                           struct day_hash hash, struct error *err)
{
    if (hash.rows)
        keep_day_hash(&writer->stored, day, hash);
    if (day_hash_same(hash, old))
        return;
    if (!hash.rows) {
        job_keys_add(&writer->removed, day);
        return;
    }
    struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "day", 'i', rows_bits(day) },
        { "row_count", 'i', rows_bits(hash.rows) },
        { "hash", 'i', rows_bits(hash.hash) },
    };
    rows_add(&writer->rows, row, COUNT(row), err);
}

/*
 * Writes the hashes that changed.  If the run makes the checkpoint from scratch, checkpoint_write()
 * has already removed all stored hashes.
 */
static int write_day_hashes(const struct publisher *publisher,
                            const struct checkpoint_change *change, struct error *err)
{
    static const struct day_hashes none;
    const struct day_hashes *old = change->anew ? &none : change->old_hashes;
    struct day_hash_writer writer = {
        .rows = { .db = publisher->db, .table = day_hash_table, .keys = 2 },
        .cluster = db_text(publisher->cluster),
    };
    size_t days = old->count > change->hashes->count ? old->count : change->hashes->count;
    for (size_t day = 0; day < days; day++)
        write_day_hash(&writer, day, day_hash_of(old, day), day_hash_of(change->hashes, day), err);
    write_day_hash(&writer, ROLLUPS_DAY, old->rollups, change->hashes->rollups, err);
    int result = rows_end(&writer.rows, 0, err);
    if (!result)
        result =
            rows_execute_for(publisher->db, sql_query_seal_slice_remove, &writer.cluster, 1,
                             (struct row_ids){ writer.removed.keys, writer.removed.count }, err);
    job_keys_free(&writer.removed);
    const struct hash_segment part = { 0, writer.stored };
    return result ? -1
                  : stored_write(publisher->db, publisher->cluster, day_hash_table, &part, err);
}

const char *const checkpoint_clears[] = { sql_query_seal_clear,       sql_query_seal_usage_clear,
                                          sql_query_seal_open_clear,  sql_query_seal_odd_clear,
                                          sql_query_seal_slice_clear, NULL };

/* Removes sums of QOS on days that no run uses any more. */
static int remove_expired(struct db *db, const struct db_value *cluster,
                          const struct checkpoint_change *change, struct error *err)
{
    const struct db_value range[] = { *cluster, rows_bits(change->expired_from),
                                      rows_bits(change->expired_to) };
    return change->anew || change->expired_from >= change->expired_to
               ? 0
               : db_execute(db, sql_query_seal_usage_expire, range, COUNT(range), NULL, err);
}

int checkpoint_write(const struct publisher *publisher, const struct checkpoint_change *change,
                     struct error *err)
{
    struct db *db = publisher->db;
    struct db_value cluster = db_text(publisher->cluster);
    if (change->anew) {
        if (rows_execute_all(db, checkpoint_clears, &cluster, 1, err))
            return -1;
    } else if (rows_execute_for(db, sql_query_seal_open_remove, &cluster, 1,
                                (struct row_ids){ change->ended->keys, change->ended->count },
                                err)) {
        return -1;
    }
    if (write_header(db, &cluster, change->checkpoint, err) ||
        remove_expired(db, &cluster, change, err) ||
        write_sums(db, &cluster, change, err) || write_opened(db, &cluster, change->opened, err) ||
        checkpoint_rows_write_findings(publisher, change->findings, err) ||
        write_day_hashes(publisher, change, err))
        return -1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "results/ledger_rows.h"

#include <stdlib.h>
#include <string.h>

#include "results/rows.h"
#include "results/schema.h"
#include "sql.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* Where two people enter something at once, one of them tries again with the next id, so often and
 * up to the deadline. */
#define TRIES 20

void ledger_record_free(struct ledger_record *record)
{
    free(record->cluster);
    free(record->who);
    free(record->why);
    free(record->account);
    free(record->user);
    free(record->partition);
    *record = (struct ledger_record){ 0 };
}

static uint64_t number_of(const struct db_value *value)
{
    return value->type == DB_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

/* Read the columns from id to undoes.  An unknown kind is an error: whoever entered it meant it to
 * count. */
static int read_entry(const struct db_value *row, struct ledger_entry *entry, struct error *err)
{
    char *kind = db_value_text(&row[2]);
    *entry = (struct ledger_entry){
        .id = number_of(&row[0]),
        .instant = number_of(&row[1]),
        .kind = LEDGER_KINDS,
        .association = number_of(&row[3]),
        .tres_seconds = number_of(&row[4]),
        .job = number_of(&row[5]),
        .undoes = number_of(&row[6]),
    };
    for (enum ledger_kind each = 0; each < LEDGER_KINDS; each++)
        if (!strcmp(kind, ledger_kind_name(each)))
            entry->kind = each;
    int result = 0;
    if (entry->kind == LEDGER_KINDS)
        result =
            fail(err, ERROR_DATA, "entry %llu of the ledger is of kind '%s', which is not known",
                 (unsigned long long)entry->id, kind);
    free(kind);
    return result;
}

static bool is_empty(const struct db_value *value)
{
    return value->type != DB_TEXT || !value->text.length;
}

static int read_entries(struct db *db, const char *cluster, struct ledger *ledger,
                        struct error *err)
{
    const struct db_value *row;
    struct db_value argument = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_ledger_read, &argument, 1, "iitiiiitt", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        struct ledger_entry entry;
        result = read_entry(row, &entry, err);
        entry.of_cluster = is_empty(&row[7]) && is_empty(&row[8]);
        if (!result)
            ledger_add(ledger, &entry);
    }
    return db_finish(rows) || result ? -1 : 0;
}

static int read_covers(struct db *db, const char *cluster, struct ledger *ledger, struct error *err)
{
    const struct db_value *row;
    struct db_value argument = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_ledger_reset_read, &argument, 1, "ii", err);
    while (db_fetch(rows, &row, err) > 0)
        ledger_add_cover(ledger, number_of(&row[0]), number_of(&row[1]));
    return db_finish(rows);
}

int ledger_read(struct db *db, const char *cluster, struct ledger **read, struct error *err)
{
    struct ledger *ledger = ledger_create();
    if (read_entries(db, cluster, ledger, err) || read_covers(db, cluster, ledger, err)) {
        ledger_destroy(ledger);
        return -1;
    }
    *read = ledger;
    return 0;
}

int ledger_look_up(const struct settings *settings, const char *cluster, struct ledger **ledger,
                   struct error *err)
{
    struct db *db;
    *ledger = NULL;
    if (results_open(&db, settings, DB_READER, err)) {
        if (err->class != ERROR_MISSING)
            return -1;
        *ledger = ledger_create();
        return 0;
    }
    int result = ledger_read(db, cluster, ledger, err);
    db_close(db);
    return result ? results_explain(settings, err) : 0;
}

int ledger_read_all(struct db *db, struct ledger_record **records, size_t *count, struct error *err)
{
    const struct db_value *row;
    *records = NULL;
    *count = 0;
    struct db_rows *rows = db_query(db, sql_query_ledger_list, NULL, 0, "tiitiiiitttitti", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        struct ledger_record record = {
            .entered_at = row[11].integer,
            .cluster = db_value_text(&row[0]),
            .who = db_value_text(&row[12]),
            .why = db_value_text(&row[13]),
            .account = db_value_text(&row[8]),
            .user = db_value_text(&row[9]),
            .partition = db_value_text(&row[10]),
            .covers = number_of(&row[14]),
        };
        result = read_entry(row + 1, &record.entry, err);
        record.entry.of_cluster = !*record.account && !*record.user;
        *records = memory_grown(*records, *count, sizeof **records);
        (*records)[(*count)++] = record;
    }
    return db_finish(rows) || result ? -1 : 0;
}

static int read_last(struct db *db, uint64_t *last, struct error *err)
{
    int64_t id = 0;
    int found = rows_read_integer(db, sql_query_ledger_last, NULL, 0, &id, err);
    *last = id > 0 ? (uint64_t)id : 0;
    return found < 0 ? -1 : 0;
}

static struct db_value number_or_null(bool known, uint64_t number)
{
    return known ? db_integer((int64_t)number) : db_null();
}

static int write_entry(struct db *db, const struct ledger_record *record, struct error *err)
{
    const struct ledger_entry *entry = &record->entry;
    bool adjusts = entry->kind == LEDGER_CREDIT || entry->kind == LEDGER_DEBIT;
    struct row_field row[] = {
        { "id", 'i', db_integer((int64_t)entry->id) },
        { "cluster", 't', db_text(record->cluster) },
        { "instant", 'i', db_integer((int64_t)entry->instant) },
        { "entered_at", 'i', db_integer(record->entered_at) },
        { "who", 't', db_text(record->who) },
        { "why", 't', db_text(record->why) },
        { "kind", 't', db_text(ledger_kind_name(entry->kind)) },
        { "account", 't', db_text(record->account) },
        { "user_name", 't', db_text(record->user) },
        { "partition_name", 't', db_text(record->partition) },
        { "id_assoc", 'i', number_or_null(adjusts, entry->association) },
        { "tres_seconds", 'i', number_or_null(adjusts, entry->tres_seconds) },
        { "id_job", 'i', number_or_null(entry->kind == LEDGER_REFUND, entry->job) },
        { "undoes", 'i', number_or_null(entry->kind == LEDGER_UNDO, entry->undoes) },
    };
    return rows_write_one(db, "fairmill_ledger", 0, row, COUNT(row), err);
}

static int write_covers(struct db *db, uint64_t id, const uint64_t *covers, size_t count,
                        struct error *err)
{
    struct row_writer writer = { .db = db, .table = "fairmill_ledger_reset" };
    for (size_t i = 0; i < count; i++) {
        struct row_field row[] = {
            { "id", 'i', db_integer((int64_t)id) },
            { "id_assoc", 'i', db_integer((int64_t)covers[i]) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    return rows_end(&writer, 0, err);
}

static int enter_once(struct db *db, struct ledger_record *record, const uint64_t *covers,
                      size_t count, bool *in_doubt, struct error *err)
{
    uint64_t last;
    if (db_begin(db, err))
        return -1;
    int result = read_last(db, &last, err);
    record->entry.id = last + 1;
    result = result || write_entry(db, record, err) ||
             write_covers(db, record->entry.id, covers, count, err);
    if (!result && !db_commit(db, err))
        return 0;
    *in_doubt = !result && err->class == ERROR_GONE;
    db_rollback(db);
    return -1;
}

int ledger_enter(struct db *db, struct ledger_record *record, const uint64_t *covers, size_t count,
                 bool *in_doubt, struct error *err)
{
    struct error ignored;
    uint64_t last;
    int64_t end_ms = clock_milliseconds() + (int64_t)db->settings->deadline_s * 1000;
    for (int i = 1; enter_once(db, record, covers, count, in_doubt, err); i++)
        if (i == TRIES || err->class == ERROR_GONE || read_last(db, &last, &ignored) ||
            (last < record->entry.id && err->class != ERROR_RETRY) ||
            clock_milliseconds() >= end_ms || db_limit_waits(db, end_ms, &ignored))
            return -1;
    return 0;
}

int ledger_has(struct db *db, const struct ledger_record *record, bool *there, struct error *err)
{
    struct ledger_record *records;
    size_t count;
    int result = ledger_read_all(db, &records, &count, err);
    *there = false;
    for (size_t i = 0; i < count; i++) {
        *there |= records[i].entry.id == record->entry.id &&
                  records[i].entered_at == record->entered_at &&
                  !strcmp(records[i].who, record->who) && !strcmp(records[i].why, record->why);
        ledger_record_free(&records[i]);
    }
    free(records);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "results/ledger_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/rows.h"
#include "results/schema.h"
#include "sql.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/*
 * If two users add entries at the same time, one of the two sessions retries with the next id.  It
 * makes at most this number of attempts, and none after the deadline.
 */
#define TRIES 20

static uint64_t ledger_rows_number_of(const struct db_value *value)
{
    return value->type == DB_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

/* The columns of ledger_read. */
enum {
    ID,
    CLUSTER,
    TIME,
    ENTERED_AT,
    WHO,
    WHY,
    KIND,
    ACCOUNT,
    USER,
    PARTITION,
    ASSOCIATION,
    TRES_SECONDS,
    JOB,
    UNDOES
};

static int read_kind(const struct db_value *row, const char *cluster, struct ledger_record *record,
                     struct error *err)
{
    int result = 0;
    char *kind = db_value_text(&row[KIND]);
    record->entry.kind = ledger_kind_named(kind);
    if (record->entry.kind == LEDGER_KINDS && (!cluster || !strcmp(cluster, record->cluster)))
        result = fail(err, ERROR_DATA,
                      "ledger entry %" PRIu64
                      " has the unknown kind '%s'; a newer fairmill may have added it",
                      record->entry.id, kind);
    free(kind);
    return result;
}

static int read_record(const struct db_value *row, const char *cluster,
                       struct ledger_record *record, struct error *err)
{
    *record = (struct ledger_record){
        .entry = { .id = ledger_rows_number_of(&row[ID]),
                   .time = ledger_rows_number_of(&row[TIME]),
                   .association = ledger_rows_number_of(&row[ASSOCIATION]),
                   .tres_seconds = ledger_rows_number_of(&row[TRES_SECONDS]),
                   .job = ledger_rows_number_of(&row[JOB]),
                   .undoes = ledger_rows_number_of(&row[UNDOES]) },
        .entered_at = row[ENTERED_AT].integer,
        .cluster = db_value_text(&row[CLUSTER]),
        .who = db_value_text(&row[WHO]),
        .why = db_value_text(&row[WHY]),
        .account = db_value_text(&row[ACCOUNT]),
        .user = db_value_text(&row[USER]),
        .partition = db_value_text(&row[PARTITION]),
    };
    record->entry.of_cluster = !*record->account && !*record->user;
    return read_kind(row, cluster, record, err);
}

static int ledger_rows_read_records(struct db *db, const char *cluster, struct ledger_book *book,
                                    struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_ledger_read, NULL, 0, "itiittttttiiii", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0)
        result = read_record(row, cluster, memory_append(&book->records, &book->count), err);
    return db_finish(rows) || result ? -1 : 0;
}

static int read_covers(struct db *db, struct ledger_book *book, struct error *err)
{
    const struct db_value *row;
    size_t i = 0;
    struct db_rows *rows = db_query(db, sql_query_ledger_reset_read, NULL, 0, "ii", err);
    while (db_fetch(rows, &row, err) > 0) {
        uint64_t id = ledger_rows_number_of(&row[0]);
        while (i < book->count && book->records[i].entry.id < id)
            i++;
        if (i < book->count && book->records[i].entry.id == id) {
            job_keys_add(&book->records[i].covers, ledger_rows_number_of(&row[1]));
            continue;
        }
        *memory_append(&book->loose, &book->loose_count) =
            (struct ledger_cover){ id, ledger_rows_number_of(&row[1]) };
    }
    return db_finish(rows);
}

static void ledger_rows_take_hash(char hash[LEDGER_HASH], const struct db_value *value)
{
    char *text = db_value_text(value);
    snprintf(hash, LEDGER_HASH, "%s", text);
    free(text);
}

/* `chained` is false for hashes that runs recorded, because these have no chain values. */
static int read_marks(struct db *db, const char *sql, bool chained, struct ledger_marks *marks,
                      struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, NULL, 0, chained ? "ittt" : "itt", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct ledger_mark *mark = memory_append(&marks->list, &marks->count);
        *mark = (struct ledger_mark){ .id = ledger_rows_number_of(&row[0]),
                                      .cluster = db_value_text(&row[1]) };
        ledger_rows_take_hash(mark->hash, &row[2]);
        if (chained)
            ledger_rows_take_hash(mark->chain, &row[3]);
    }
    return db_finish(rows);
}

/*
 * Read the recorded hashes before the entries, so that an entry that is added meanwhile does not
 * seem to be missing.
 */
int ledger_book_read(struct db *db, const char *cluster, struct ledger_book *book,
                     struct error *err)
{
    *book = (struct ledger_book){ 0 };
    if (!read_marks(db, sql_query_ledger_counted_read, false, &book->counted, err) &&
        !read_marks(db, sql_query_ledger_chain_read, true, &book->made, err) &&
        !ledger_rows_read_records(db, cluster, book, err) && !read_covers(db, book, err))
        return 0;
    ledger_book_free(book);
    return -1;
}

int ledger_read(struct db *db, const char *cluster, struct ledger **ledger, struct error *err)
{
    struct ledger_book book;
    if (ledger_book_read(db, cluster, &book, err))
        return -1;
    *ledger = ledger_of(&book, cluster);
    ledger_book_free(&book);
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

static int ledger_rows_read_last(struct db *db, uint64_t *last, struct error *err)
{
    int64_t id = 0;
    int found = rows_read_integer(db, sql_query_ledger_last, NULL, 0, &id, err);
    *last = id > 0 ? (uint64_t)id : 0;
    return found < 0 ? -1 : 0;
}

static struct db_value ledger_rows_number_or_null(bool known, uint64_t number)
{
    return known ? db_integer((int64_t)number) : db_null();
}

static int write_entry(struct db *db, const struct ledger_record *record, struct error *err)
{
    const struct ledger_entry *entry = &record->entry;
    bool adjusts = ledger_kind_has_amount(entry->kind);
    struct row_field row[] = {
        { "id", 'i', db_integer((int64_t)entry->id) },
        { "cluster", 't', db_text(record->cluster) },
        { "instant", 'i', db_integer((int64_t)entry->time) },
        { "entered_at", 'i', db_integer(record->entered_at) },
        { "who", 't', db_text(record->who) },
        { "why", 't', db_text(record->why) },
        { "kind", 't', db_text(ledger_kind_name(entry->kind)) },
        { "account", 't', db_text(record->account) },
        { "user_name", 't', db_text(record->user) },
        { "partition_name", 't', db_text(record->partition) },
        { "id_assoc", 'i', ledger_rows_number_or_null(adjusts, entry->association) },
        { "tres_seconds", 'i', ledger_rows_number_or_null(adjusts, entry->tres_seconds) },
        { "id_job", 'i', ledger_rows_number_or_null(entry->kind == LEDGER_REFUND, entry->job) },
        { "undoes", 'i', ledger_rows_number_or_null(entry->kind == LEDGER_UNDO, entry->undoes) },
    };
    return rows_write_one(db, "fairmill_ledger", 0, row, COUNT(row), err);
}

static int by_entry(const void *a, const void *b)
{
    const struct ledger_cover *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return (one->association > other->association) - (one->association < other->association);
}

/* Returns true if fairmill_ledger_reset has the row already, although its reset is lost. */
static bool is_loose(const struct ledger_book *book, uint64_t id, uint64_t association)
{
    struct ledger_cover cover = { id, association };
    return book && book->loose_count &&
           bsearch(&cover, book->loose, book->loose_count, sizeof *book->loose, by_entry);
}

/* Writes the associations of an entry.  `book` is NULL for a new entry. */
static int write_covers(struct db *db, const struct ledger_record *record,
                        const struct ledger_book *book, struct error *err)
{
    struct row_writer writer = { .db = db, .table = "fairmill_ledger_reset" };
    for (size_t i = 0; i < record->covers.count; i++) {
        if (is_loose(book, record->entry.id, record->covers.keys[i]))
            continue;
        struct row_field row[] = {
            { "id", 'i', db_integer((int64_t)record->entry.id) },
            { "id_assoc", 'i', db_integer((int64_t)record->covers.keys[i]) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    return rows_end(&writer, 0, err);
}

static int write_mark(struct db *db, const struct ledger_record *record,
                      const struct ledger_mark *mark, struct error *err)
{
    struct row_field row[] = {
        { "id", 'i', db_integer((int64_t)record->entry.id) },
        { "cluster", 't', db_text(record->cluster) },
        { "hash", 't', db_text(mark->hash) },
        { "chain", 't', db_text(mark->chain) },
    };
    return rows_write_one(db, "fairmill_ledger_chain", 0, row, COUNT(row), err);
}

/* Computes the hash of an entry, and its chain value from the chain value of the last entry. */
static void ledger_rows_add_link(const struct ledger_record *record, struct ledger_mark *mark)
{
    ledger_hash(record, mark->hash);
    ledger_link(mark->chain, mark->hash);
}

/* Sets `*mark` to the hash of a new entry and its chain value, which follows the whole ledger. */
static int read_link(struct db *db, const struct ledger_record *record, struct ledger_mark *mark,
                     struct error *err)
{
    struct ledger_book book;
    if (ledger_book_read(db, "", &book, err))
        return -1;
    struct ledger_faults faults = ledger_faults_of(&book);
    memcpy(mark->chain, faults.chain, LEDGER_HASH);
    ledger_rows_add_link(record, mark);
    ledger_faults_free(&faults);
    ledger_book_free(&book);
    return 0;
}

static int enter_once(struct db *db, struct ledger_record *records, size_t count, bool *in_doubt,
                      struct error *err)
{
    uint64_t last;
    struct ledger_mark mark;
    if (db_begin(db, err))
        return -1;
    int result = ledger_rows_read_last(db, &last, err);
    for (size_t i = 0; !result && i < count; i++) {
        struct ledger_record *record = &records[i];
        record->entry.id = last + 1 + i;
        if (!i)
            result = read_link(db, record, &mark, err);
        else
            ledger_rows_add_link(record, &mark);
        result = result || write_entry(db, record, err) || write_covers(db, record, NULL, err) ||
                 write_mark(db, record, &mark, err);
    }
    if (!result && !db_commit(db, err))
        return 0;
    *in_doubt = !result && err->class == ERROR_GONE;
    db_rollback(db);
    return -1;
}

int ledger_enter(struct db *db, struct ledger_record *records, size_t count, bool *in_doubt,
                 struct error *err)
{
    struct error ignored;
    uint64_t last;
    int64_t end_ms = clock_milliseconds() + (int64_t)db->settings->deadline_s * 1000;
    for (int i = 1; enter_once(db, records, count, in_doubt, err); i++)
        if (i == TRIES || err->class == ERROR_GONE || ledger_rows_read_last(db, &last, &ignored) ||
            (last < records[0].entry.id && err->class != ERROR_RETRY) ||
            clock_milliseconds() >= end_ms || db_limit_waits(db, end_ms, &ignored))
            return -1;
    return 0;
}

int ledger_has(struct db *db, const struct ledger_record *record, bool *there, struct error *err)
{
    struct ledger_book book;
    char hash[LEDGER_HASH], other[LEDGER_HASH] = "";
    *there = false;
    if (ledger_book_read(db, "", &book, err))
        return -1;
    const struct ledger_record *found = ledger_book_find(&book, record->entry.id);
    ledger_hash(record, hash);
    if (found)
        ledger_hash(found, other);
    *there = !strcmp(hash, other);
    ledger_book_free(&book);
    return 0;
}

int ledger_counted_write(struct db *db, const struct ledger_book *book, const char *cluster,
                         struct error *err)
{
    struct row_writer writer = { .db = db, .table = "fairmill_ledger_counted" };
    for (size_t i = 0; i < book->count; i++) {
        const struct ledger_record *record = &book->records[i];
        char hash[LEDGER_HASH];
        if (strcmp(record->cluster, cluster) != 0 ||
            ledger_mark_find(&book->counted, record->entry.id))
            continue;
        ledger_hash(record, hash);
        struct row_field row[] = {
            { "cluster", 't', db_text(cluster) },
            { "id", 'i', db_integer((int64_t)record->entry.id) },
            { "hash", 't', db_text(hash) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    return rows_end(&writer, 0, err);
}

/*
 * Rejects an entry that differs from the existing entry with the same id, or from the recorded hash
 * of a lost entry.  Sets `*there` to whether the entry exists.
 */
static int check_import(const struct ledger_book *book, const struct ledger_import *import,
                        bool *there, struct error *err)
{
    uint64_t id = import->record.entry.id, undoes = import->record.entry.undoes;
    char hash[LEDGER_HASH] = "";
    const struct ledger_record *record = ledger_book_find(book, id);
    const struct ledger_mark *made = ledger_mark_find(&book->made, id);
    const struct ledger_mark *counted = ledger_mark_find(&book->counted, id);
    *there = record != NULL;
    if (record)
        ledger_hash(record, hash);
    if (record && strcmp(hash, import->mark.hash) != 0)
        return fail(err, ERROR_DATA,
                    "line %zu: entry %" PRIu64 " differs from the ledger's entry with this id",
                    import->line, id);
    if ((made && (strcmp(made->hash, import->mark.hash) != 0 ||
                  strcmp(made->chain, import->mark.chain) != 0)) ||
        (counted && strcmp(counted->hash, import->mark.hash) != 0))
        return fail(err, ERROR_DATA,
                    "line %zu: entry %" PRIu64 " does not match the ledger's hash for this id",
                    import->line, id);
    for (size_t i = 0; undoes && !record && i < book->count; i++)
        if (book->records[i].entry.undoes == undoes)
            return fail(err, ERROR_DATA,
                        "line %zu: entry %" PRIu64 " is already undone by entry %" PRIu64,
                        import->line, undoes, book->records[i].entry.id);
    return 0;
}

static int ledger_rows_import_all(struct db *db, const struct ledger_imports *imports,
                                  size_t *added, struct error *err)
{
    const struct ledger_import *list = imports->list;
    struct ledger_book book;
    int result = ledger_book_read(db, NULL, &book, err);
    for (size_t i = 0; !result && i < imports->count; i++) {
        bool there;
        const struct ledger_record *record = &list[i].record;
        result = check_import(&book, &list[i], &there, err);
        if (result || there)
            continue;
        ++*added;
        if (write_entry(db, record, err) || write_covers(db, record, &book, err) ||
            (!ledger_mark_find(&book.made, record->entry.id) &&
             write_mark(db, record, &list[i].mark, err)))
            result = fail_in(err, "line %zu", list[i].line);
    }
    ledger_book_free(&book);
    return result;
}

/* Checks that the chain values of the added entries match the entries before them. */
static int check_links(struct db *db, const struct ledger_imports *imports, struct error *err)
{
    struct ledger_book book;
    int result = ledger_book_read(db, NULL, &book, err);
    if (result)
        return -1;
    struct ledger_faults faults = ledger_faults_of(&book);
    for (size_t i = 0; !result && i < imports->count; i++)
        for (size_t k = 0; !result && k < faults.count; k++)
            if (imports->list[i].record.entry.id == faults.list[k].id)
                result = fail(err, ERROR_DATA,
                              "line %zu: entry %" PRIu64 " does not match the hash chain of the "
                              "entries before it in the ledger",
                              imports->list[i].line, faults.list[k].id);
    ledger_faults_free(&faults);
    ledger_book_free(&book);
    return result;
}

int ledger_import(struct db *db, const struct ledger_imports *imports, size_t *added,
                  struct error *err)
{
    *added = 0;
    if (db_begin(db, err))
        return -1;
    int result = ledger_rows_import_all(db, imports, added, err);
    if (!result && *added)
        result = check_links(db, imports, err);
    if (result || !imports->dry_run)
        return rows_commit(db, result, err);
    db_rollback(db);
    return 0;
}

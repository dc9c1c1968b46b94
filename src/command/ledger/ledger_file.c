/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "command/command.h"
#include "command/ledger/ledger_entry.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "results/permissions_rows.h"
#include "results/schema.h"
#include "util/error.h"
#include "util/memory.h"

enum field_type { NUMBER, TEXT, KIND, LIST, HASH };
enum {
    OF_CREDIT = 1 << LEDGER_CREDIT,
    OF_DEBIT = 1 << LEDGER_DEBIT,
    OF_REFUND = 1 << LEDGER_REFUND,
    OF_RESET = 1 << LEDGER_RESET,
    OF_SET = 1 << LEDGER_SET,
    OF_UNDO = 1 << LEDGER_UNDO,
    OF_ANY = (1 << LEDGER_KINDS) - 1,
};

#define IN(member) offsetof(struct ledger_import, member)

/* The fields of a line; `ledger list` uses the same names. */
static const struct ledger_file_field {
    const char *name;
    enum field_type type;
    size_t at;
    int kinds; /* the kinds of entries that have the field */
} fields[] = {
    { "kind", KIND, IN(record.entry.kind), OF_ANY },
    { "id", NUMBER, IN(record.entry.id), OF_ANY },
    { "cluster", TEXT, IN(record.cluster), OF_ANY },
    { "instant", NUMBER, IN(record.entry.time), OF_ANY },
    { "entered_at", NUMBER, IN(record.entered_at), OF_ANY },
    { "who", TEXT, IN(record.who), OF_ANY },
    { "why", TEXT, IN(record.why), OF_ANY },
    { "account", TEXT, IN(record.account), OF_ANY },
    { "username", TEXT, IN(record.user), OF_ANY },
    { "partition", TEXT, IN(record.partition), OF_ANY },
    { "id_assoc", NUMBER, IN(record.entry.association), OF_CREDIT | OF_DEBIT | OF_SET },
    { "tres_seconds", NUMBER, IN(record.entry.tres_seconds), OF_CREDIT | OF_DEBIT | OF_SET },
    { "id_job", NUMBER, IN(record.entry.job), OF_REFUND },
    { "undoes", NUMBER, IN(record.entry.undoes), OF_UNDO },
    { "covers", LIST, IN(record.covers), OF_RESET | OF_SET },
    { "hash", HASH, IN(mark.hash), OF_ANY },
    { "chain", HASH, IN(mark.chain), OF_ANY },
};
#define FIELDS (sizeof fields / sizeof *fields)

static json_t *list_of(const struct job_keys *keys)
{
    json_t *list = json_array();
    for (size_t i = 0; i < keys->count; i++)
        json_array_append_new(list, json_integer((json_int_t)keys->keys[i]));
    return list;
}

static json_t *ledger_file_value_of(const struct ledger_import *entry,
                                    const struct ledger_file_field *field)
{
    const void *at = (const char *)entry + field->at;
    switch (field->type) {
    case NUMBER:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case TEXT:
        return json_string(*(char *const *)at);
    case KIND:
        return json_string(ledger_kind_name(entry->record.entry.kind));
    case LIST:
        return list_of(at);
    case HASH:
        break;
    }
    return json_string(at);
}

static int ledger_file_add_line(struct text *text, const struct ledger_import *entry,
                                struct error *err)
{
    json_t *line = json_object();
    int result = 0;
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].kinds >> entry->record.entry.kind & 1)
            result |=
                json_object_set_new(line, fields[i].name, ledger_file_value_of(entry, &fields[i]));
    if (result) {
        result = fail(err, ERROR_DATA, "ledger entry %" PRIu64 " contains text that is not UTF-8",
                      entry->record.entry.id);
    } else {
        char *bytes = json_dumps(line, JSON_COMPACT);
        text_add(text, bytes);
        text_add(text, "\n");
        free(bytes);
    }
    json_decref(line);
    return result;
}

/* Entries of 0.1.0, and entries that other programs inserted, have no stored hashes.  Their hashes
 * are computed here from all entries before them, so that the hashes match in each ledger into
 * which the entries are imported. */
static int ledger_file_add_lines(struct text *text, const struct ledger_book *book,
                                 struct error *err)
{
    char chain[LEDGER_HASH] = "";
    int result = 0;
    for (size_t i = 0; !result && i < book->count; i++) {
        struct ledger_import entry = { .record = book->records[i] };
        const struct ledger_mark *made = ledger_mark_find(&book->made, entry.record.entry.id);
        if (made) {
            entry.mark = *made;
        } else {
            ledger_hash(&entry.record, entry.mark.hash);
            memcpy(entry.mark.chain, chain, LEDGER_HASH);
            ledger_link(entry.mark.chain, entry.mark.hash);
        }
        memcpy(chain, entry.mark.chain, LEDGER_HASH);
        result = ledger_file_add_line(text, &entry, err);
    }
    return result;
}

/* Refuses a partial export, which would not be a copy. */
static int ledger_file_refuse_private(const struct settings *settings,
                                      const struct ledger_book *book, struct db *results,
                                      struct error *err)
{
    struct permissions permissions = permissions_of_user(settings);
    int result = permissions_read_scopes(&permissions, settings, results, err);
    for (size_t i = 0; !result && i < book->count; i++)
        if (!ledger_may_be_told(&permissions, &book->records[i]))
            result = fail(err, ERROR_USAGE,
                          "you may not export the ledger: it has entries of other users, which "
                          "[report] private hides");
    permissions_free(&permissions);
    return result;
}

static bool is_standard(const char *path)
{
    return !path || !strcmp(path, "-");
}

int ledger_export(const struct settings *settings, const char *path, struct error *err)
{
    static const struct name_list all_clusters = { 0 };
    struct db *db;
    struct ledger_book book;
    struct text text = { 0 };
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = ledger_book_read(db, NULL, &book, err);
    if (result) {
        db_close(db);
        return results_explain(settings, err);
    }
    result = ledger_file_refuse_private(settings, &book, db, err);
    db_close(db);
    if (!result)
        result = ledger_file_add_lines(&text, &book, err);
    if (!result)
        result = command_output(path, &text, err);
    if (!result)
        result = ledger_tell_faults(&book, &all_clusters, err);
    ledger_book_free(&book);
    text_free(&text);
    return result;
}

/* ---- Import ---- */

static bool ledger_file_take_number(void *at, const json_t *value)
{
    uint64_t number = (uint64_t)json_integer_value(value);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    memcpy(at, &number, sizeof number);
    return true;
}

static bool ledger_file_take_text(char **at, const json_t *value)
{
    if (!json_is_string(value) || *at)
        return false;
    *at = memory_text(json_string_value(value));
    return true;
}

static bool take_kind(enum ledger_kind *at, const json_t *value)
{
    *at = json_is_string(value) ? ledger_kind_named(json_string_value(value)) : LEDGER_KINDS;
    return *at != LEDGER_KINDS;
}

static bool take_list(struct job_keys *at, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        uint64_t key;
        if (!ledger_file_take_number(&key, json_array_get(value, i)))
            return false;
        job_keys_add(at, key);
    }
    job_keys_sort(at);
    return json_is_array(value);
}

static bool ledger_file_take_hash(char *at, const json_t *value)
{
    const char *hash = json_is_string(value) ? json_string_value(value) : "";
    if (strlen(hash) != LEDGER_HASH - 1)
        return false;
    memcpy(at, hash, LEDGER_HASH);
    return true;
}

static bool ledger_file_take(struct ledger_import *entry, const struct ledger_file_field *field,
                             const json_t *value)
{
    void *at = (char *)entry + field->at;
    switch (field->type) {
    case NUMBER:
        return ledger_file_take_number(at, value);
    case TEXT:
        return ledger_file_take_text(at, value);
    case KIND:
        return take_kind(at, value);
    case LIST:
        return take_list(at, value);
    case HASH:
        break;
    }
    return ledger_file_take_hash(at, value);
}

/* Reads the fields.  The kind comes first, as it determines the other fields.  Each field must
 * occur once, and other fields are rejected. */
static int ledger_file_take_fields(struct ledger_import *entry, const json_t *line,
                                   struct error *err)
{
    size_t taken = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct ledger_file_field *field = &fields[i];
        if (i && !(field->kinds >> entry->record.entry.kind & 1))
            continue;
        if (!ledger_file_take(entry, field, json_object_get(line, field->name)))
            return fail(err, ERROR_DATA, "'%s' is missing or invalid", field->name);
        taken++;
    }
    if (taken != json_object_size(line))
        return fail(err, ERROR_DATA, "the entry has unknown fields");
    return 0;
}

static int check_entry(struct ledger_import *entry, struct error *err)
{
    char hash[LEDGER_HASH];
    struct ledger_record *record = &entry->record;
    record->entry.of_cluster = !*record->account && !*record->user;
    ledger_hash(record, hash);
    if (!record->entry.id || strcmp(hash, entry->mark.hash) != 0)
        return fail(err, ERROR_DATA, "entry %" PRIu64 " does not match its hash", record->entry.id);
    return 0;
}

static int ledger_file_read_line(struct ledger_import *entry, const char *bytes, size_t length,
                                 struct error *err)
{
    json_error_t reason;
    json_t *line = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason);
    int result = line ? ledger_file_take_fields(entry, line, err)
                      : fail(err, ERROR_DATA, "not valid JSON: %s", reason.text);
    if (!result)
        result = check_entry(entry, err);
    json_decref(line);
    return result;
}

struct lines {
    struct ledger_import *list;
    size_t count;
};

static int ledger_file_add_entry(struct lines *lines, const char *bytes, size_t length,
                                 struct error *err)
{
    struct ledger_import *entry = memory_append(&lines->list, &lines->count);
    *entry = (struct ledger_import){ .line = lines->count };
    if (ledger_file_read_line(entry, bytes, length, err))
        return fail_in(err, "line %zu", entry->line);
    if (lines->count > 1 && entry->record.entry.id <= entry[-1].record.entry.id)
        return fail(err, ERROR_DATA, "line %zu: entry %" PRIu64 " must precede entry %" PRIu64,
                    entry->line, entry->record.entry.id, entry[-1].record.entry.id);
    return 0;
}

static int ledger_file_read_lines(struct lines *lines, const char *path, struct error *err)
{
    FILE *file = is_standard(path) ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    if (!file)
        return fail(err, ERROR_USAGE, "cannot open '%s': %s", path, strerror(errno));
    while (!result && (length = getline(&line, &room, file)) >= 0)
        result = ledger_file_add_entry(lines, line, (size_t)length, err);
    if (!result && ferror(file))
        result = fail(err, ERROR_OTHER, "cannot read '%s': %s", is_standard(path) ? "-" : path,
                      strerror(errno));
    free(line);
    if (file != stdin)
        fclose(file);
    return result;
}

static int say_added(size_t added, size_t count, bool dry_run, struct error *err)
{
    struct text text = { 0 };
    text_format(&text, "%zu entries %s, %zu already existed\n", added,
                dry_run ? "would be added" : "added", count - added);
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

/* Imported entries can belong to any user, and messages about lost entries can name any user.  So
 * only users who may see all data may import. */
static int refuse_limited(const struct settings *settings, const struct lines *lines,
                          struct db *results, struct error *err)
{
    struct permissions permissions = permissions_of_user(settings);
    int result = permissions_read_scopes(&permissions, settings, results, err);
    if (!result)
        result = permissions_check_all(&permissions, NULL, err);
    for (size_t i = 0; !result && i < lines->count; i++)
        result = permissions_check_all(&permissions, lines->list[i].record.cluster, err);
    permissions_free(&permissions);
    return result;
}

/* If the response to COMMIT is lost, there is no need to search for the entries: the import can be
 * repeated. */
static int ledger_file_import_lines(struct db *db, const struct lines *lines, bool dry_run,
                                    struct error *err)
{
    static const struct name_list all_clusters = { 0 };
    struct ledger_book book;
    size_t added;
    if (ledger_import(db, &(struct ledger_imports){ lines->list, lines->count, dry_run }, &added,
                      err) ||
        say_added(added, lines->count, dry_run, err))
        return -1;
    if (dry_run)
        return 0;
    if (ledger_book_read(db, NULL, &book, err))
        return -1;
    int result = ledger_tell_faults(&book, &all_clusters, err);
    ledger_book_free(&book);
    return result;
}

int ledger_import_file(const struct settings *settings, const char *path, bool dry_run,
                       struct error *err)
{
    struct db *db = NULL;
    struct lines lines = { 0 };
    int result = ledger_file_read_lines(&lines, path, err) ||
                         results_open(&db, settings, DB_RESULTS, err) ||
                         refuse_limited(settings, &lines, db, err)
                     ? -1
                     : 0;
    if (!result && ledger_file_import_lines(db, &lines, dry_run, err))
        result = results_explain(settings, err);
    db_close(db);
    for (size_t i = 0; i < lines.count; i++)
        ledger_record_free(&lines.list[i].record);
    free(lines.list);
    return result;
}

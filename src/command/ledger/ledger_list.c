/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "db/db.h"
#include "report/table.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "results/schema.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Of whom: `alice in physics, partition gpu`. */
static void add_whom(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms)
{
    if (*record->user)
        text_format(text, "%s '%s'", terms->user, record->user);
    if (*record->account)
        text_format(text, "%s%s '%s'", *record->user ? " in " : "", terms->account,
                    record->account);
    if (*record->partition)
        text_format(text, ", %s '%s'", terms->partition, record->partition);
    if (!*record->user && !*record->account)
        text_add(text, "the whole cluster");
}

void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms)
{
    const struct ledger_entry *entry = &record->entry;
    switch (entry->kind) {
    case LEDGER_CREDIT:
    case LEDGER_DEBIT:
        text_format(text, "%s %" PRIu64 " %s to ", ledger_kind_name(entry->kind),
                    entry->tres_seconds, terms->unit);
        add_whom(text, record, terms);
        break;
    case LEDGER_REFUND:
        text_format(text, "refund job %" PRIu64, entry->job);
        break;
    case LEDGER_RESET:
        text_add(text, "reset ");
        add_whom(text, record, terms);
        if (!entry->of_cluster)
            text_format(text, " (%zu %s)", record->covers.count,
                        record->covers.count == 1 ? terms->association : terms->associations);
        break;
    case LEDGER_SET:
        text_add(text, "set ");
        add_whom(text, record, terms);
        text_format(text, " to %" PRIu64 " %s", entry->tres_seconds, terms->unit);
        break;
    case LEDGER_UNDO:
        text_format(text, "undo entry %" PRIu64, entry->undoes);
        break;
    }
}

/* An entry with what later ones did to it. */
struct ledger_list_row {
    const struct ledger_record *record;
    const struct terminology *terms; /* of its cluster */
    uint64_t undone_by;              /* the entry that undoes it; 0: none */
    bool undone; /* it does not count: some of its undos may be undone themselves */
    bool hidden; /* it is, or may be, another user's */
};

/* All entries. */
struct listing {
    const struct published *published;
    const struct ledger_filter *filter;
    struct ledger_book book;
    struct ledger_list_row *rows; /* of its records */
};

static void find_undos(struct listing *listing)
{
    struct id_index *places = id_index_create();
    listing->rows = memory_zeroed(listing->book.count, sizeof *listing->rows);
    for (uint32_t i = 0; i < listing->book.count; i++) {
        listing->rows[i].record = &listing->book.records[i];
        listing->rows[i].terms =
            published_words(listing->published, listing->rows[i].record->cluster);
        id_index_add(places, listing->book.records[i].entry.id, i);
    }
    /* Backwards: whether an undo counts is known before what it undoes. */
    for (size_t i = listing->book.count; i-- > 0;) {
        const struct ledger_entry *entry = &listing->book.records[i].entry;
        uint32_t place = entry->kind == LEDGER_UNDO && entry->undoes < entry->id
                             ? id_index_find(places, entry->undoes)
                             : INDEX_NONE;
        if (place == INDEX_NONE)
            continue;
        listing->rows[place].undone_by = entry->id;
        listing->rows[place].undone = !listing->rows[i].undone;
    }
    id_index_destroy(places);
}

bool ledger_may_be_told(const struct permissions *permissions, const struct ledger_record *record)
{
    return record->entry.kind == LEDGER_REFUND
               ? !permissions_are_limited_on(permissions, record->cluster, PRIVATE_ALL)
               : permissions_show(permissions, record->cluster, record->account, record->user);
}

/* Entries that may not be told, and what undoes one of these. */
static void ledger_list_hide_others(struct listing *listing, const struct permissions *permissions)
{
    struct id_index *places = id_index_create();
    for (uint32_t i = 0; permissions->login && i < listing->book.count; i++) {
        const struct ledger_record *record = &listing->book.records[i];
        uint32_t undone = record->entry.kind == LEDGER_UNDO
                              ? id_index_find(places, record->entry.undoes)
                              : INDEX_NONE;
        listing->rows[i].hidden = !ledger_may_be_told(permissions, record) ||
                                  (undone != INDEX_NONE && listing->rows[undone].hidden);
        id_index_add(places, record->entry.id, i);
    }
    id_index_destroy(places);
}

static bool ledger_list_is_asked(const struct ledger_filter *filter,
                                 const struct ledger_record *record)
{
    char job[24];
    snprintf(job, sizeof job, "%" PRIu64, record->entry.job);
    bool of_job = !filter->jobs.count ||
                  (record->entry.kind == LEDGER_REFUND && name_list_wants(&filter->jobs, job));
    bool of_partition = !filter->partition || !strcmp(record->partition, filter->partition);
    return of_job && of_partition && (int64_t)record->entry.time >= filter->from &&
           (int64_t)record->entry.time <= filter->to &&
           name_list_wants(&filter->kinds, ledger_kind_name(record->entry.kind));
}

static bool ledger_list_is_listed(const struct listing *listing, size_t i)
{
    const struct ledger_record *record = &listing->book.records[i];
    const struct published_filter *filter = &listing->filter->names;
    return !listing->rows[i].hidden && name_list_wants(&filter->clusters, record->cluster) &&
           name_list_wants(&filter->accounts, record->account) &&
           name_list_wants(&filter->users, record->user) &&
           ledger_list_is_asked(listing->filter, record);
}

/* The columns. */

static void get_words(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    struct text words = { 0 };
    add_entry_words(&words, row->record, row->terms);
    if (row->undone)
        text_format(&words, "; undone by entry %" PRIu64, row->undone_by);
    cell_format(cell, "%s", words.bytes);
    text_free(&words);
}

static void get_kind(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    cell_text(cell, ledger_kind_name(row->record->entry.kind));
}

enum { ID, TIME, ENTERED_AT, ASSOCIATION, TRES_SECONDS, JOB, COVERS, UNDOES, UNDONE_BY, COUNTS };

/* A number that not each kind of entry has. */
static void ledger_list_get_number(const void *of, struct cell *cell)
{
    const struct ledger_list_row *row = of;
    const struct ledger_entry *entry = &row->record->entry;
    bool adjusts = ledger_kind_has_amount(entry->kind);
    const struct {
        bool known;
        int64_t number;
    } numbers[] = {
        [ID] = { true, (int64_t)entry->id },
        [TIME] = { true, (int64_t)entry->time },
        [ENTERED_AT] = { true, row->record->entered_at },
        [ASSOCIATION] = { adjusts, (int64_t)entry->association },
        [TRES_SECONDS] = { adjusts, (int64_t)entry->tres_seconds },
        [JOB] = { entry->kind == LEDGER_REFUND, (int64_t)entry->job },
        [COVERS] = { ledger_kind_resets(entry->kind) && !entry->of_cluster,
                     (int64_t)row->record->covers.count },
        [UNDOES] = { entry->kind == LEDGER_UNDO, (int64_t)entry->undoes },
        [UNDONE_BY] = { row->undone_by != 0, (int64_t)row->undone_by },
        [COUNTS] = { true, !row->undone },
    };
    if (numbers[cell->column->index].known)
        cell_integer(cell, numbers[cell->column->index].number);
}

enum { CLUSTER, ACCOUNT, USER, PARTITION, WHO, WHY };

static void ledger_list_get_name(const void *of, struct cell *cell)
{
    const struct ledger_record *record = ((const struct ledger_list_row *)of)->record;
    const char *const names[] = {
        [CLUSTER] = record->cluster,     [ACCOUNT] = record->account, [USER] = record->user,
        [PARTITION] = record->partition, [WHO] = record->who,         [WHY] = record->why,
    };
    cell_text(cell, names[cell->column->index]);
}

#define NUMBER(which) COLUMN_INTEGER, .get = ledger_list_get_number, .index = which
#define NAME(which) COLUMN_TEXT, .get = ledger_list_get_name, .index = which

static const struct column columns[] = {
    { "id", "ID", NUMBER(ID) },
    { "cluster", "Cluster", NAME(CLUSTER) },
    { "instant", "Instant", COLUMN_TIME, .get = ledger_list_get_number, .index = TIME },
    { "entry", "Entry", COLUMN_TEXT, .get = get_words, .hidden = ONLY_FOR_PEOPLE },
    { "kind", "Kind", COLUMN_TEXT, .get = get_kind, .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", NAME(ACCOUNT), .hidden = NOT_FOR_PEOPLE },
    { "username", "User", NAME(USER), .hidden = NOT_FOR_PEOPLE },
    { "partition", "Partition", NAME(PARTITION), .hidden = NOT_FOR_PEOPLE },
    { "id_assoc", "AssocID", NUMBER(ASSOCIATION), .hidden = NOT_FOR_PEOPLE },
    { "tres_seconds", "TRESSeconds", NUMBER(TRES_SECONDS), .hidden = NOT_FOR_PEOPLE },
    { "id_job", "JobID", NUMBER(JOB), .hidden = NOT_FOR_PEOPLE },
    { "associations", "Associations", NUMBER(COVERS), .hidden = NOT_FOR_PEOPLE },
    { "undoes", "Undoes", NUMBER(UNDOES), .hidden = NOT_FOR_PEOPLE },
    { "undone_by", "UndoneBy", NUMBER(UNDONE_BY), .hidden = NOT_FOR_PEOPLE },
    { "counts", "Counts", COLUMN_YES_NO, .get = ledger_list_get_number, .index = COUNTS,
      .hidden = NOT_FOR_PEOPLE },
    { "entered_at", "Entered", COLUMN_TIME, .get = ledger_list_get_number, .index = ENTERED_AT },
    { "who", "By", NAME(WHO) },
    { "why", "Why", NAME(WHY) },
    { .name = NULL },
};

static const struct table_layout layout = { columns, "ledger", .by_cluster = false };

/* People see nothing at all where there is no entry. */
static int print_listing(const struct listing *listing, const struct table_options *options,
                         struct error *err)
{
    struct text text = { 0 };
    struct table *table = table_create(&text, &layout, options, err);
    bool any = false;
    for (size_t i = 0; table && i < listing->book.count; i++)
        if (ledger_list_is_listed(listing, i)) {
            table_add(table, &listing->rows[i]);
            any = true;
        }
    int result = table ? 0 : -1;
    if (table && (any || options->form != TABLE_FOR_PEOPLE))
        result = table_end(table, err);
    if (!result && text.length)
        result = command_print(&text, err);
    table_destroy(table);
    text_free(&text);
    return result;
}

static bool has_cluster(const void *context, const char *asked)
{
    const struct listing *listing = context;
    for (size_t i = 0; i < listing->book.count; i++)
        if (name_is(asked, listing->book.records[i].cluster))
            return true;
    return published_has(listing->published, asked);
}

/* A name that was asked for is that of an entry, or is published. */
static int ledger_list_check_names(const struct listing *listing, struct published *published,
                                   struct error *err)
{
    const struct published_filter *filter = &listing->filter->names;
    struct published_filter names = { .accounts = filter->accounts, .users = filter->users };
    if (name_list_check(&filter->clusters, "cluster", has_cluster, listing, err))
        return -1;
    if (!names.accounts.count && !names.users.count)
        return 0;
    if (published_select(published, &names, err))
        return -1;
    for (size_t i = 0; i < listing->book.count; i++) {
        const struct ledger_record *record = &listing->book.records[i];
        published_note_name(published, record->account, "");
        if (permissions_show(&published->permissions, record->cluster, record->account,
                             record->user))
            published_note_name(published, record->account, record->user);
    }
    return published_look_for_names(published, err);
}

int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err)
{
    struct text words = { 0 };
    struct ledger_faults faults = ledger_faults_of(book);
    if (clusters->count == 1)
        ledger_faults_keep(&faults, clusters->values[0]);
    ledger_faults_add_words(&words, &faults);
    int result = !faults.count ? 0
                               : fail(err, ERROR_OTHER,
                                      "%s; `fairmill help ledger` says what to do", words.bytes);
    ledger_faults_free(&faults);
    text_free(&words);
    return result;
}

static bool is_kind(const void *context, const char *asked)
{
    (void)context;
    return ledger_kind_named(asked) != LEDGER_KINDS;
}

int ledger_print(const struct settings *settings, const struct ledger_filter *filter,
                 const struct table_options *options, struct error *err)
{
    if (table_check(&layout, options, err) ||
        name_list_check(&filter->kinds, "kind of entries", is_kind, NULL, err))
        return -1;
    struct published published;
    struct listing listing = { .published = &published, .filter = filter };
    int result = published_begin(&published, settings, err);
    if (!result)
        result = ledger_book_read(published.db, NULL, &listing.book, err);
    if (!result)
        result = ledger_list_check_names(&listing, &published, err);
    published_close(&published);
    find_undos(&listing);
    ledger_list_hide_others(&listing, &published.permissions);
    result = result ? results_explain(settings, err) : print_listing(&listing, options, err);
    if (!result)
        result = ledger_tell_faults(&listing.book, &filter->names.clusters, err);
    ledger_book_free(&listing.book);
    free(listing.rows);
    published_free(&published);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "command/command.h"
#include "command/ledger/ledger.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "results/schema.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

void add_instant(struct text *text, int64_t instant)
{
    time_t time = (time_t)instant;
    struct tm date;
    char shown[64];
    if (localtime_r(&time, &date) && strftime(shown, sizeof shown, "%Y-%m-%dT%H:%M:%S", &date))
        text_add(text, shown);
    else
        text_format(text, "%" PRId64, instant);
}

/* Of whom: `alice in physics, partition gpu`. */
static void add_whom(struct text *text, const struct ledger_record *record)
{
    if (*record->user)
        text_format(text, "user '%s'", record->user);
    if (*record->account)
        text_format(text, "%saccount '%s'", *record->user ? " in " : "", record->account);
    if (*record->partition)
        text_format(text, ", partition '%s'", record->partition);
    if (!*record->user && !*record->account)
        text_add(text, "the whole cluster");
}

void add_deed(struct text *text, const struct ledger_record *record)
{
    const struct ledger_entry *entry = &record->entry;
    switch (entry->kind) {
    case LEDGER_CREDIT:
    case LEDGER_DEBIT:
        text_format(text, "%s %" PRIu64 " TRES-seconds to ", ledger_kind_name(entry->kind),
                    entry->tres_seconds);
        add_whom(text, record);
        break;
    case LEDGER_REFUND:
        text_format(text, "refund job %" PRIu64, entry->job);
        break;
    case LEDGER_RESET:
        text_add(text, "reset ");
        add_whom(text, record);
        if (!entry->of_cluster)
            text_format(text, " (%" PRIu64 " association%s)", record->covers,
                        record->covers == 1 ? "" : "s");
        break;
    case LEDGER_UNDO:
        text_format(text, "undo entry %" PRIu64, entry->undoes);
        break;
    }
}

/* All entries, and of each the one that undoes it. */
struct listing {
    const struct published *published;
    const struct published_filter *filter; /* of the entries */
    struct ledger_record *records;
    size_t count;
    uint64_t *undone_by; /* 0: none */
    bool *undone;        /* it does not count: some of its undos may be undone themselves */
    bool *hidden;        /* it is, or may be, another user's */
};

static void find_undos(struct listing *listing)
{
    struct id_index *places = id_index_create();
    listing->undone_by = memory_zeroed(listing->count, sizeof *listing->undone_by);
    listing->undone = memory_zeroed(listing->count, sizeof *listing->undone);
    listing->hidden = memory_zeroed(listing->count, sizeof *listing->hidden);
    for (uint32_t i = 0; i < listing->count; i++)
        id_index_add(places, listing->records[i].entry.id, i);
    /* Backwards: whether an undo counts is known before what it undoes. */
    for (size_t i = listing->count; i-- > 0;) {
        const struct ledger_entry *entry = &listing->records[i].entry;
        uint32_t place = entry->kind == LEDGER_UNDO && entry->undoes < entry->id
                             ? id_index_find(places, entry->undoes)
                             : INDEX_NONE;
        if (place == INDEX_NONE)
            continue;
        listing->undone_by[place] = entry->id;
        listing->undone[place] = !listing->undone[i];
    }
    id_index_destroy(places);
}

/* With `login` (NULL: nobody's are hidden) the entries of other users, refunds, of which the ledger
 * does not know whose job it was, and what undoes one of these. */
static void hide_others(struct listing *listing, const char *login)
{
    struct id_index *places = id_index_create();
    for (uint32_t i = 0; login && i < listing->count; i++) {
        const struct ledger_record *record = &listing->records[i];
        uint32_t undone = record->entry.kind == LEDGER_UNDO
                              ? id_index_find(places, record->entry.undoes)
                              : INDEX_NONE;
        listing->hidden[i] = (*record->user && strcmp(record->user, login) != 0) ||
                             record->entry.kind == LEDGER_REFUND ||
                             (undone != INDEX_NONE && listing->hidden[undone]);
        id_index_add(places, record->entry.id, i);
    }
    id_index_destroy(places);
}

static bool is_listed(const struct listing *listing, size_t i)
{
    const struct ledger_record *record = &listing->records[i];
    const struct published_filter *filter = listing->filter;
    return !listing->hidden[i] && name_list_wants(&filter->clusters, record->cluster) &&
           name_list_wants(&filter->accounts, record->account) &&
           name_list_wants(&filter->users, record->user);
}

static void add_entry(struct text *text, const struct listing *listing, size_t i)
{
    const struct ledger_record *record = &listing->records[i];
    struct text deed = { 0 }, shown = { 0 };
    add_deed(&deed, record);
    if (listing->undone[i])
        text_format(&deed, "; undone by entry %" PRIu64, listing->undone_by[i]);
    text_format(&shown, "%s: %s\n", record->cluster, deed.bytes);
    text_format(text, "%-5" PRIu64 " ", record->entry.id);
    add_instant(text, (int64_t)record->entry.instant);
    text_add(text, "  ");
    shown.bytes[--shown.length] = '\0';
    text_add_printable(text, shown.bytes);
    text_add(text, "\n      entered ");
    add_instant(text, record->entered_at);
    text_add(text, " by ");
    text_add_printable(text, record->who);
    text_add(text, ": ");
    text_add_printable(text, record->why);
    text_add(text, "\n");
    text_free(&deed);
    text_free(&shown);
}

static json_t *number_or_null(bool known, uint64_t number)
{
    return known ? json_integer((json_int_t)number) : json_null();
}

static json_t *json_of(const struct listing *listing, size_t i)
{
    const struct ledger_record *record = &listing->records[i];
    const struct ledger_entry *entry = &record->entry;
    bool adjusts = entry->kind == LEDGER_CREDIT || entry->kind == LEDGER_DEBIT;
    json_t *object = json_object();
    json_object_set_new(object, "id", json_integer((json_int_t)entry->id));
    json_object_set_new(object, "cluster", json_string(record->cluster));
    json_object_set_new(object, "instant", json_integer((json_int_t)entry->instant));
    json_object_set_new(object, "entered_at", json_integer(record->entered_at));
    json_object_set_new(object, "who", json_string(record->who));
    json_object_set_new(object, "why", json_string(record->why));
    json_object_set_new(object, "kind", json_string(ledger_kind_name(entry->kind)));
    json_object_set_new(object, "account", json_string(record->account));
    json_object_set_new(object, "user", json_string(record->user));
    json_object_set_new(object, "partition", json_string(record->partition));
    json_object_set_new(object, "id_assoc", number_or_null(adjusts, entry->association));
    json_object_set_new(object, "tres_seconds", number_or_null(adjusts, entry->tres_seconds));
    json_object_set_new(object, "job", number_or_null(entry->kind == LEDGER_REFUND, entry->job));
    json_object_set_new(
        object, "associations",
        number_or_null(entry->kind == LEDGER_RESET && !entry->of_cluster, record->covers));
    json_object_set_new(object, "undoes",
                        number_or_null(entry->kind == LEDGER_UNDO, entry->undoes));
    json_object_set_new(object, "undone_by",
                        number_or_null(listing->undone_by[i] != 0, listing->undone_by[i]));
    json_object_set_new(object, "counts", json_boolean(!listing->undone[i]));
    return object;
}

static void add_json(struct text *text, const struct listing *listing)
{
    json_t *document = json_object(), *entries = json_array();
    for (size_t i = 0; i < listing->count; i++)
        if (is_listed(listing, i))
            json_array_append_new(entries, json_of(listing, i));
    json_object_set_new(document, "ledger", entries);
    char *dumped = json_dumps(document, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    json_decref(document);
    text_format(text, "%s\n", dumped);
    free(dumped);
}

static bool has_cluster(const void *context, const char *asked)
{
    const struct listing *listing = context;
    for (size_t i = 0; i < listing->count; i++)
        if (name_is(asked, listing->records[i].cluster))
            return true;
    return published_has(listing->published, asked);
}

/* A name that was asked for is that of an entry, or is published. */
static int check_names(const struct listing *listing, struct published *published,
                       struct error *err)
{
    const struct published_filter *filter = listing->filter;
    struct published_filter names = { .accounts = filter->accounts, .users = filter->users };
    if (name_list_check(&filter->clusters, "cluster", has_cluster, listing, err))
        return -1;
    if (!names.accounts.count && !names.users.count)
        return 0;
    if (published_select(published, &names, err))
        return -1;
    for (size_t i = 0; i < listing->count; i++) {
        published_note_name(published, listing->records[i].account, "");
        published_note_name(published, listing->records[i].account, listing->records[i].user);
    }
    return published_look_for_names(published, err);
}

int ledger_print(const struct settings *settings, const struct published_filter *filter, bool json,
                 struct error *err)
{
    struct published published;
    struct listing listing = { .published = &published, .filter = filter };
    struct text text = { 0 };
    int result = published_begin(&published, settings, err);
    if (!result)
        result = ledger_read_all(published.db, &listing.records, &listing.count, err);
    if (!result)
        result = check_names(&listing, &published, err);
    published_close(&published);
    find_undos(&listing);
    hide_others(&listing, published.login);
    if (!result && json)
        add_json(&text, &listing);
    for (size_t i = 0; !result && !json && i < listing.count; i++)
        if (is_listed(&listing, i))
            add_entry(&text, &listing, i);
    result = result ? results_explain(settings, err) : text.length ? command_print(&text, err) : 0;
    text_free(&text);
    for (size_t i = 0; i < listing.count; i++)
        ledger_record_free(&listing.records[i]);
    free(listing.records);
    free(listing.undone_by);
    free(listing.undone);
    free(listing.hidden);
    published_free(&published);
    return result;
}

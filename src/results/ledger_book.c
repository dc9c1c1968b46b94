/* SPDX-License-Identifier: MIT */
#include "results/ledger_book.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/finding.h"
#include "util/memory.h"
#include "util/text.h"

/* Maximum number of missing entries that are reported for one gap in the ids. */
#define NAMED_OF_GAP 1000
/* Maximum number of entries that a message lists. */
#define SAID_AT_MOST 10

void ledger_record_free(struct ledger_record *record)
{
    free(record->cluster);
    free(record->who);
    free(record->why);
    free(record->account);
    free(record->user);
    free(record->partition);
    job_keys_free(&record->covers);
    *record = (struct ledger_record){ 0 };
}

static void free_marks(struct ledger_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        free(marks->list[i].cluster);
    free(marks->list);
}

void ledger_book_free(struct ledger_book *book)
{
    for (size_t i = 0; i < book->count; i++)
        ledger_record_free(&book->records[i]);
    free(book->records);
    free_marks(&book->made);
    free_marks(&book->counted);
    free(book->loose);
    *book = (struct ledger_book){ 0 };
}

void ledger_book_keep_counted(struct ledger_book *book, const char *cluster, int64_t from)
{
    size_t kept = 0;
    for (size_t i = 0; i < book->count; i++) {
        struct ledger_record *record = &book->records[i];
        if (strcmp(record->cluster, cluster) != 0 || record->entered_at < from ||
            ledger_mark_find(&book->counted, record->entry.id))
            book->records[kept++] = *record;
        else
            ledger_record_free(record);
    }
    book->count = kept;
}

struct ledger *ledger_of(const struct ledger_book *book, const char *cluster)
{
    struct ledger *ledger = ledger_create();
    for (size_t i = 0; i < book->count; i++) {
        const struct ledger_record *record = &book->records[i];
        if (strcmp(record->cluster, cluster) != 0)
            continue;
        ledger_add(ledger, &record->entry);
        for (size_t k = 0; k < record->covers.count; k++)
            ledger_add_cover(ledger, record->entry.id, record->covers.keys[k]);
    }
    return ledger;
}

/* struct ledger_record and struct ledger_mark both begin with the id. */
static int ledger_book_by_id(const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key, other = *(const uint64_t *)element;
    return (id > other) - (id < other);
}

const struct ledger_record *ledger_book_find(const struct ledger_book *book, uint64_t id)
{
    return book->count
               ? bsearch(&id, book->records, book->count, sizeof *book->records, ledger_book_by_id)
               : NULL;
}

const struct ledger_mark *ledger_mark_find(const struct ledger_marks *marks, uint64_t id)
{
    return marks->count
               ? bsearch(&id, marks->list, marks->count, sizeof *marks->list, ledger_book_by_id)
               : NULL;
}

static void ledger_book_spell(XXH128_hash_t hash, char digits[LEDGER_HASH])
{
    snprintf(digits, LEDGER_HASH, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
             (uint64_t)hash.low64);
}

/*
 * The hashed text consists of decimal numbers and texts, each followed by a NUL, which no text
 * contains.
 */
void ledger_hash(const struct ledger_record *record, char hash[LEDGER_HASH])
{
    const struct ledger_entry *entry = &record->entry;
    const uint64_t numbers[] = {
        entry->id,          entry->time,          (uint64_t)record->entered_at,
        entry->association, entry->tres_seconds,  entry->job,
        entry->undoes,      record->covers.count,
    };
    const char *const texts[] = {
        entry->kind < LEDGER_KINDS ? ledger_kind_name(entry->kind) : "",
        record->cluster,
        record->who,
        record->why,
        record->account,
        record->user,
        record->partition,
    };
    struct text all = { 0 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_format(&all, "%" PRIu64 "%c", numbers[i], 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_add_bytes(&all, texts[i], strlen(texts[i]) + 1);
    for (size_t i = 0; i < record->covers.count; i++)
        text_format(&all, "%" PRIu64 "%c", record->covers.keys[i], 0);
    ledger_book_spell(XXH3_128bits(all.bytes, all.length), hash);
    text_free(&all);
}

void ledger_link(char chain[LEDGER_HASH], const char *hash)
{
    char both[2 * LEDGER_HASH];
    int length = snprintf(both, sizeof both, "%s %s", chain, hash);
    ledger_book_spell(XXH3_128bits(both, (size_t)length), chain);
}

static void add_fault(struct ledger_faults *faults, uint64_t id, const char *cluster, bool lost)
{
    *memory_append(&faults->list, &faults->count) =
        (struct ledger_fault){ .id = id, .cluster = cluster, .lost = lost };
}

/*
 * Verification of the ledger: visits all ids with an entry or a recorded hash, in ascending order.
 *
 * For each id, the hash of the entry must equal the recorded hashes.  The hash then extends the
 * chain, which must equal the chain value stored with the entry.  Missing ids between entries are
 * collected as gaps.  The next stored chain value decides whether they are losses.
 */
struct ledger_book_walk {
    const struct ledger_book *book;
    size_t record, made, counted; /* current indexes */
    uint64_t last;                /* previous id */
    struct ledger_faults gaps;    /* missing ids since the last entry with a chain value */
    struct ledger_faults faults;
};

/* The entry and the recorded hashes of one id; NULL if missing. */
struct ledger_book_known {
    uint64_t id;
    const struct ledger_record *record;
    const struct ledger_mark *made, *counted;
};

static const struct ledger_mark *next_mark(const struct ledger_marks *marks, size_t place,
                                           uint64_t *id)
{
    const struct ledger_mark *mark = place < marks->count ? &marks->list[place] : NULL;
    if (mark && mark->id < *id)
        *id = mark->id;
    return mark;
}

/* Returns the first hash of an id and skips its other hashes. */
static const struct ledger_mark *take_mark(const struct ledger_marks *marks, size_t *place,
                                           uint64_t id)
{
    const struct ledger_mark *mark = NULL;
    for (; *place < marks->count && marks->list[*place].id == id; ++*place)
        mark = mark ? mark : &marks->list[*place];
    return mark;
}

static bool next_known(struct ledger_book_walk *walk, struct ledger_book_known *known)
{
    const struct ledger_book *book = walk->book;
    bool is_record = walk->record < book->count;
    uint64_t id = is_record ? book->records[walk->record].entry.id : UINT64_MAX;
    bool any = is_record;
    any |= next_mark(&book->made, walk->made, &id) != NULL;
    any |= next_mark(&book->counted, walk->counted, &id) != NULL;
    if (!any)
        return false;
    *known = (struct ledger_book_known){ .id = id };
    if (is_record && book->records[walk->record].entry.id == id)
        known->record = &book->records[walk->record++];
    known->made = take_mark(&book->made, &walk->made, id);
    known->counted = take_mark(&book->counted, &walk->counted, id);
    return true;
}

static void note_gap(struct ledger_book_walk *walk, uint64_t id)
{
    for (uint64_t each = walk->last + 1; each < id && each <= walk->last + NAMED_OF_GAP; each++)
        add_fault(&walk->gaps, each, NULL, true);
    walk->last = id;
}

/* Checks that a recorded entry exists with the recorded hash.  Returns true if so. */
static bool check_record(struct ledger_book_walk *walk, const struct ledger_book_known *known,
                         const char *hash)
{
    const struct ledger_mark *noted = known->made ? known->made : known->counted;
    bool good = known->record && (!noted || !strcmp(hash, noted->hash)) &&
                (!known->counted || !strcmp(hash, known->counted->hash));
    if (!good)
        add_fault(&walk->faults, known->id, noted->cluster, !known->record);
    return good;
}

/*
 * A gap in the ids need not be a loss: rows that were added by hand may have any id.  Only a chain
 * value that does not match shows that an entry is lost.
 */
static void check_link(struct ledger_book_walk *walk, const struct ledger_book_known *known,
                       bool good)
{
    struct ledger_faults *gaps = &walk->gaps;
    bool fits = !strcmp(walk->faults.chain, known->made->chain);
    for (size_t i = 0; !fits && i < gaps->count; i++)
        add_fault(&walk->faults, gaps->list[i].id, NULL, true);
    if (!fits && !gaps->count && good)
        add_fault(&walk->faults, known->id, known->made->cluster, false);
    gaps->count = 0;
    memcpy(walk->faults.chain, known->made->chain, LEDGER_HASH);
}

static void ledger_book_look_at(struct ledger_book_walk *walk,
                                const struct ledger_book_known *known)
{
    char hash[LEDGER_HASH] = "";
    const struct ledger_mark *noted = known->made ? known->made : known->counted;
    if (known->record)
        ledger_hash(known->record, hash);
    bool good = check_record(walk, known, hash);
    note_gap(walk, known->id);
    ledger_link(walk->faults.chain, noted ? noted->hash : hash);
    if (known->made)
        check_link(walk, known, good);
}

/* Removes the faults of undone entries, because an undone entry has no effect on usage. */
static void accept_undone(const struct ledger_book *book, struct ledger_faults *faults)
{
    struct ledger *ledger = faults->count ? ledger_create() : NULL;
    size_t left = 0;
    for (size_t i = 0; ledger && i < book->count; i++)
        ledger_add(ledger, &book->records[i].entry);
    for (size_t i = 0; i < faults->count; i++)
        if (faults->list[i].lost)
            ledger_add(ledger, &(struct ledger_entry){ .id = faults->list[i].id });
    for (size_t i = 0; i < faults->count; i++)
        if (!ledger_is_undone(ledger, faults->list[i].id))
            faults->list[left++] = faults->list[i];
    faults->count = left;
    ledger_destroy(ledger);
}

struct ledger_faults ledger_faults_of(const struct ledger_book *book)
{
    struct ledger_book_walk walk = { .book = book };
    struct ledger_book_known known;
    while (next_known(&walk, &known))
        ledger_book_look_at(&walk, &known);
    accept_undone(book, &walk.faults);
    ledger_faults_free(&walk.gaps);
    return walk.faults;
}

static bool is_of_other(const struct ledger_record *record, const struct ledger_mark *mark)
{
    return mark && strcmp(mark->cluster, record->cluster) != 0;
}

struct ledger_faults ledger_unproven_of(const struct ledger_book *book, int64_t since)
{
    struct ledger_faults faults = { 0 };
    uint64_t first = book->made.count ? book->made.list[0].id : UINT64_MAX;
    for (size_t i = 0; i < book->count; i++) {
        const struct ledger_record *record = &book->records[i];
        uint64_t id = record->entry.id;
        if (is_of_other(record, ledger_mark_find(&book->made, id)) ||
            is_of_other(record, ledger_mark_find(&book->counted, id)))
            add_fault(&faults, id, record->cluster, false);
        if ((id < first && record->entered_at < since) || ledger_mark_find(&book->made, id))
            continue;
        add_fault(&faults, id, record->cluster, false);
        faults.list[faults.count - 1].unproven = true;
    }
    accept_undone(book, &faults);
    return faults;
}

void ledger_faults_free(struct ledger_faults *faults)
{
    free(faults->list);
    *faults = (struct ledger_faults){ 0 };
}

void ledger_faults_keep(struct ledger_faults *faults, const char *cluster)
{
    size_t left = 0;
    for (size_t i = 0; i < faults->count; i++) {
        const struct ledger_fault *fault = &faults->list[i];
        if (!fault->cluster || !strcmp(fault->cluster, cluster))
            faults->list[left++] = *fault;
    }
    faults->count = left;
}

void ledger_faults_add_words(struct text *text, const struct ledger_faults *faults)
{
    for (size_t i = 0; i < faults->count && i < SAID_AT_MOST; i++)
        text_format(text, "%s entry %" PRIu64 " %s", i ? "," : "the ledger:", faults->list[i].id,
                    faults->list[i].lost       ? "is lost"
                    : faults->list[i].unproven ? "has no hash in fairmill_ledger_chain"
                                               : "is not as it was entered");
    if (faults->count > SAID_AT_MOST)
        text_format(text, ", and %zu more", faults->count - SAID_AT_MOST);
}

void ledger_faults_note(const struct ledger_faults *faults, struct findings *findings)
{
    for (size_t i = 0; i < faults->count; i++)
        findings_add(findings, faults->list[i].lost ? FINDING_LEDGER_LOST : FINDING_LEDGER_CHANGED,
                     faults->list[i].id, "%s",
                     faults->list[i].cluster ? "" : "its cluster is unknown");
}

/* SPDX-License-Identifier: MIT */
#include "core/usage/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "util/index.h"
#include "util/memory.h"

const char *ledger_kind_name(enum ledger_kind kind)
{
    static const char *const names[LEDGER_KINDS] = { "credit", "debit", "refund",
                                                     "reset",  "set",   "undo" };
    return names[kind];
}

enum ledger_kind ledger_kind_named(const char *name)
{
    enum ledger_kind kind = 0;
    while (kind < LEDGER_KINDS && strcmp(ledger_kind_name(kind), name) != 0)
        kind++;
    return kind;
}

bool ledger_kind_has_amount(enum ledger_kind kind)
{
    return kind == LEDGER_CREDIT || kind == LEDGER_DEBIT || kind == LEDGER_SET;
}

bool ledger_kind_resets(enum ledger_kind kind)
{
    return kind == LEDGER_RESET || kind == LEDGER_SET;
}

struct ledger *ledger_create(void)
{
    return memory_zeroed(1, sizeof(struct ledger));
}

void ledger_destroy(struct ledger *ledger)
{
    if (!ledger)
        return;
    free(ledger->entries);
    free(ledger->covers);
    free(ledger);
}

void ledger_add(struct ledger *ledger, const struct ledger_entry *entry)
{
    *memory_append(&ledger->entries, &ledger->count) = *entry;
}

void ledger_add_cover(struct ledger *ledger, uint64_t id, uint64_t association)
{
    *memory_append(&ledger->covers, &ledger->cover_count) =
        (struct ledger_cover){ id, association };
}

/* `places` maps an id to the index of its entry.  undone_by[i] is the index of the entry that
 * undoes entry i, or INDEX_NONE. */
struct chains {
    struct id_index *places;
    uint32_t *undone_by;
};

static struct chains chains_of(const struct ledger *ledger)
{
    struct chains chains = { id_index_create(), memory_zeroed(ledger->count, sizeof(uint32_t)) };
    for (uint32_t i = 0; i < ledger->count; i++) {
        chains.undone_by[i] = INDEX_NONE;
        id_index_add(chains.places, ledger->entries[i].id, i);
    }
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        uint32_t undone = entry->kind == LEDGER_UNDO && entry->undoes < entry->id
                              ? id_index_find(chains.places, entry->undoes)
                              : INDEX_NONE;
        if (undone != INDEX_NONE)
            chains.undone_by[undone] = i;
    }
    return chains;
}

static void chains_free(struct chains *chains)
{
    id_index_destroy(chains->places);
    free(chains->undone_by);
}

/* Returns the index of the last entry of a chain.  Ids ascend along a chain, so it ends. */
static uint32_t end_of_chain(const struct chains *chains, uint32_t place, unsigned *undos)
{
    for (*undos = 0; chains->undone_by[place] != INDEX_NONE; ++*undos)
        place = chains->undone_by[place];
    return place;
}

const struct ledger_entry *ledger_last_undo(const struct ledger *ledger, uint64_t id)
{
    struct chains chains = chains_of(ledger);
    uint32_t place = id_index_find(chains.places, id);
    unsigned undos;
    if (place != INDEX_NONE)
        place = end_of_chain(&chains, place, &undos);
    chains_free(&chains);
    return place == INDEX_NONE ? NULL : &ledger->entries[place];
}

bool ledger_is_undone(const struct ledger *ledger, uint64_t id)
{
    struct chains chains = chains_of(ledger);
    uint32_t place = id_index_find(chains.places, id);
    unsigned undos = 0;
    if (place != INDEX_NONE)
        end_of_chain(&chains, place, &undos);
    chains_free(&chains);
    return undos % 2;
}

struct ledger *ledger_coming(const struct ledger *ledger, uint64_t now, uint64_t end)
{
    struct ledger *coming = ledger_create();
    struct chains chains = chains_of(ledger);
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        unsigned undos;
        end_of_chain(&chains, i, &undos);
        if (entry->kind != LEDGER_UNDO && !(undos % 2) && entry->time > now && entry->time <= end)
            ledger_add(coming, entry);
    }
    for (size_t i = 0; i < ledger->cover_count; i++)
        ledger_add_cover(coming, ledger->covers[i].id, ledger->covers[i].association);
    chains_free(&chains);
    return coming;
}

/*
 * Returns true if the entry changes usage before its time.  Resets of the whole cluster are not
 * included; they set the start of the decay table.
 */
static bool is_of_past(const struct ledger_entry *entry)
{
    return entry->kind == LEDGER_REFUND || (ledger_kind_resets(entry->kind) && !entry->of_cluster);
}

uint64_t ledger_next(const struct ledger *coming, uint64_t after, bool of_past)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < coming->count; i++) {
        const struct ledger_entry *entry = &coming->entries[i];
        if (entry->time > after && entry->time < next && (!of_past || is_of_past(entry)))
            next = entry->time;
    }
    return next;
}

struct ledger *ledger_foreseen(const struct ledger *ledger, uint64_t now, uint64_t until)
{
    struct ledger *foreseen = ledger_create();
    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry entry = ledger->entries[i];
        if (is_of_past(&entry) && entry.time > now && entry.time <= until) {
            entry.time = now;
            entry.kind = entry.kind == LEDGER_SET ? LEDGER_RESET : entry.kind;
        }
        ledger_add(foreseen, &entry);
    }
    for (size_t i = 0; i < ledger->cover_count; i++)
        ledger_add_cover(foreseen, ledger->covers[i].id, ledger->covers[i].association);
    return foreseen;
}

static int ledger_by_job(const void *a, const void *b)
{
    const struct ledger_entry *one = a, *other = b;
    return (one->job > other->job) - (one->job < other->job);
}

/* If a job has several refunds, the latest one determines which rows are refunded. */
static void add_refunds(struct ledger_state *state, struct ledger_entry *refunds, size_t count)
{
    if (!count)
        return;
    qsort(refunds, count, sizeof *refunds, ledger_by_job);
    state->refunded_until = memory_zeroed(count, sizeof *state->refunded_until);
    for (size_t i = 0; i < count; i++) {
        if (!i || refunds[i].job != refunds[i - 1].job)
            job_keys_add(&state->refunded, refunds[i].job);
        uint64_t *until = &state->refunded_until[state->refunded.count - 1];
        if (refunds[i].time > *until)
            *until = refunds[i].time;
    }
}

static int by_association(const void *a, const void *b)
{
    const struct ledger_reset *one = a, *other = b;
    if (one->association != other->association)
        return one->association < other->association ? -1 : 1;
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    return (one->entry > other->entry) - (one->entry < other->entry);
}

/* Adds the resets.  `counts` is true for each entry of the ledger that is in effect. */
static void add_resets(struct ledger_state *state, const struct ledger *ledger,
                       const struct chains *chains, const bool *counts)
{
    state->resets = memory_zeroed(ledger->cover_count, sizeof *state->resets);
    for (size_t i = 0; i < ledger->cover_count; i++) {
        uint32_t place = id_index_find(chains->places, ledger->covers[i].id);
        if (place != INDEX_NONE && counts[place])
            state->resets[state->reset_count++] =
                (struct ledger_reset){ ledger->covers[i].association, ledger->entries[place].time,
                                       ledger->covers[i].id };
    }
    if (state->reset_count)
        qsort(state->resets, state->reset_count, sizeof *state->resets, by_association);
    for (uint32_t i = 0; i < state->reset_count; i++)
        id_index_add(state->places, state->resets[i].association, i);
}

/* Returns the last reset of the association before `before`, or NULL. */
static const struct ledger_reset *ledger_last_reset(const struct ledger_state *state,
                                                    uint64_t association, uint64_t before)
{
    const struct ledger_reset *last = NULL;
    uint32_t i = state->reset_count ? id_index_find(state->places, association) : INDEX_NONE;
    for (; i < state->reset_count && state->resets[i].association == association &&
           state->resets[i].time < before;
         i++)
        last = &state->resets[i];
    return last;
}

/* Returns true if no later reset or set covers the association of `set`. */
static bool is_last_reset(const struct ledger_state *state, const struct ledger_entry *set)
{
    const struct ledger_reset *last = ledger_last_reset(state, set->association, UINT64_MAX);
    return last && last->entry == set->id &&
           (state->cluster_reset < set->time ||
            (state->cluster_reset == set->time && state->cluster_reset_entry < set->id));
}

static void drop_outdated_sets(struct ledger_state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->adjustment_count; i++) {
        const struct ledger_entry *entry = &state->adjustments[i];
        if (entry->kind != LEDGER_SET || is_last_reset(state, entry))
            state->adjustments[kept++] = *entry;
    }
    state->adjustment_count = kept;
}

static void note_cluster_reset(struct ledger_state *state, const struct ledger_entry *entry)
{
    if (entry->time < state->cluster_reset ||
        (entry->time == state->cluster_reset && entry->id < state->cluster_reset_entry))
        return;
    state->cluster_reset = entry->time;
    state->cluster_reset_entry = entry->id;
}

static void sort_out(struct ledger_state *state, const struct ledger *ledger,
                     const struct chains *chains, uint64_t now)
{
    bool *counts = memory_zeroed(ledger->count, sizeof *counts);
    struct ledger_entry *refunds = memory_zeroed(ledger->count, sizeof *refunds);
    size_t refund_count = 0;
    state->adjustments = memory_zeroed(ledger->count, sizeof *state->adjustments);
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        unsigned undos;
        end_of_chain(chains, i, &undos);
        if (entry->time > now || undos % 2)
            continue;
        counts[i] = true;
        if (entry->kind == LEDGER_REFUND)
            refunds[refund_count++] = *entry;
        else if (ledger_kind_has_amount(entry->kind))
            state->adjustments[state->adjustment_count++] = *entry;
        else if (entry->kind == LEDGER_RESET && entry->of_cluster)
            note_cluster_reset(state, entry);
    }
    add_refunds(state, refunds, refund_count);
    add_resets(state, ledger, chains, counts);
    drop_outdated_sets(state);
    free(refunds);
    free(counts);
}

struct ledger_state *ledger_at(const struct ledger *ledger, uint64_t now)
{
    struct ledger_state *state = memory_zeroed(1, sizeof *state);
    state->places = id_index_create();
    if (ledger && ledger->count) {
        struct chains chains = chains_of(ledger);
        sort_out(state, ledger, &chains, now);
        chains_free(&chains);
    }
    return state;
}

void ledger_state_destroy(struct ledger_state *state)
{
    if (!state)
        return;
    free(state->adjustments);
    job_keys_free(&state->refunded);
    free(state->refunded_until);
    free(state->resets);
    id_index_destroy(state->places);
    free(state);
}

uint64_t ledger_reset_before(const struct ledger_state *state, uint64_t association,
                             uint64_t before)
{
    const struct ledger_reset *last = ledger_last_reset(state, association, before);
    return last ? last->time : 0;
}

uint64_t ledger_resets_hash(const struct ledger_state *state, uint64_t before)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < state->reset_count; i++) {
        const struct ledger_reset *reset = &state->resets[i];
        bool is_last = i + 1 == state->reset_count || reset[1].association != reset->association ||
                       reset[1].time >= before;
        uint64_t words[] = { reset->association, reset->time };
        if (reset->time < before && is_last)
            hash += hash_words(words, sizeof words / sizeof *words);
    }
    return hash;
}

bool ledger_refunds(const struct ledger_state *state, uint64_t job, uint64_t begin)
{
    size_t low = 0, high = state->refunded.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->refunded.keys[middle] < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < state->refunded.count && state->refunded.keys[low] == job &&
           begin <= state->refunded_until[low];
}

uint128 ledger_weight(const struct ledger_state *state, const struct ledger_entry *adjustment,
                      const struct decay_table *decay, uint128 *units, bool *negative)
{
    uint64_t end = adjustment->time, start = end ? end - 1 : 0;
    uint64_t reset = ledger_reset_before(state, adjustment->association, UINT64_MAX);
    *units = (uint128)adjustment->tres_seconds * UNITS_PER_TRES;
    *negative = adjustment->kind == LEDGER_CREDIT;
    if (adjustment->kind == LEDGER_SET)
        return decay_table_weight_at(decay, end);
    return decay_table_weight(decay, start < reset ? reset : start, end);
}

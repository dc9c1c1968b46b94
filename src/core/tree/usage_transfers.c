/* SPDX-License-Identifier: MIT */
#include "core/tree/usage_transfers.h"

#include <stdlib.h>

#include "core/tree/timeline.h"
#include "core/tree/tree.h"
#include "core/usage/usage_owners.h"
#include "util/index.h"
#include "util/memory.h"

#define NOBODY UINT32_MAX /* no subject, or no name */

/* A removal of a subject. */
struct death {
    uint32_t subject, parent; /* indexes of subjects; the parent at that time */
    int64_t at;
    uint32_t heir; /* index of the account that gets the usage, or NOBODY */
    bool visited;
};

/* An account with the name and the time from which it had that name. */
struct usage_transfer_account {
    uint32_t name, place;
    int64_t born;
};

struct family {
    struct timeline timeline;
    uint32_t *account, *user;                /* names, indexed by subject; NOBODY if unknown */
    struct usage_transfer_account *accounts; /* sorted by name and creation time */
    size_t account_count;
    struct death *deaths; /* sorted by subject and time */
    size_t death_count;
    size_t *first_death; /* index in `deaths`, for each subject; one more element marks the end */
};

/* Names. */

/*
 * Returns the earliest time at which the subject can have existed.  For subjects without a row, the
 * timeline derives cascades by name, even from times before such a subject existed.
 */
static int64_t birth_of(const struct subject *subject)
{
    const struct change *first = subject->changes;
    if (subject->row != NO_ROW)
        return subject->created;
    while (first < subject->end && first->kind != CHANGE_ADDED && first->kind != CHANGE_REMOVED)
        first++;
    return first < subject->end && first->kind == CHANGE_ADDED ? first->at : NEVER;
}

static void name_subject(struct family *family, uint32_t place)
{
    const struct subject *subject = &family->timeline.subjects[place];
    const struct association *row = timeline_row(&family->timeline, subject);
    const struct change *change = subject->changes;
    while (!row && change < subject->end && change->kind != CHANGE_ADDED)
        change++;
    bool is_told = row || change < subject->end;
    family->account[place] = !is_told ? NOBODY : row ? row->account : change->account;
    family->user[place] = !is_told ? NOBODY : row ? row->user : change->user;
}

static int by_name_and_birth(const void *a, const void *b)
{
    const struct usage_transfer_account *one = a, *other = b;
    if (one->name != other->name)
        return one->name < other->name ? -1 : 1;
    if (one->born != other->born)
        return one->born < other->born ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static void name_all(struct family *family)
{
    const struct timeline *timeline = &family->timeline;
    size_t count = timeline->subject_count;
    family->account = memory_zeroed(count + 1, sizeof *family->account);
    family->user = memory_zeroed(count + 1, sizeof *family->user);
    family->accounts = memory_zeroed(count + 1, sizeof *family->accounts);
    for (uint32_t i = 0; i < count; i++) {
        name_subject(family, i);
        if (family->user[i] == timeline->present.empty_name)
            family->accounts[family->account_count++] =
                (struct usage_transfer_account){ family->account[i], i,
                                                 birth_of(&timeline->subjects[i]) };
    }
    qsort(family->accounts, family->account_count, sizeof *family->accounts, by_name_and_birth);
}

/*
 * Returns the account that had a name at a time: the last account with that name created up to
 * then.
 */
static uint32_t account_at(const struct family *family, uint32_t name, int64_t at)
{
    size_t low = 0, high = family->account_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct usage_transfer_account *account = &family->accounts[middle];
        if (account->name < name || (account->name == name && account->born <= at))
            low = middle + 1;
        else
            high = middle;
    }
    return low && family->accounts[low - 1].name == name ? family->accounts[low - 1].place : NOBODY;
}

/* Parents. */

static bool is_behind(const struct change *change, const struct change *time)
{
    return change->at != time->at ? change->at > time->at : change->sequence > time->sequence;
}

/* Returns the parent's name just before a change.  For a user it is the name of its account. */
static uint32_t parent_name_at(const struct family *family, uint32_t place,
                               const struct change *time)
{
    const struct subject *subject = &family->timeline.subjects[place];
    const struct association *row = timeline_row(&family->timeline, subject);
    const struct change *last = NULL;
    bool later = false;
    if (family->user[place] != family->timeline.present.empty_name)
        return family->account[place];
    for (const struct change *each = subject->changes; each < subject->end; each++) {
        if (each->kind != CHANGE_ADDED)
            continue;
        later = is_behind(each, time);
        if (later)
            break;
        last = each;
    }
    if (last && (later || !row))
        return last->parent_account;
    return row ? row->parent_account : NOBODY;
}

static uint32_t parent_at(const struct family *family, uint32_t place, const struct change *time)
{
    uint32_t name = parent_name_at(family, place, time);
    uint32_t parent = name == NOBODY || name == family->timeline.present.empty_name
                          ? NOBODY
                          : account_at(family, name, time->at);
    return parent == place ? NOBODY : parent;
}

/* Uncertain cascades. */

static int by_sequence(const void *a, const void *b)
{
    const struct change *one = *(struct change *const *)a, *other = *(struct change *const *)b;
    return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

/* The last result of is_below() for a subject, and the number of the account removal. */
struct finding_of_removal {
    uint64_t removal;
    bool below;
};

static bool is_below(const struct family *family, uint32_t place, const struct change *cascaded,
                     struct finding_of_removal *found, uint32_t *path)
{
    size_t steps = 0;
    bool below = false;
    for (uint32_t at = place; at != NOBODY; at = parent_at(family, at, cascaded)) {
        if (found[at].removal == cascaded->sequence + 1) {
            below = found[at].below;
            break;
        }
        found[at].removal = cascaded->sequence + 1;
        found[at].below = false; /* ends the search in a cycle of parents */
        path[steps++] = at;
        below = family->account[at] == cascaded->account &&
                family->user[at] == family->timeline.present.empty_name;
        if (below)
            break;
    }
    for (size_t i = 0; i < steps; i++)
        found[path[i]].below = below;
    return below;
}

/* Decides each CHANGE_MAYBE_CASCADED by the parents at the time of the removal. */
static void settle_sweeps(struct family *family)
{
    const struct timeline *timeline = &family->timeline;
    struct change **maybe = memory_zeroed(timeline->change_count + 1, sizeof *maybe);
    size_t count = 0;
    for (size_t i = 0; i < timeline->change_count; i++)
        if (timeline->changes[i].kind == CHANGE_MAYBE_CASCADED)
            maybe[count++] = &timeline->changes[i];
    if (count) {
        struct finding_of_removal *found =
            memory_zeroed(timeline->subject_count + 1, sizeof *found);
        uint32_t *path = memory_zeroed(timeline->subject_count + 1, sizeof *path);
        qsort(maybe, count, sizeof *maybe, by_sequence);
        for (size_t i = 0; i < count; i++) {
            uint32_t place = id_index_find(timeline->places, maybe[i]->id);
            if (is_below(family, place, maybe[i], found, path))
                maybe[i]->kind = CHANGE_CASCADED;
        }
        free(found);
        free(path);
    }
    free(maybe);
}

/* Removals. */

static void add_death(struct family *family, uint32_t place, const struct change *change)
{
    if (change->at > family->timeline.history->now)
        return;
    *memory_append(&family->deaths, &family->death_count) = (struct death){
        .subject = place,
        .parent = parent_at(family, place, change),
        .at = change->at,
        .heir = NOBODY,
    };
}

/* Finds the removals.  A removal of an association that is already removed is ignored. */
static void find_deaths(struct family *family)
{
    const struct timeline *timeline = &family->timeline;
    family->first_death = memory_zeroed(timeline->subject_count + 2, sizeof *family->first_death);
    for (uint32_t i = 0; i < timeline->subject_count; i++) {
        const struct subject *subject = &timeline->subjects[i];
        int64_t birth = birth_of(subject);
        bool gone = false;
        family->first_death[i] = family->death_count;
        for (const struct change *each = subject->changes; each < subject->end; each++) {
            bool removed = each->kind == CHANGE_REMOVED || each->kind == CHANGE_CASCADED;
            if (removed && !gone && each->at >= birth)
                add_death(family, i, each);
            gone = removed || (gone && each->kind != CHANGE_ADDED);
        }
    }
    family->first_death[timeline->subject_count] = family->death_count;
}

/* Owners of the usage. */

/*
 * Returns the first removal of the parent at or after the time of this removal, or NULL if the
 * parent was not removed.
 */
static struct death *death_of_parent(const struct family *family, const struct death *death)
{
    size_t low = family->first_death[death->parent];
    size_t end = family->first_death[death->parent + 1];
    for (size_t high = end; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (family->deaths[middle].at < death->at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end ? &family->deaths[low] : NULL;
}

/*
 * Follows removed parents up to a parent that was not removed.  That parent becomes the owner for
 * all removals on the way.
 */
static void find_transfer(struct family *family, struct death *death, struct death **way)
{
    size_t steps = 0;
    uint32_t heir = NOBODY;
    for (struct death *at = death; at && !at->visited;) {
        at->visited = true;
        way[steps++] = at;
        if (at->parent == NOBODY)
            break;
        struct death *next = death_of_parent(family, at);
        heir = next ? next->heir : at->parent;
        at = next;
    }
    for (size_t i = 0; i < steps; i++)
        way[i]->heir = heir;
}

static void usage_transfer_find_transfers(struct family *family)
{
    struct death **way = memory_zeroed(family->death_count + 1, sizeof *way);
    for (size_t i = 0; i < family->death_count; i++)
        find_transfer(family, &family->deaths[i], way);
    free(way);
}

static void add_transfers(const struct family *family, struct usage_transfers *transfers)
{
    for (size_t i = 0; i < family->death_count; i++) {
        const struct death *death = &family->deaths[i];
        if (death->heir == NOBODY || death->at <= 0)
            continue;
        *memory_append(&transfers->rows, &transfers->count) = (struct usage_transfer){
            .association = family->timeline.subjects[death->subject].id,
            .until = (uint64_t)death->at,
            .owner = family->timeline.subjects[death->heir].id,
        };
    }
}

struct usage_transfers usage_transfers_find(const struct association_history *history,
                                            const struct associations *present)
{
    struct family family = { .timeline = timeline_make(history, present, false) };
    struct usage_transfers transfers = { 0 };
    name_all(&family);
    settle_sweeps(&family);
    find_deaths(&family);
    usage_transfer_find_transfers(&family);
    add_transfers(&family, &transfers);
    timeline_free(&family.timeline);
    free(family.account);
    free(family.user);
    free(family.accounts);
    free(family.deaths);
    free(family.first_death);
    return transfers;
}

void usage_transfers_free(struct usage_transfers *transfers)
{
    free(transfers->rows);
    *transfers = (struct usage_transfers){ 0 };
}

/* Transfers that the tree does not show. */

struct usage_owners *usage_transfers_owners(const struct usage_transfers *transfers,
                                            const struct tree *tree)
{
    struct usage_owners *owners = NULL;
    for (size_t first = 0, end; first < transfers->count; first = end) {
        uint64_t association = transfers->rows[first].association;
        uint32_t place = tree_place(tree, association);
        bool is_needed = false;
        for (end = first; end < transfers->count && transfers->rows[end].association == association;
             end++)
            is_needed |= tree_place(tree, transfers->rows[end].owner) != place;
        if (!is_needed || place == NO_NODE)
            continue;
        if (!owners)
            owners = usage_owners_create();
        for (size_t i = first; i < end; i++)
            usage_owners_add(owners, association, transfers->rows[i].until,
                             transfers->rows[i].owner);
    }
    return owners;
}

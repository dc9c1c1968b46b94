/* SPDX-License-Identifier: MIT */
#include "core/tree/timeline.h"

#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

bool change_is_of_run(const struct change *change)
{
    return change->kind == CHANGE_SEEN || change->kind == CHANGE_SEEN_GONE;
}

bool change_is_present(const struct change *change)
{
    return change->kind == CHANGE_SEEN || change->kind == CHANGE_ADDED;
}

bool change_is_gone(const struct change *change)
{
    return change->kind == CHANGE_REMOVED || change->kind == CHANGE_SEEN_GONE;
}

/* Runs have names as UTF-8.  Where a row has other bytes that read the same, the row's are used. */
static void translate_names(struct timeline *timeline)
{
    const struct names *theirs = timeline->past->names;
    uint32_t count = names_count(theirs), present = names_count(timeline->present.names);
    timeline->translated = memory_resized(NULL, (size_t)count + 1, sizeof *timeline->translated);
    for (uint32_t i = 0; i < count; i++)
        timeline->translated[i] =
            names_add(timeline->present.names, names_text(theirs, i), names_length(theirs, i));
    struct text text = { 0 };
    for (uint32_t i = 0; i < present; i++) {
        const char *bytes = names_text(timeline->present.names, i);
        size_t length = names_length(timeline->present.names, i);
        if (utf8_valid(bytes, length))
            continue;
        text.length = 0;
        text_add_as_utf8(&text, bytes, length);
        uint32_t number = names_find(theirs, text.bytes, text.length);
        if (number != INDEX_NONE)
            timeline->translated[number] = i;
    }
    text_free(&text);
}

static void append(struct timeline *timeline, struct change change)
{
    timeline->changes =
        memory_grown(timeline->changes, timeline->change_count, sizeof *timeline->changes);
    timeline->changes[timeline->change_count++] = change;
}

struct subject *timeline_subject(const struct timeline *timeline, uint64_t id)
{
    uint32_t place = id_index_find(timeline->places, id);
    return place == INDEX_NONE ? NULL : &timeline->subjects[place];
}

const struct association *timeline_row(const struct timeline *timeline,
                                       const struct subject *subject)
{
    return subject->row == NO_ROW ? NULL : &timeline->present.rows[subject->row];
}

static void add_subject(struct timeline *timeline, uint32_t id, size_t row)
{
    if (id_index_add(timeline->places, id, (uint32_t)timeline->subject_count) == INDEX_NONE)
        timeline->subjects[timeline->subject_count++] =
            (struct subject){ id, row, NEVER, NEVER, NULL, NULL };
}

static void gather_subjects(struct timeline *timeline)
{
    const struct past *past = timeline->past;
    timeline->places = id_index_create();
    timeline->subjects =
        memory_zeroed(timeline->present.count + past->count + 1, sizeof *timeline->subjects);
    for (size_t i = 0; i < timeline->present.count; i++)
        add_subject(timeline, timeline->present.rows[i].id, i);
    for (size_t i = 0; i < past->count; i++)
        add_subject(timeline, past->changes[i].id, NO_ROW);
    for (size_t i = 0; i < past->touched_count; i++) {
        struct subject *subject = timeline_subject(timeline, past->touched[i].id);
        if (!subject)
            continue;
        subject->created = past->touched[i].created;
        subject->modified = past->touched[i].modified;
    }
}

/* A name of the past as the rows have it.  Where two names of rows read alike, the row's own is
 * preferred. */
static uint32_t translate(const struct timeline *timeline, uint32_t name, uint32_t own)
{
    const char *utf8 = names_text(timeline->past->names, name);
    return own != INDEX_NONE && reads_as(names_text(timeline->present.names, own),
                                         names_length(timeline->present.names, own), utf8)
               ? own
               : timeline->translated[name];
}

/* Copy the changes, with names of the rows. */
static void copy_changes(struct timeline *timeline)
{
    static const struct association nothing = {
        .account = INDEX_NONE,
        .user = INDEX_NONE,
        .partition = INDEX_NONE,
        .parent_account = INDEX_NONE,
    };
    for (size_t i = 0; i < timeline->past->count; i++) {
        struct change copy = timeline->past->changes[i];
        size_t at = timeline_subject(timeline, copy.id)->row;
        const struct association *row = at == NO_ROW ? &nothing : &timeline->present.rows[at];
        if (change_is_present(&copy)) {
            copy.account = translate(timeline, copy.account, row->account);
            copy.user = translate(timeline, copy.user, row->user);
            copy.partition = translate(timeline, copy.partition, row->partition);
            copy.parent_account = translate(timeline, copy.parent_account, row->parent_account);
        }
        append(timeline, copy);
    }
}

/* The first run saw all that there was: what it did not note was not there. */
static void note_unseen(struct timeline *timeline)
{
    const struct past *past = timeline->past;
    if (past->seen_from == NEVER)
        return;
    bool *seen = memory_zeroed(timeline->subject_count + 1, sizeof *seen);
    for (size_t i = 0; i < past->count; i++)
        if (past->changes[i].kind == CHANGE_SEEN && past->changes[i].at == past->seen_from)
            seen[timeline_subject(timeline, past->changes[i].id) - timeline->subjects] = true;
    for (size_t i = 0; i < timeline->subject_count; i++)
        if (!seen[i])
            append(timeline, (struct change){ .at = past->seen_from,
                                              .id = timeline->subjects[i].id,
                                              .kind = CHANGE_SEEN_GONE });
    free(seen);
}

/* The changes of an id stand together, the oldest first.  A run saw what there was after everything
 * that was done in its second. */
static int by_id_and_time(const void *a, const void *b)
{
    const struct change *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    if (change_is_of_run(one) != change_is_of_run(other))
        return change_is_of_run(one) ? 1 : -1;
    return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

static void sort_changes(struct timeline *timeline)
{
    if (timeline->change_count)
        qsort(timeline->changes, timeline->change_count, sizeof *timeline->changes, by_id_and_time);
    for (size_t i = 0; i < timeline->subject_count; i++)
        timeline->subjects[i].changes = timeline->subjects[i].end = NULL;
    for (size_t i = 0; i < timeline->change_count; i++) {
        struct subject *subject = timeline_subject(timeline, timeline->changes[i].id);
        if (!subject->changes)
            subject->changes = &timeline->changes[i];
        subject->end = &timeline->changes[i] + 1;
    }
}

/* ---- All associations of a user or an account ---- */

static bool is_before(const struct change *change, const struct removal *removal)
{
    return change->at < removal->at ||
           (change->at == removal->at && change->sequence < removal->sequence);
}

/* The names of an association at the time of a removal; false where they are not known. */
static bool name_at(const struct timeline *timeline, const struct subject *subject,
                    const struct removal *removal, struct association *named)
{
    bool known =
        subject->row != NO_ROW && subject->created != NEVER && subject->created <= removal->at;
    if (known)
        *named = timeline->present.rows[subject->row];
    for (const struct change *each = subject->changes; each < subject->end; each++)
        if (change_is_present(each) && is_before(each, removal)) {
            named->account = each->account;
            named->user = each->user;
            named->parent_account = each->parent_account;
            known = true;
        }
    return known;
}

/* What is there now, and was not made again since, was not removed then. */
static bool outlived(const struct timeline *timeline, const struct subject *subject,
                     const struct removal *removal)
{
    if (subject->row == NO_ROW || timeline->present.rows[subject->row].deleted)
        return false;
    for (const struct change *each = subject->changes; each < subject->end; each++)
        if (change_is_present(each) && !is_before(each, removal))
            return false;
    return true;
}

/* Mark the account and all accounts below it, by name. */
static void mark_below(const struct timeline *timeline, const struct removal *removal, bool *below)
{
    bool more = true;
    below[timeline->translated[removal->name]] = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < timeline->subject_count; i++) {
            struct association named;
            if (name_at(timeline, &timeline->subjects[i], removal, &named) &&
                named.user == timeline->present.empty_name && below[named.parent_account] &&
                !below[named.account])
                more = below[named.account] = true;
        }
    }
}

/* What removals did, apart from the changes: these stay where subjects point at them, and no
 * removal decides what another one did. */
struct removed {
    struct change *changes;
    size_t count;
};

static void note_removed(struct removed *removed, const struct subject *subject,
                         const struct removal *removal)
{
    removed->changes = memory_grown(removed->changes, removed->count, sizeof *removed->changes);
    removed->changes[removed->count++] = (struct change){
        .at = removal->at, .id = subject->id, .kind = CHANGE_REMOVED, .sequence = removal->sequence
    };
}

static void remove_account(const struct timeline *timeline, const struct removal *removal,
                           struct removed *removed)
{
    bool *below = memory_zeroed(names_count(timeline->present.names), sizeof *below);
    mark_below(timeline, removal, below);
    for (size_t i = 0; i < timeline->subject_count; i++) {
        const struct subject *subject = &timeline->subjects[i];
        struct association named;
        if (name_at(timeline, subject, removal, &named) && below[named.account] &&
            !outlived(timeline, subject, removal))
            note_removed(removed, subject, removal);
    }
    free(below);
}

/* Removals of users by name: the first of each, and by removal the next of the same; years of them
 * are thousands.  NO_ROW where there is none. */
struct user_removals {
    size_t *first, *next;
};

static void remove_user(const struct timeline *timeline, const struct user_removals *removals,
                        const struct subject *subject, uint32_t user, struct removed *removed)
{
    for (size_t i = removals->first[user]; i != NO_ROW; i = removals->next[i]) {
        const struct removal *removal = &timeline->past->removals[i];
        struct association named;
        if (name_at(timeline, subject, removal, &named) && named.user == user &&
            !outlived(timeline, subject, removal))
            note_removed(removed, subject, removal);
    }
}

static bool has_had_user(const struct timeline *timeline, const struct subject *subject,
                         const struct change *until, uint32_t user)
{
    if (subject->row != NO_ROW && timeline->present.rows[subject->row].user == user)
        return true;
    for (const struct change *each = subject->changes; each < until; each++)
        if (change_is_present(each) && each->user == user)
            return true;
    return false;
}

/* An association is asked about once for each user that it was ever of. */
static void remove_users(const struct timeline *timeline, const struct user_removals *removals,
                         struct removed *removed)
{
    for (size_t i = 0; i < timeline->subject_count; i++) {
        const struct subject *subject = &timeline->subjects[i];
        if (subject->row != NO_ROW)
            remove_user(timeline, removals, subject, timeline->present.rows[subject->row].user,
                        removed);
        for (const struct change *each = subject->changes; each < subject->end; each++)
            if (change_is_present(each) && !has_had_user(timeline, subject, each, each->user))
                remove_user(timeline, removals, subject, each->user, removed);
    }
}

static void remove_all(const struct timeline *timeline, struct removed *removed)
{
    const struct past *past = timeline->past;
    size_t names = names_count(timeline->present.names);
    struct user_removals of_users = {
        memory_zeroed(names + 1, sizeof *of_users.first),
        memory_zeroed(past->removal_count + 1, sizeof *of_users.next),
    };
    for (size_t i = 0; i < names; i++)
        of_users.first[i] = NO_ROW;
    for (size_t i = 0; i < past->removal_count; i++) {
        const struct removal *removal = &past->removals[i];
        uint32_t name = timeline->translated[removal->name];
        if (removal->of_account) {
            remove_account(timeline, removal, removed);
        } else {
            of_users.next[i] = of_users.first[name];
            of_users.first[name] = i;
        }
    }
    remove_users(timeline, &of_users, removed);
    free(of_users.first);
    free(of_users.next);
}

void timeline_fill(struct timeline *timeline)
{
    struct removed removed = { 0 };
    translate_names(timeline);
    gather_subjects(timeline);
    copy_changes(timeline);
    note_unseen(timeline);
    sort_changes(timeline);
    remove_all(timeline, &removed);
    for (size_t i = 0; i < removed.count; i++)
        append(timeline, removed.changes[i]);
    free(removed.changes);
    sort_changes(timeline);
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->translated);
    free(timeline->changes);
    free(timeline->subjects);
    id_index_destroy(timeline->places);
}

/* SPDX-License-Identifier: MIT */
#include "core/tree/timeline.h"

#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Maps the numbers of recorded names to numbers in present.names.  Runs record names as UTF-8.  If
 * a current row has other bytes for the same name, uses the name of the row.
 */
static void translate_names(struct timeline *timeline)
{
    const struct names *theirs = timeline->history->names;
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

/* Subjects. */

static void timeline_add_subject(struct timeline *timeline, uint32_t id, size_t row)
{
    if (id_index_add(timeline->places, id, (uint32_t)timeline->subject_count) == INDEX_NONE)
        timeline->subjects[timeline->subject_count++] =
            (struct subject){ .id = id, .row = row, .created = NEVER, .modified = NEVER };
}

static void gather_subjects(struct timeline *timeline)
{
    const struct association_history *history = timeline->history;
    timeline->places = id_index_create();
    timeline->subjects = memory_zeroed(timeline->present.count + history->before.count +
                                           history->after.count + history->count + 1,
                                       sizeof *timeline->subjects);
    for (size_t i = 0; i < timeline->present.count; i++)
        timeline_add_subject(timeline, timeline->present.rows[i].id, i);
    for (size_t i = 0; i < history->before.count; i++)
        timeline_add_subject(timeline, history->before.rows[i].id, NO_ROW);
    for (size_t i = 0; i < history->after.count; i++)
        timeline_add_subject(timeline, history->after.rows[i].id, NO_ROW);
    for (size_t i = 0; i < history->count; i++)
        timeline_add_subject(timeline, history->changes[i].id, NO_ROW);
    for (size_t i = 0; i < history->modified_count; i++) {
        struct subject *subject = timeline_subject(timeline, history->modified[i].id);
        if (!subject)
            continue;
        subject->created = history->modified[i].created;
        subject->modified = history->modified[i].modified;
    }
    for (size_t i = 0; i < history->before.count; i++)
        timeline_subject(timeline, history->before.rows[i].id)->before = &history->before.rows[i];
    for (size_t i = 0; i < history->after.count; i++)
        timeline_subject(timeline, history->after.rows[i].id)->after = &history->after.rows[i];
}

/*
 * Returns the number of a recorded name in present.names.  If two current names have the same UTF-8
 * form, prefers the row's own name `own`.
 */
static uint32_t translate(const struct timeline *timeline, uint32_t name, uint32_t own)
{
    const char *utf8 = names_text(timeline->history->names, name);
    return own != INDEX_NONE && reads_as(names_text(timeline->present.names, own),
                                         names_length(timeline->present.names, own), utf8)
               ? own
               : timeline->translated[name];
}

/* Changes. */

static void append(struct timeline *timeline, const struct change *change)
{
    *memory_append(&timeline->changes, &timeline->change_count) = *change;
}

/* Copies the changes up to the end of the interval and translates their names. */
static void copy_changes(struct timeline *timeline)
{
    static const struct association nothing = {
        .account = INDEX_NONE,
        .user = INDEX_NONE,
        .partition = INDEX_NONE,
        .parent_account = INDEX_NONE,
    };
    for (size_t i = 0; i < timeline->history->count; i++) {
        struct change copy = timeline->history->changes[i];
        const struct association *row = timeline_row(timeline, timeline_subject(timeline, copy.id));
        if (!row)
            row = &nothing;
        if (copy.kind == CHANGE_ADDED) {
            copy.account = translate(timeline, copy.account, row->account);
            copy.user = translate(timeline, copy.user, row->user);
            copy.partition = translate(timeline, copy.partition, row->partition);
            copy.parent_account = translate(timeline, copy.parent_account, row->parent_account);
        }
        if (copy.at <= timeline->until)
            append(timeline, &copy);
    }
}

/* Compares changes by id, then by time, then by sequence number. */
static int timeline_by_id_and_time(const void *a, const void *b)
{
    const struct change *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

static void sort_changes(struct timeline *timeline)
{
    if (timeline->change_count)
        qsort(timeline->changes, timeline->change_count, sizeof *timeline->changes,
              timeline_by_id_and_time);
    for (size_t i = 0; i < timeline->subject_count; i++)
        timeline->subjects[i].changes = timeline->subjects[i].end = NULL;
    for (size_t i = 0; i < timeline->change_count; i++) {
        struct subject *subject = timeline_subject(timeline, timeline->changes[i].id);
        if (!subject->changes)
            subject->changes = &timeline->changes[i];
        subject->end = &timeline->changes[i] + 1;
    }
}

/*
 * Returns true for an account that may be older than the log and that the log adds again.  The
 * earlier parent of such an account is unknown, so earlier removals by cascade may be missing.
 */
static bool is_parent_lost(const struct timeline *timeline, const struct subject *subject)
{
    if (subject->created != NEVER && subject->created >= timeline->history->log_start)
        return false;
    for (const struct change *each = subject->changes; each < subject->end; each++)
        if (each->kind == CHANGE_ADDED && each->user == timeline->present.empty_name)
            return true;
    return false;
}

static void find_lost_parents(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->subject_count && !timeline->lost_parents; i++)
        timeline->lost_parents = is_parent_lost(timeline, &timeline->subjects[i]);
}

/* States at the start and at the end of the interval. */

static struct association timeline_association_of(const struct timeline *timeline,
                                                  const struct subject *subject,
                                                  const struct observation *seen)
{
    static const struct association nothing = {
        .account = INDEX_NONE,
        .user = INDEX_NONE,
        .partition = INDEX_NONE,
        .parent_account = INDEX_NONE,
    };
    const struct association *own = timeline_row(timeline, subject);
    struct association row = own ? *own : nothing;
    row.id = subject->id;
    row.deleted = !seen->lives;
    row.shares = seen->shares;
    row.parent_id = seen->parent_id;
    row.account = translate(timeline, seen->account, row.account);
    row.user = translate(timeline, seen->user, row.user);
    row.partition = translate(timeline, seen->partition, row.partition);
    row.parent_account = translate(timeline, seen->parent_account, row.parent_account);
    return row;
}

static struct state state_seen(const struct timeline *timeline, const struct subject *subject,
                               const struct observation *seen)
{
    struct state state = { .known = true, .modified = NEVER, .told = EVIDENCE_RUNS };
    if (!seen)
        return state;
    /* The recorded parent of a removed association may be outdated, because the association may
     * have been moved before its removal. */
    state.lives = state.has_parent = seen->lives;
    state.named = true;
    state.row = timeline_association_of(timeline, subject, seen);
    state.modified = seen->modified;
    return state;
}

struct state timeline_before(const struct timeline *timeline, const struct subject *subject)
{
    if (timeline->from == NEVER)
        return (struct state){ .modified = NEVER };
    return state_seen(timeline, subject, subject->before);
}

struct state timeline_after(const struct timeline *timeline, const struct subject *subject)
{
    const struct association *row = timeline_row(timeline, subject);
    bool is_now = timeline->until == INT64_MAX;
    /* A row that was not modified since the run is valid for the run, too. */
    bool untouched = subject->modified != NEVER && subject->modified <= timeline->until;
    struct state state = { .known = true, .modified = NEVER, .told = EVIDENCE_TIMES };
    if (!is_now)
        state = state_seen(timeline, subject, subject->after ? subject->after : subject->before);
    if (row && !state.lives && (is_now || untouched)) {
        state.named = state.has_parent = true;
        state.row = *row;
        state.lives = is_now && !row->deleted;
    }
    /* Runs do not record modifications at the same time as the root's. */
    if (untouched)
        state.modified = subject->modified;
    else if (state.modified != NEVER && state.modified < timeline->root_modified)
        state.modified = timeline->root_modified;
    return state;
}

/*
 * Finds the time of the root's last modification.  slurmdbd modifies all associations together with
 * the root when an account is moved or a QOS is removed.
 */
static void timeline_find_root(struct timeline *timeline)
{
    timeline->root_modified = NEVER;
    for (size_t i = 0; i < timeline->subject_count; i++) {
        struct state state = timeline_after(timeline, &timeline->subjects[i]);
        uint32_t no_name = timeline->present.empty_name;
        if (state.lives && state.row.user == no_name && state.row.parent_account == no_name &&
            !state.row.parent_id) {
            timeline->root_modified = state.modified;
            return;
        }
    }
}

/* Removals by cascade.  The log contains the removal of a user or an account, but not of the
 * associations that were removed with it.  sweep() adds a change for each of these associations.
 * The accounts that were below a removed account at that time are uncertain, so the changes of
 * their associations are CHANGE_MAYBE_CASCADED. */

#define NOBODY UINT32_MAX

/* Linked lists of numbers: the head of each list, and the links of all lists. */
struct lists {
    uint32_t *first;
    struct link {
        uint32_t value, next;
    } * links;
    size_t count;
};

static struct lists lists_of(size_t count)
{
    struct lists lists = { .first = memory_zeroed(count + 1, sizeof *lists.first) };
    for (size_t i = 0; i < count; i++)
        lists.first[i] = NOBODY;
    return lists;
}

static void lists_add(struct lists *lists, uint32_t list, uint32_t value)
{
    lists->links = memory_grown(lists->links, lists->count, sizeof *lists->links);
    lists->links[lists->count] = (struct link){ value, lists->first[list] };
    lists->first[list] = (uint32_t)lists->count++;
}

static void timeline_lists_free(struct lists *lists)
{
    free(lists->first);
    free(lists->links);
}

/*
 * For each name: the associations of the user, the associations of the account, and the accounts
 * that any evidence shows below the account.
 */
struct members {
    struct lists of_user, of_account, below;
    uint32_t *marked; /* indexed by name: the number of the last removal that reached the account */
    uint32_t *queue;
};

static void timeline_add_member(const struct timeline *timeline, struct members *members,
                                uint32_t subject, const struct association *row)
{
    bool is_user = row->user != timeline->present.empty_name;
    struct lists *own = is_user ? &members->of_user : &members->of_account;
    uint32_t name = is_user ? row->user : row->account;
    uint32_t last = own->first[name];
    if (!is_user)
        lists_add(&members->below, row->parent_account, row->account);
    if (last != NOBODY && own->links[last].value == subject)
        return;
    lists_add(own, name, subject);
    if (is_user)
        lists_add(&members->of_account, row->account, subject);
}

static struct members gather_members(const struct timeline *timeline)
{
    size_t names = names_count(timeline->present.names);
    struct members members = {
        lists_of(names),
        lists_of(names),
        lists_of(names),
        memory_zeroed(names + 1, sizeof *members.marked),
        memory_zeroed(names + 1, sizeof *members.queue),
    };
    for (uint32_t i = 0; i < timeline->subject_count; i++) {
        const struct subject *subject = &timeline->subjects[i];
        struct state ends[] = { timeline_before(timeline, subject),
                                timeline_after(timeline, subject) };
        for (size_t end = 0; end < 2; end++)
            if (ends[end].named)
                timeline_add_member(timeline, &members, i, &ends[end].row);
        if (subject->row != NO_ROW)
            timeline_add_member(timeline, &members, i, timeline_row(timeline, subject));
        for (const struct change *each = subject->changes; each < subject->end; each++)
            if (each->kind == CHANGE_ADDED)
                timeline_add_member(
                    timeline, &members, i,
                    &(struct association){ .account = each->account,
                                           .user = each->user,
                                           .parent_account = each->parent_account });
    }
    return members;
}

static void members_free(struct members *members)
{
    timeline_lists_free(&members->of_user);
    timeline_lists_free(&members->of_account);
    timeline_lists_free(&members->below);
    free(members->marked);
    free(members->queue);
}

static void sweep_list(struct timeline *timeline, const struct lists *lists, uint32_t list,
                       const struct change *cascaded)
{
    for (uint32_t i = lists->first[list]; i != NOBODY; i = lists->links[i].next) {
        const struct subject *subject = &timeline->subjects[lists->links[i].value];
        struct change change = *cascaded;
        change.id = subject->id;
        if (subject->created <= change.at)
            append(timeline, &change);
    }
}

static void sweep_account(struct timeline *timeline, struct members *members, uint32_t number,
                          const struct change *cascaded, uint32_t account)
{
    size_t count = 0;
    struct change change = *cascaded;
    members->queue[count++] = account;
    members->marked[account] = number;
    for (size_t i = 0; i < count; i++) {
        uint32_t above = members->queue[i];
        change.kind = i ? CHANGE_MAYBE_CASCADED : CHANGE_CASCADED;
        sweep_list(timeline, &members->of_account, above, &change);
        for (uint32_t at = members->below.first[above]; at != NOBODY;
             at = members->below.links[at].next) {
            uint32_t below = members->below.links[at].value;
            if (members->marked[below] == number)
                continue;
            members->marked[below] = number;
            members->queue[count++] = below;
        }
    }
}

static void sweep(struct timeline *timeline)
{
    const struct association_history *history = timeline->history;
    if (!history->removal_count)
        return;
    struct members members = gather_members(timeline);
    for (size_t i = 0; i < history->removal_count; i++) {
        const struct removal *removal = &history->removals[i];
        uint32_t name = timeline->translated[removal->name];
        struct change cascaded = { .at = removal->at,
                                   .kind = CHANGE_CASCADED,
                                   .account = name,
                                   .sequence = removal->sequence };
        if (removal->at > timeline->until)
            continue;
        if (removal->of_account)
            sweep_account(timeline, &members, (uint32_t)i + 1, &cascaded, name);
        else
            sweep_list(timeline, &members.of_user, name, &cascaded);
    }
    members_free(&members);
    sort_changes(timeline);
}

struct timeline timeline_make(const struct association_history *history,
                              const struct associations *present, bool with_runs)
{
    struct timeline timeline = { .history = history,
                                 .root_modified = NEVER,
                                 .present = *present,
                                 .from = with_runs ? history->before.at : NEVER,
                                 .until = with_runs && history->after.at != NEVER
                                              ? history->after.at
                                              : INT64_MAX };
    translate_names(&timeline);
    gather_subjects(&timeline);
    timeline_find_root(&timeline);
    copy_changes(&timeline);
    sort_changes(&timeline);
    find_lost_parents(&timeline);
    sweep(&timeline);
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->translated);
    free(timeline->changes);
    free(timeline->subjects);
    id_index_destroy(timeline->places);
}

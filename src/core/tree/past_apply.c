/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/tree/timeline.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* What past_apply() works on. */
struct rebuilding {
    struct timeline timeline;
    struct findings *findings;
    struct past_counts *counts;
};

/* For each thing that changes say: the last change up to the instant, and the first one after it.
 */
struct nearest_changes {
    const struct change *existence, *shares, *parent;
    const struct change *next_existence, *next_shares, *next_parent;
};

static struct nearest_changes nearest_changes(const struct subject *subject, int64_t now)
{
    struct nearest_changes nearest = { 0 };
    for (const struct change *each = subject->changes; each < subject->end; each++) {
        bool ends = change_is_gone(each), all = change_is_present(each);
        if (each->at <= now) {
            if (ends || all)
                nearest.existence = each;
            if (ends || each->has_shares)
                nearest.shares = ends ? NULL : each;
            if (all)
                nearest.parent = each;
            continue;
        }
        if (!nearest.next_existence && (ends || all))
            nearest.next_existence = each;
        if (!nearest.next_shares && (ends || each->has_shares))
            nearest.next_shares = each;
        if (!nearest.next_parent && all)
            nearest.next_parent = each;
    }
    return nearest;
}

/* An association as it was. */
struct rebuilt {
    bool lives;
    struct association row;
    const struct change *source; /* the change it is known from; NULL: the source's rows */
    bool existence_doubt, shares_doubt, parent_doubt;
};

/* Whether it changed since, without the source having noted how. */
static bool touched_since(const struct past *past, const struct subject *subject)
{
    bool covered = past->reach != NEVER && past->reach <= past->now;
    return !covered && subject->modified > past->now;
}

/* Whether no run saw what there was after the instant.  Where the source has no times, the second
 * of the last run may not have been over. */
static bool is_unseen(const struct past *past)
{
    return past->seen_until == NEVER || past->now > past->seen_until ||
           (past->now == past->seen_until && !past->touched_count);
}

/* Whether an association may have been as it is now, although the last known change differs: no run
 * saw anything after the instant.  In the second of the last run that holds for what was last
 * modified up to then, which may have been after the run. */
static bool may_be_present(const struct past *past, const struct subject *subject)
{
    return is_unseen(past) || (past->now == past->seen_until && subject->modified != NEVER &&
                               subject->modified <= past->now);
}

/* The known changes and what is there now contradict each other, and no change after the instant is
 * known: there was a change that nobody noted. */
static bool present_existence(const struct past *past, const struct subject *subject, bool deleted,
                              bool *doubt)
{
    if (subject->row == NO_ROW) {
        *doubt = true;
        return false;
    }
    if (subject->modified == NEVER) {
        *doubt = true;
        return !deleted;
    }
    return subject->modified <= past->now ? !deleted : deleted;
}

static bool existed(const struct rebuilding *work, const struct subject *subject,
                    const struct nearest_changes *nearest, bool *doubt)
{
    const struct past *past = work->timeline.past;
    const struct association *row = timeline_row(&work->timeline, subject);
    bool there = row, deleted = row && row->deleted;
    bool covered = past->reach != NEVER && past->reach <= past->now;
    if (there && subject->created > past->now)
        return false;
    if (nearest->existence) {
        bool lives = change_is_present(nearest->existence);
        if (nearest->next_existence || !may_be_present(past, subject) ||
            lives == (there && !deleted))
            return lives;
        return present_existence(past, subject, deleted, doubt);
    }
    if (nearest->next_existence) {
        /* Made again: it was there before, and deleted at some time. */
        if (nearest->next_existence->kind == CHANGE_ADDED)
            *doubt = there && subject->created != NEVER && !covered;
        return nearest->next_existence->kind == CHANGE_REMOVED ||
               nearest->next_existence->kind == CHANGE_SEEN;
    }
    return there && (!deleted || subject->modified > past->now);
}

static int32_t shares_of(const struct rebuilding *work, const struct subject *subject,
                         const struct nearest_changes *nearest, struct rebuilt *rebuilt)
{
    const struct past *past = work->timeline.past;
    const struct association *row = timeline_row(&work->timeline, subject);
    bool lives = row && !row->deleted;
    int32_t present = row ? row->shares : 1;
    if (nearest->shares) {
        /* Negative ones are published as 0. */
        bool same = (present > 0 ? present : 0) == nearest->shares->shares;
        if (same && row)
            return present;
        if (!nearest->next_shares && may_be_present(past, subject) && lives) {
            rebuilt->shares_doubt = subject->modified == NEVER || subject->modified > past->now;
            return present;
        }
        rebuilt->source = nearest->shares;
        return nearest->shares->shares;
    }
    if (nearest->next_shares && nearest->next_shares->kind == CHANGE_SEEN) {
        rebuilt->source = nearest->next_shares;
        rebuilt->shares_doubt = touched_since(past, subject);
        return nearest->next_shares->shares;
    }
    /* Deleting sets them to 1. */
    rebuilt->shares_doubt = nearest->next_shares || !lives || touched_since(past, subject);
    return present;
}

/* Where a parent's id is not known, the parent of a user is the account of its name. */
static bool same_parent(const struct rebuilding *work, const struct change *change,
                        const struct association *row)
{
    if (change->parent_id && row->parent_id)
        return change->parent_id == row->parent_id;
    return row->user != work->timeline.present.empty_name ||
           change->parent_account == row->parent_account;
}

static void set_parent(struct rebuilt *rebuilt, const struct change *change)
{
    rebuilt->row.parent_id = change->parent_id;
    rebuilt->row.parent_account = change->parent_account;
}

static void take_parent(const struct rebuilding *work, const struct subject *subject,
                        const struct nearest_changes *nearest, struct rebuilt *rebuilt)
{
    const struct past *past = work->timeline.past;
    const struct association *row = timeline_row(&work->timeline, subject);
    const struct change *parent = nearest->parent ? nearest->parent : nearest->next_parent;
    if (!parent || !change_is_present(parent) ||
        (!nearest->parent && parent->kind != CHANGE_SEEN) ||
        (row && same_parent(work, parent, row)))
        return;
    if (row && !row->deleted && nearest->parent && !nearest->next_parent && is_unseen(past)) {
        rebuilt->parent_doubt = true;
        return;
    }
    set_parent(rebuilt, parent);
    rebuilt->source = parent;
}

/* Whether its names are known.  They do not change, but an id that is gone without a trace may be
 * given again. */
static bool take_names(const struct past *past, const struct subject *subject,
                       const struct nearest_changes *nearest, struct rebuilt *rebuilt)
{
    const struct change *named = nearest->parent;
    if (subject->row != NO_ROW && is_unseen(past))
        return true;
    if (!named && nearest->next_parent && nearest->next_parent->kind == CHANGE_SEEN)
        named = nearest->next_parent;
    if (!named)
        return subject->row != NO_ROW;
    rebuilt->row.account = named->account;
    rebuilt->row.user = named->user;
    rebuilt->row.partition = named->partition;
    return true;
}

static struct rebuilt rebuild(const struct rebuilding *work, const struct subject *subject)
{
    const struct association *row = timeline_row(&work->timeline, subject);
    struct nearest_changes nearest = nearest_changes(subject, work->timeline.past->now);
    struct rebuilt rebuilt = { .row = { .id = subject->id } };
    if (row)
        rebuilt.row = *row;
    else
        rebuilt.row.order =
            (uint32_t)work->timeline.present.count + (uint32_t)(subject - work->timeline.subjects);
    rebuilt.lives = existed(work, subject, &nearest, &rebuilt.existence_doubt);
    if (rebuilt.lives != (row && !row->deleted))
        rebuilt.source = nearest.existence ? nearest.existence : nearest.next_existence;
    const struct change *seen = nearest.parent ? nearest.parent : nearest.next_parent;
    if (!row && seen) {
        rebuilt.row.account = seen->account;
        rebuilt.row.user = seen->user;
        rebuilt.row.partition = seen->partition;
    }
    if (!rebuilt.lives) {
        /* Its usage goes to its last parent, which is the row's own parent while it is deleted. */
        rebuilt.row.deleted = true;
        if (row && (!row->deleted || nearest.next_existence) && nearest.parent &&
            !same_parent(work, nearest.parent, row))
            set_parent(&rebuilt, nearest.parent);
        return rebuilt;
    }
    if (!take_names(work->timeline.past, subject, &nearest, &rebuilt)) {
        rebuilt.lives = false;
        rebuilt.existence_doubt = true;
        return rebuilt;
    }
    rebuilt.row.deleted = false;
    rebuilt.row.shares = shares_of(work, subject, &nearest, &rebuilt);
    take_parent(work, subject, &nearest, &rebuilt);
    return rebuilt;
}

/* ---- All of them ---- */

static void note_doubt(struct rebuilding *work, const struct rebuilt *rebuilt)
{
    const bool doubts[] = { rebuilt->existence_doubt, rebuilt->shares_doubt,
                            rebuilt->parent_doubt };
    static const char *const things[] = { "existence", "shares", "parent" };
    struct text text = { 0 };
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
        if (doubts[i])
            text_format(&text, "%s%s", text.length ? ", " : "", things[i]);
    if (!text.length)
        return;
    const uint32_t names[] = { rebuilt->row.user, rebuilt->row.account };
    static const char *const before[] = { " of user '", " of account '" };
    for (size_t i = 0; i < 2; i++) {
        if (names[i] == work->timeline.present.empty_name)
            continue;
        text_add(&text, before[i]);
        text_add_as_utf8(&text, names_text(work->timeline.present.names, names[i]),
                         strlen(names_text(work->timeline.present.names, names[i])));
        text_add(&text, "'");
    }
    findings_add(work->findings, FINDING_PAST_UNKNOWN, rebuilt->row.id, "%s", text.bytes);
    work->counts->unknown++;
    text_free(&text);
}

static void count_source(struct rebuilding *work, const struct subject *subject,
                         const struct rebuilt *rebuilt)
{
    static const struct association nothing = { .deleted = true };
    const struct association *was = &rebuilt->row;
    const struct association *row = timeline_row(&work->timeline, subject);
    const struct association *is = row ? row : &nothing;
    bool same = was->deleted == is->deleted &&
                (was->deleted ||
                 (was->shares == is->shares && was->account == is->account &&
                  was->user == is->user && was->partition == is->partition &&
                  was->parent_id == is->parent_id && was->parent_account == is->parent_account));
    if (same)
        return;
    if (!rebuilt->source)
        work->counts->by_times++;
    else if (change_is_of_run(rebuilt->source))
        work->counts->by_runs++;
    else
        work->counts->by_source++;
}

static struct id_index *living_of(const struct association *rows, size_t count)
{
    struct id_index *living = id_index_create();
    for (uint32_t i = 0; i < count; i++)
        if (!rows[i].deleted)
            id_index_add(living, rows[i].id, i);
    return living;
}

/* Whether the source has it below nothing that lives even now.  That mistake is not hidden. */
static bool is_astray_now(const struct timeline *timeline, const struct id_index *living,
                          const struct association *row)
{
    const struct subject *subject = timeline_subject(timeline, row->id);
    const struct association *present = subject ? timeline_row(timeline, subject) : NULL;
    return present && !present->deleted && present->parent_id == row->parent_id &&
           id_index_find(living, row->parent_id) == INDEX_NONE;
}

/* A parent's id that leads to nothing that lived is dropped; then the name links. */
static void link_to_living(const struct timeline *timeline, struct association *rows, size_t count)
{
    struct id_index *living = living_of(rows, count),
                    *living_now = living_of(timeline->present.rows, timeline->present.count);
    for (size_t i = 0; i < count; i++)
        if (!rows[i].deleted && rows[i].parent_id &&
            id_index_find(living, rows[i].parent_id) == INDEX_NONE &&
            !is_astray_now(timeline, living_now, &rows[i]))
            rows[i].parent_id = 0;
    id_index_destroy(living);
    id_index_destroy(living_now);
}

static struct association *rebuild_all(struct rebuilding *work, size_t *count)
{
    struct association *rows = memory_zeroed(
        work->timeline.subject_count + work->timeline.present.count + 1, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < work->timeline.subject_count; i++) {
        const struct subject *subject = &work->timeline.subjects[i];
        struct rebuilt rebuilt = rebuild(work, subject);
        note_doubt(work, &rebuilt);
        count_source(work, subject, &rebuilt);
        /* A deleted one leads its usage to its parent; one that was not made yet has none. */
        bool later = subject->row == NO_ROW || subject->created > work->timeline.past->now;
        if (rebuilt.lives || !later)
            rows[(*count)++] = rebuilt.row;
    }
    /* Rows that repeat an id stay as they are; tree_build() reports them. */
    for (size_t i = 0; i < work->timeline.present.count; i++)
        if (timeline_subject(&work->timeline, work->timeline.present.rows[i].id)->row != i)
            rows[(*count)++] = work->timeline.present.rows[i];
    link_to_living(&work->timeline, rows, *count);
    return rows;
}

void past_apply(const struct past *past, struct associations *associations,
                struct findings *findings, struct past_counts *counts)
{
    struct rebuilding work = { .timeline = { .past = past, .present = *associations },
                               .findings = findings,
                               .counts = counts };
    *counts = (struct past_counts){ 0 };
    timeline_fill(&work.timeline);
    associations->rows = rebuild_all(&work, &associations->count);
    free(work.timeline.present.rows);
    timeline_free(&work.timeline);
}

/* ---- The order of siblings ---- */

struct lineage_end {
    const char *bytes;
    uint32_t id, row;
};

static int by_bytes(const void *a, const void *b)
{
    const struct lineage_end *one = a, *other = b;
    int order = strcmp(one->bytes, other->bytes);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

void past_order(const struct associations *associations)
{
    struct association *rows = associations->rows;
    const struct names *names = associations->names;
    size_t count = associations->count;
    struct arena *arena = arena_create();
    struct lineage_end *ends = memory_zeroed(count + 1, sizeof *ends);
    struct text text = { 0 };
    for (size_t i = 0; i < count; i++) {
        bool user = rows[i].user != associations->empty_name;
        text.length = 0;
        text_format(&text, "%s%s/", user ? "0-" : "",
                    names_text(names, user ? rows[i].user : rows[i].account));
        if (user && rows[i].partition != associations->empty_name)
            text_format(&text, "%s/", names_text(names, rows[i].partition));
        ends[i] = (struct lineage_end){ arena_copy(arena, text.bytes, text.length),
                                        (uint32_t)rows[i].id, (uint32_t)i };
    }
    qsort(ends, count, sizeof *ends, by_bytes);
    for (size_t i = 0; i < count; i++)
        rows[ends[i].row].order = (uint32_t)i;
    text_free(&text);
    free(ends);
    arena_destroy(arena);
}

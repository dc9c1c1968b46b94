/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/tree/resolved_state.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * A row with an uncertain parent, and the parent that runs recorded.  The recorded parent replaces
 * the parent from the database if the latter did not exist.
 */
struct refutable {
    size_t row;
    uint32_t parent_id, parent_account;
};

/* The state of association_history_apply(). */
struct rebuilding {
    struct timeline timeline, source_only; /* with and without the observations of runs */
    bool has_source_only;
    struct refutable *refutables;
    size_t refutable_count;
    struct findings *findings;
    struct association_history_counts *counts;
};

/* Takes uncertain values from the database alone, so that additional runs cannot change them. */
static void take_from_source(struct rebuilding *work, size_t place, struct resolved_state *known)
{
    if (!work->has_source_only)
        work->source_only = timeline_make(work->timeline.history, &work->timeline.present, false);
    work->has_source_only = true;
    struct resolved_state alone =
        resolved_state_at(&work->source_only, &work->source_only.subjects[place]);
    unsigned open = known->doubts & ~(known->alike & alone.doubts);
    if (open & DOUBT_EXISTENCE) {
        known->lives = alone.lives && known->named;
        known->row.deleted = !known->lives;
        known->told_existence = alone.told_existence;
    }
    if ((open & DOUBT_SHARES) && alone.named) {
        known->row.shares = alone.row.shares;
        known->told_shares = alone.told_shares;
    }
    if ((open & DOUBT_PARENT) && alone.named) {
        known->row.parent_id = alone.row.parent_id;
        known->row.parent_account = alone.row.parent_account;
        known->told_parent = alone.told_parent;
    }
}

/* All associations. */

static void history_apply_note_doubt(struct rebuilding *work, const struct resolved_state *known)
{
    static const struct {
        unsigned doubt;
        const char *name;
    } things[] = { { DOUBT_EXISTENCE, "existence" },
                   { DOUBT_SHARES, "shares" },
                   { DOUBT_PARENT, "parent" } };
    struct text text = { 0 };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (known->doubts & things[i].doubt)
            text_format(&text, "%s%s", text.length ? ", " : "", things[i].name);
    const uint32_t names[] = { known->row.user, known->row.account };
    static const char *const before[] = { " of user '", " of account '" };
    for (size_t i = 0; i < 2; i++) {
        if (!known->named || names[i] == work->timeline.present.empty_name)
            continue;
        text_add(&text, before[i]);
        text_add_as_utf8(&text, names_text(work->timeline.present.names, names[i]),
                         strlen(names_text(work->timeline.present.names, names[i])));
        text_add(&text, "'");
    }
    findings_add(work->findings, FINDING_PAST_UNKNOWN, known->row.id, "%s", text.bytes);
    work->counts->unknown++;
    text_free(&text);
}

/* Counts an association that differs from its current row, by the source of the evidence. */
static void count_evidence(struct rebuilding *work, const struct subject *subject,
                           const struct resolved_state *known)
{
    static const struct association nothing = { .deleted = true };
    size_t *counts[] = { &work->counts->by_runs, &work->counts->by_source,
                         &work->counts->by_times };
    const struct association *was = &known->row;
    const struct association *row = timeline_row(&work->timeline, subject);
    const struct association *is = row ? row : &nothing;
    if (was->deleted != is->deleted)
        ++*counts[known->told_existence];
    else if (!was->deleted && was->shares != is->shares)
        ++*counts[known->told_shares];
    else if (!was->deleted && (was->account != is->account || was->user != is->user ||
                               was->partition != is->partition || was->parent_id != is->parent_id ||
                               was->parent_account != is->parent_account))
        ++*counts[known->told_parent];
}

static struct id_index *living_of(const struct association *rows, size_t count)
{
    struct id_index *living = id_index_create();
    for (uint32_t i = 0; i < count; i++)
        if (!rows[i].deleted)
            id_index_add(living, rows[i].id, i);
    return living;
}

/*
 * Returns true if the association's current row has the same parent id and this parent does not
 * exist now, either.  Such an error in the database must stay visible.
 */
static bool is_astray_now(const struct timeline *timeline, const struct id_index *living,
                          const struct association *row)
{
    const struct subject *subject = timeline_subject(timeline, row->id);
    const struct association *present = subject ? timeline_row(timeline, subject) : NULL;
    return present && !present->deleted && present->parent_id == row->parent_id &&
           id_index_find(living, row->parent_id) == INDEX_NONE;
}

/* Clears each parent id for which no row exists, so that tree_build() finds the parent by its
 * name. */
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

static void replace_refuted(const struct rebuilding *work, struct association *rows, size_t count)
{
    size_t names = names_count(work->timeline.present.names);
    bool *lives = memory_zeroed(names + 1, sizeof *lives);
    for (size_t i = 0; i < count; i++)
        if (!rows[i].deleted && rows[i].user == work->timeline.present.empty_name)
            lives[rows[i].account] = true;
    for (size_t i = 0; i < work->refutable_count; i++) {
        const struct refutable *other = &work->refutables[i];
        struct association *row = &rows[other->row];
        if (!lives[row->parent_account] && lives[other->parent_account]) {
            row->parent_id = other->parent_id;
            row->parent_account = other->parent_account;
        }
    }
    free(lives);
}

static void add_refutable(struct rebuilding *work, size_t row, const struct association *seen)
{
    *memory_append(&work->refutables, &work->refutable_count) =
        (struct refutable){ row, seen->parent_id, seen->parent_account };
}

/*
 * Returns true if the lineage differs from that of the current row, or if there is no current row.
 */
static bool is_elsewhere(const struct association *row, const struct association *was)
{
    return !row || row->account != was->account || row->user != was->user ||
           row->partition != was->partition || row->parent_account != was->parent_account;
}

/* Adds the association as it was at T.  Uncertain values come from the database alone. */
static void rebuild(struct rebuilding *work, size_t place, struct association *rows, size_t *count)
{
    const struct timeline *timeline = &work->timeline;
    const struct subject *subject = &timeline->subjects[place];
    struct resolved_state known = resolved_state_at(timeline, subject);
    struct association seen = known.row;
    if (known.doubts)
        take_from_source(work, place, &known);
    /* Keep deleted rows, which pass their usage to the parent, but not rows that were created after
     * T. */
    bool is_row =
        known.lives || (subject->row != NO_ROW && subject->created <= timeline->history->now);
    if (!known.lives)
        known.doubts &= is_row ? ~(unsigned)DOUBT_SHARES : DOUBT_EXISTENCE;
    if (known.doubts)
        history_apply_note_doubt(work, &known);
    count_evidence(work, subject, &known);
    if (!is_row)
        return;
    if (known.lives && (known.doubts & DOUBT_PARENT))
        add_refutable(work, *count, &seen);
    if (subject->row == NO_ROW)
        known.row.order = (uint32_t)(timeline->present.count + place);
    if (is_elsewhere(timeline_row(timeline, subject), &known.row))
        work->counts->moved = true;
    rows[(*count)++] = known.row;
}

static struct association *rebuild_all(struct rebuilding *work, size_t *count)
{
    const struct timeline *timeline = &work->timeline;
    struct association *rows =
        memory_zeroed(timeline->subject_count + timeline->present.count + 1, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < timeline->subject_count; i++)
        rebuild(work, i, rows, count);
    replace_refuted(work, rows, *count);
    /* Keep rows with a repeated id; tree_build() reports them. */
    for (size_t i = 0; i < timeline->present.count; i++)
        if (timeline_subject(timeline, timeline->present.rows[i].id)->row != i)
            rows[(*count)++] = timeline->present.rows[i];
    link_to_living(timeline, rows, *count);
    return rows;
}

void association_history_apply(const struct association_history *history,
                               struct associations *associations, struct findings *findings,
                               struct association_history_counts *counts)
{
    struct rebuilding work = { .timeline = timeline_make(history, associations, true),
                               .findings = findings,
                               .counts = counts };
    *counts = (struct association_history_counts){ 0 };
    struct association *present = associations->rows;
    associations->rows = rebuild_all(&work, &associations->count);
    free(present);
    timeline_free(&work.timeline);
    if (work.has_source_only)
        timeline_free(&work.source_only);
    free(work.refutables);
}

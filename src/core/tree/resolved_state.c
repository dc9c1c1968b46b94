/* SPDX-License-Identifier: MIT */
#include "core/tree/resolved_state.h"

/*
 * The evidence about one association at the time `at`.
 *
 * `before` is the state at the start of the timeline's interval, which is the last run up to `at`.
 * `after` is the state at the end of the interval, which is the first run after `at`, or now.  The
 * functions below derive existence, shares and parent twice: forward from `before`, and backward
 * from `after`.  Both derivations apply the logged changes.  If the log covers the time completely,
 * or if nothing was modified, one of them is enough.  If their results differ, the value is
 * uncertain.
 */
struct evidence {
    const struct timeline *timeline;
    const struct subject *subject;
    int64_t at;
    struct state before, after;
    /* The first change in the interval, and the first change after `at`.  Each is subject->end if
     * there is no such change.  Changes in the same second as a run are included.  The run may have
     * been before or after these changes, but the state at the end of that second is the same. */
    const struct change *first, *next;
};

/* Returns true if the log has all changes from this time on. */
static bool is_covered(const struct evidence *evidence, int64_t from)
{
    int64_t reach = evidence->timeline->history->log_start;
    return reach != NEVER && reach <= from;
}

/* Returns true if the association was not modified between `at` and the end of the interval. */
static bool is_untouched(const struct evidence *evidence)
{
    return evidence->after.modified != NEVER && evidence->after.modified <= evidence->at;
}

/* Returns true if the association was not modified within the interval, according to mod_time. */
static bool is_untouched_throughout(const struct evidence *evidence)
{
    return evidence->before.known && evidence->after.modified != NEVER &&
           evidence->after.modified < evidence->timeline->from;
}

static bool is_made_between(const struct evidence *evidence)
{
    int64_t created = evidence->subject->created;
    return created != NEVER && created > evidence->timeline->from &&
           created <= evidence->timeline->until;
}

/*
 * Returns true if the association was created after `at`.  If the association existed at the end of
 * the interval but its creation time is later, its row was lost and created again.  Such a creation
 * time proves nothing.
 */
static bool is_made_later(const struct evidence *evidence)
{
    int64_t created = evidence->subject->created;
    return created != NEVER && evidence->at < created &&
           !(evidence->after.lives && created > evidence->timeline->until);
}

/* Returns true if there is no evidence of a change within the interval. */
static bool is_silent(const struct evidence *evidence)
{
    return evidence->before.known && evidence->first == evidence->subject->end &&
           !is_made_between(evidence);
}

/* Without modification times, a value that is the same at the start and at the end of the interval
 * is treated as unchanged. */
static bool is_taken_as_unchanged(const struct evidence *evidence)
{
    return is_silent(evidence) && evidence->after.modified == NEVER;
}

/* Returns how many of the ascending times are not after `until`. */
static size_t times_until(const int64_t *times, size_t count, int64_t until)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] <= until)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_touch_of_all(const struct association_history *history, int64_t at)
{
    size_t i = times_until(history->touches, history->touch_count, at);
    return i && history->touches[i - 1] == at;
}

/* Returns true if the log explains the association's last modification. */
static bool is_last_touch_explained(const struct evidence *evidence)
{
    for (const struct change *each = evidence->subject->changes; each < evidence->subject->end;
         each++)
        if (each->at == evidence->after.modified)
            return true;
    return is_touch_of_all(evidence->timeline->history, evidence->after.modified);
}

/* Existence. */

enum life { LIFE_UNKNOWN, LIFE_ALIVE, LIFE_GONE };

static enum life life_of(bool lives)
{
    return lives ? LIFE_ALIVE : LIFE_GONE;
}

/* Returns existence after the change if it was `life` before the change. */
static enum life life_behind(const struct change *change, enum life life)
{
    switch (change->kind) {
    case CHANGE_ADDED:
    case CHANGE_MODIFIED:
        return LIFE_ALIVE;
    case CHANGE_REMOVED:
    case CHANGE_CASCADED:
        return LIFE_GONE;
    default:
        return life == LIFE_ALIVE ? LIFE_UNKNOWN : life;
    }
}

/* Returns existence before the change if it was `life` after the change. */
static enum life life_ahead_of(const struct change *change, enum life life)
{
    switch (change->kind) {
    case CHANGE_ADDED:
        return LIFE_GONE;
    case CHANGE_MODIFIED:
    case CHANGE_REMOVED:
        return LIFE_ALIVE;
    case CHANGE_CASCADED:
        return LIFE_UNKNOWN;
    default:
        return life == LIFE_ALIVE ? LIFE_ALIVE : LIFE_UNKNOWN;
    }
}

/*
 * Returns true if any account was removed between two times.  If the rows of its descendants were
 * purged, there may be no other trace of their removal.
 */
static bool is_account_removed(const struct evidence *evidence, int64_t after, int64_t until)
{
    const struct association_history *history = evidence->timeline->history;
    size_t i = times_until(history->account_removals, history->account_removal_count, until);
    return i && history->account_removals[i - 1] > after;
}

/*
 * Returns true if the association did not exist at some time after `at` and the time of its removal
 * is unknown.
 */
static bool is_end_untold(const struct evidence *evidence)
{
    const struct subject *subject = evidence->subject;
    const struct change *next = evidence->next;
    /* A cascade does not prove that the association existed until the removal, if its row was
     * purged or if some account's earlier parent is unknown. */
    bool is_vague = subject->row == NO_ROW || evidence->timeline->lost_parents;
    while (is_vague && next < subject->end && next->kind >= CHANGE_CASCADED)
        next++;
    if (next == subject->end ? evidence->after.lives : next->kind != CHANGE_ADDED)
        return false;
    if (evidence->next == evidence->first)
        return true;
    enum change_kind last = evidence->next[-1].kind;
    return last != CHANGE_REMOVED && last != CHANGE_CASCADED;
}

/* Derives existence at `at` from the state at the start of the interval, or from the creation
 * time. */
static enum life life_from_before(const struct evidence *evidence)
{
    const struct subject *subject = evidence->subject;
    int64_t from = evidence->timeline->from;
    enum life life = LIFE_UNKNOWN;
    bool made = is_made_between(evidence);
    if (made)
        life = is_covered(evidence, subject->created) ? LIFE_ALIVE : LIFE_UNKNOWN;
    else if (evidence->before.known && is_covered(evidence, from))
        life = life_of(evidence->before.lives);
    for (const struct change *each = evidence->first; each < evidence->next; each++)
        if (!made || each->at >= subject->created)
            life = life_behind(each, life);
    int64_t told_at = evidence->next > evidence->first ? evidence->next[-1].at
                      : made                           ? subject->created
                                                       : from;
    if (life == LIFE_ALIVE && is_end_untold(evidence) &&
        is_account_removed(evidence, told_at, evidence->at))
        return LIFE_UNKNOWN;
    return life;
}

/*
 * Derives existence at `at` from the state at the end of the interval.  If the time of removal is
 * unknown, the association may have been removed at its last modification or together with an
 * account.
 */
static enum life life_from_after(const struct evidence *evidence)
{
    enum life life = life_of(evidence->after.lives);
    if (!is_covered(evidence, evidence->at))
        return LIFE_UNKNOWN;
    for (const struct change *each = evidence->subject->end; each > evidence->next; each--)
        life = life_ahead_of(each - 1, life);
    if (!is_end_untold(evidence))
        return life;
    bool is_last = evidence->next == evidence->subject->end;
    int64_t gone_at = is_last ? evidence->timeline->until : evidence->next->at;
    bool may_be_told =
        evidence->next > evidence->first && evidence->next[-1].kind == CHANGE_MAYBE_CASCADED;
    bool is_modified = is_last && !may_be_told && evidence->after.modified != NEVER &&
                       !is_last_touch_explained(evidence);
    if (is_modified ||
        (evidence->subject->row != NO_ROW && is_account_removed(evidence, evidence->at, gone_at)))
        return LIFE_UNKNOWN;
    return life;
}

/* Returns true if the association most likely existed at `at`.  `earlier` and `later` are the
 * results of life_from_before() and life_from_after(). */
static bool likely_lives(const struct evidence *evidence, enum life earlier, enum life later)
{
    if (earlier != LIFE_UNKNOWN)
        return earlier == LIFE_ALIVE;
    if (later != LIFE_UNKNOWN)
        return later == LIFE_ALIVE;
    return evidence->after.lives || (evidence->after.modified != NEVER && evidence->after.named &&
                                     evidence->after.modified > evidence->at);
}

static bool has_other_names(const struct evidence *evidence)
{
    const struct state *before = &evidence->before, *after = &evidence->after;
    return before->lives && after->lives && before->named && after->named &&
           (before->row.account != after->row.account || before->row.user != after->row.user ||
            before->row.partition != after->row.partition);
}

static void tell_existence(const struct evidence *evidence, struct resolved_state *known)
{
    const struct state *before = &evidence->before, *after = &evidence->after;
    const struct subject *subject = evidence->subject;
    enum life earlier, later;
    known->told_existence = after->told;
    if (is_made_later(evidence)) {
        known->told_existence = EVIDENCE_TIMES;
        known->doubts |= before->lives ? DOUBT_EXISTENCE : 0;
        return;
    }
    if (is_untouched(evidence)) {
        known->lives = after->lives;
        if ((is_untouched_throughout(evidence) && before->lives != after->lives) ||
            has_other_names(evidence))
            known->doubts |= DOUBT_EXISTENCE;
        return;
    }
    earlier = life_from_before(evidence);
    later = life_from_after(evidence);
    known->lives = likely_lives(evidence, earlier, later);
    if (earlier != LIFE_UNKNOWN && (later == LIFE_UNKNOWN || later == earlier))
        known->told_existence = evidence->next > evidence->first ? EVIDENCE_SOURCE
                                : before->known                  ? EVIDENCE_RUNS
                                                                 : EVIDENCE_TIMES;
    else if (earlier == LIFE_UNKNOWN && later != LIFE_UNKNOWN)
        known->told_existence = evidence->next < subject->end ? EVIDENCE_SOURCE : after->told;
    else
        known->doubts |= DOUBT_EXISTENCE;
    /* Without evidence of a change, an association that existed at the start and at the end of the
     * interval existed in between.  If it existed at neither time, it may have existed for some
     * time in between. */
    if (earlier == later && is_silent(evidence) && before->lives == after->lives) {
        known->lives = after->lives;
        known->alike |= DOUBT_EXISTENCE;
        if (is_taken_as_unchanged(evidence) && (before->lives || subject->modified == NEVER))
            known->doubts &= ~(unsigned)DOUBT_EXISTENCE;
    }
    if (has_other_names(evidence))
        known->doubts |= DOUBT_EXISTENCE;
}

/* Shares. */

/* Negative shares are published as 0. */
static bool same_shares(int32_t one, int32_t other)
{
    return (one > 0 ? one : 0) == (other > 0 ? other : 0);
}

/* Returns the last change up to `at` that set the shares, or NULL. */
static const struct change *last_setting(const struct evidence *evidence)
{
    for (const struct change *each = evidence->next; each > evidence->first; each--)
        if (each[-1].has_shares)
            return each - 1;
    return NULL;
}

static bool are_set_later(const struct evidence *evidence)
{
    for (const struct change *each = evidence->next; each < evidence->subject->end; each++)
        if (each->has_shares)
            return true;
    return false;
}

static void resolved_state_tell_shares(const struct evidence *evidence,
                                       struct resolved_state *known)
{
    const struct state *before = &evidence->before, *after = &evidence->after;
    const struct change *set = last_setting(evidence);
    bool untouched = is_untouched(evidence);
    bool later = after->lives &&
                 (untouched || (is_covered(evidence, evidence->at) && !are_set_later(evidence)));
    bool earlier =
        !untouched && (set || (before->lives && is_covered(evidence, evidence->timeline->from)));
    int32_t first = set ? set->shares : before->row.shares, last = after->row.shares;
    known->row.shares = earlier || !after->named ? first : last;
    known->told_shares = !earlier ? after->told : set ? EVIDENCE_SOURCE : EVIDENCE_RUNS;
    if (earlier && after->named && same_shares(first, last))
        known->row.shares = last;
    if (earlier && later && !same_shares(first, last))
        known->doubts |= DOUBT_SHARES;
    if (is_untouched_throughout(evidence) && before->lives && !same_shares(first, last))
        known->doubts |= DOUBT_SHARES;
    bool alike = before->lives && after->lives && is_taken_as_unchanged(evidence) &&
                 same_shares(before->row.shares, last);
    if (!earlier && !later && !alike)
        known->doubts |= DOUBT_SHARES;
}

/* Parent. */

/* The parent of the association according to one piece of evidence. */
struct edge {
    bool known;
    int64_t at; /* the time from which, or at which, this was the parent */
    uint32_t id, account;
    enum evidence_source told;
};

static bool same_parent(const struct edge *one, const struct edge *other)
{
    return one->id && other->id ? one->id == other->id : one->account == other->account;
}

static struct edge edge_of(const struct state *state, int64_t at)
{
    return (struct edge){ state->has_parent, at, state->row.parent_id, state->row.parent_account,
                          state->told };
}

/*
 * Returns the parent at the last addition up to `at`.  If a run recorded the parent after that
 * addition, returns the recorded parent.
 */
static struct edge earlier_edge(const struct evidence *evidence)
{
    const struct change *first =
        evidence->before.has_parent ? evidence->first : evidence->subject->changes;
    for (const struct change *each = evidence->next; each > first; each--)
        if (each[-1].kind == CHANGE_ADDED)
            return (struct edge){ true, each[-1].at, each[-1].parent_id, each[-1].parent_account,
                                  EVIDENCE_SOURCE };
    return edge_of(&evidence->before, evidence->timeline->from);
}

static bool is_added_later(const struct evidence *evidence)
{
    for (const struct change *each = evidence->next; each < evidence->subject->end; each++)
        if (each->kind == CHANGE_ADDED)
            return true;
    return false;
}

/* Returns true if the association was added again after `at` or after the end of the interval. */
static bool is_added_again(const struct evidence *evidence)
{
    const struct association *row = timeline_row(evidence->timeline, evidence->subject);
    return is_added_later(evidence) || (!row->deleted && !evidence->after.lives);
}

/*
 * Returns the parent at the end of the interval, or an unknown parent if the association was added
 * again after `at`.
 */
static struct edge later_edge(const struct evidence *evidence)
{
    struct edge edge = edge_of(&evidence->after, evidence->timeline->until);
    edge.known &= !is_added_later(evidence);
    return edge;
}

/*
 * Returns true if an account may have had a different parent at `at` than `earlier` and `later`
 * show.  `later` must be known; `earlier` may be unknown.
 */
static bool may_have_moved(const struct evidence *evidence, const struct edge *earlier,
                           const struct edge *later)
{
    int64_t modified = evidence->after.modified;
    bool alike = earlier->known && same_parent(earlier, later);
    if (modified == NEVER)
        return !alike;
    bool untouched = modified < earlier->at ||
                     (modified == earlier->at && modified == evidence->before.modified);
    if (earlier->known && (untouched || is_last_touch_explained(evidence)))
        return !alike;
    if (modified <= evidence->at)
        return false;
    /* A modification at the same time as the root's may be due to a move of another account. */
    bool with_root = modified == evidence->timeline->root_modified;
    return !with_root || !alike;
}

static void tell_parent(const struct evidence *evidence, struct resolved_state *known)
{
    struct edge earlier = earlier_edge(evidence), later = later_edge(evidence);
    const struct state *before = &evidence->before;
    uint32_t no_name = evidence->timeline->present.empty_name;
    bool is_user = known->row.user != no_name, moved = true;
    /* If the association did not exist at the start of the interval, runs recorded its last
     * parent. */
    struct edge last = edge_of(before, evidence->timeline->from);
    last.known = before->named;
    if (!before->has_parent && last.known && earlier.known && !same_parent(&last, &earlier))
        earlier = last;
    if (!earlier.known && (!later.known || (last.known && same_parent(&last, &later))))
        earlier = last;
    bool alike = earlier.known && later.known && same_parent(&earlier, &later);
    if (later.known)
        moved = may_have_moved(evidence, &earlier, &later);
    else if (earlier.known)
        moved = (earlier.at == evidence->timeline->from && !before->has_parent) ||
                !is_covered(evidence, earlier.at) ||
                (evidence->subject->row != NO_ROW && !is_added_again(evidence));
    known->alike |= alike || (earlier.known && !later.known) ? DOUBT_PARENT : 0;
    /* If the account was moved, the move was most likely at the last modification. */
    bool is_before = moved && earlier.known && evidence->after.modified > evidence->at;
    const struct edge *edge = later.known && !is_before ? &later : &earlier;
    if (edge->known) {
        known->row.parent_id = edge->id;
        known->row.parent_account = edge->account;
        known->told_parent = edge->told;
    }
    /* The parent of a user is always its account.  The root is never below another account. */
    if (moved && !is_user && !(edge->known && edge->account == no_name))
        known->doubts |= DOUBT_PARENT;
}

/* The whole state. */

static void resolved_state_take_names(const struct evidence *evidence, struct resolved_state *known)
{
    const struct association *row = timeline_row(evidence->timeline, evidence->subject);
    const struct state *ends[] = { &evidence->after, &evidence->before };
    known->named = true;
    if (row) {
        known->row = *row;
        return;
    }
    known->row = (struct association){ .id = evidence->subject->id };
    for (size_t i = 0; i < 2; i++)
        if (ends[i]->named) {
            known->row = ends[i]->row;
            return;
        }
    for (const struct change *each = evidence->subject->changes; each < evidence->subject->end;
         each++)
        if (each->kind == CHANGE_ADDED) {
            known->row.account = each->account;
            known->row.user = each->user;
            known->row.partition = each->partition;
            return;
        }
    known->named = false;
}

/*
 * Returns true if a run recorded the state at exactly this time.  Also returns true if the runs
 * before and after this time show that nothing was modified between them.
 */
static bool resolved_state_is_seen(const struct evidence *evidence)
{
    const struct timeline *timeline = evidence->timeline;
    if (timeline->from == NEVER || timeline->from == evidence->at)
        return timeline->from != NEVER;
    return timeline->until != INT64_MAX && !timeline->history->after.count &&
           evidence->first == evidence->subject->end;
}

static void take_as_seen(const struct evidence *evidence, struct resolved_state *known)
{
    const struct state *before = &evidence->before;
    known->lives = before->lives;
    known->told_existence = known->told_shares = known->told_parent = EVIDENCE_RUNS;
    if (before->lives)
        known->row = before->row;
    else
        tell_parent(evidence, known);
}

struct resolved_state resolved_state_at(const struct timeline *timeline,
                                        const struct subject *subject)
{
    struct evidence evidence = {
        .timeline = timeline,
        .subject = subject,
        .at = timeline->history->now,
        .before = timeline_before(timeline, subject),
        .after = timeline_after(timeline, subject),
        .first = subject->changes,
    };
    struct resolved_state known = { 0 };
    while (evidence.first < subject->end && evidence.first->at < timeline->from)
        evidence.first++;
    evidence.next = evidence.first;
    while (evidence.next < subject->end && evidence.next->at <= evidence.at)
        evidence.next++;
    resolved_state_take_names(&evidence, &known);
    bool is_seen_so = resolved_state_is_seen(&evidence);
    if (is_seen_so)
        take_as_seen(&evidence, &known);
    else
        tell_parent(&evidence, &known);
    /* Changes may follow the last run in the same second.  A current row that was not modified
     * after that second is valid for it, too.  The parent is not derived from the current row,
     * because a move may leave the modification time unchanged. */
    if (!is_seen_so || (timeline->until == INT64_MAX && is_untouched(&evidence))) {
        tell_existence(&evidence, &known);
        resolved_state_tell_shares(&evidence, &known);
    }
    const struct association *row = timeline_row(timeline, subject);
    if (row && row->user != timeline->present.empty_name) {
        known.row.parent_id = row->parent_id;
        known.row.parent_account = row->parent_account;
    }
    known.row.deleted = !known.lives;
    /* An association without names cannot be published. */
    if (known.lives && !known.named) {
        known.lives = false;
        known.doubts = DOUBT_EXISTENCE;
    }
    return known;
}

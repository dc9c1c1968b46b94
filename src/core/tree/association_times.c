/* SPDX-License-Identifier: MIT */
#include "core/tree/association_times.h"

#include <stdlib.h>

#include "core/tree/association_history.h"
#include "core/tree/resolved_state.h"
#include "core/tree/timeline.h"
#include "util/index.h"
#include "util/memory.h"

void association_times_add(struct association_times *times, const struct association_since *row)
{
    *memory_append(&times->rows, &times->count) = *row;
}

void association_times_free(struct association_times *times)
{
    free(times->rows);
    times->rows = NULL;
    times->count = 0;
}

static bool same_state(const struct association *one, const struct association *other)
{
    return one->deleted == other->deleted && one->parent_id == other->parent_id &&
           one->shares == other->shares && one->account == other->account &&
           one->user == other->user && one->partition == other->partition;
}

struct association_times_search {
    struct timeline timeline;
    struct association_history history; /* its `now` is set to each time in turn */
    uint32_t *account_id; /* indexed by name: the id of the account's association, or 0 */
    uint32_t names, root;
    int64_t until;
    struct association_times *times;
};

/* Maps account names to ids, because older tables contain only the parent's name. */
static void find_accounts(struct association_times_search *search)
{
    const struct associations *present = &search->timeline.present;
    search->names = names_count(present->names);
    search->account_id = memory_zeroed((size_t)search->names + 1, sizeof *search->account_id);
    for (size_t i = 0; i < present->count; i++) {
        const struct association *row = &present->rows[i];
        if (row->user != present->empty_name || (row->deleted && search->account_id[row->account]))
            continue;
        search->account_id[row->account] = row->id;
        if (!row->parent_id && row->parent_account == present->empty_name)
            search->root = row->id;
    }
}

static uint32_t association_times_parent_of(const struct association_times_search *search,
                                            const struct association *row)
{
    uint32_t no_name = search->timeline.present.empty_name;
    if (row->parent_id || row->id == search->root)
        return row->parent_id;
    uint32_t name = row->user == no_name ? row->parent_account : row->account;
    uint32_t id = name < search->names ? search->account_id[name] : 0;
    return id ? id : search->root;
}

/* Appends the state at `at` unless it equals the previous state of the association. */
static void add_state(struct association_times_search *search, const struct subject *subject,
                      int64_t at)
{
    struct association_times *times = search->times;
    const struct association_since *last = times->count ? &times->rows[times->count - 1] : NULL;
    search->history.now = at;
    struct resolved_state known = resolved_state_at(&search->timeline, subject);
    known.row.parent_id = association_times_parent_of(search, &known.row);
    bool first = !last || last->row.id != subject->id;
    bool was_there = first && timeline_before(&search->timeline, subject).lives;
    if (!known.named || (first ? !known.lives && !was_there : same_state(&last->row, &known.row)))
        return;
    association_times_add(times,
                          &(struct association_since){ at < 0 ? SINCE_EVER : at, known.row });
}

static int association_times_by_time(const void *a, const void *b)
{
    const int64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/*
 * Adds the states of one association.  The state can change when the association was created, when
 * it was last modified, and at each logged change.
 */
static void association_times_add_subject(struct association_times_search *search,
                                          const struct subject *subject)
{
    size_t changes = (size_t)(subject->end - subject->changes), count = 0;
    int64_t *times = memory_zeroed(changes + 4, sizeof *times);
    times[count++] = NEVER;
    times[count++] = subject->created;
    times[count++] = subject->modified;
    times[count++] = timeline_after(&search->timeline, subject).modified;
    for (size_t i = 0; i < changes; i++)
        times[count++] = subject->changes[i].at;
    qsort(times, count, sizeof *times, association_times_by_time);
    for (size_t i = 0; i < count; i++)
        if ((!i || times[i] != times[i - 1]) && times[i] < search->until &&
            (search->timeline.from == NEVER || times[i] >= search->timeline.from))
            add_state(search, subject, times[i]);
    free(times);
}

void association_times_of_past(const struct association_history *history, int64_t until,
                               const struct associations *associations,
                               struct association_times *times)
{
    struct association_times_search search = { .history = *history,
                                               .until = until,
                                               .times = times };
    search.timeline = timeline_make(&search.history, associations, true);
    if (search.timeline.until < until)
        search.until = search.timeline.until;
    find_accounts(&search);
    for (size_t i = 0; i < search.timeline.subject_count; i++)
        association_times_add_subject(&search, &search.timeline.subjects[i]);
    free(search.account_id);
    timeline_free(&search.timeline);
}

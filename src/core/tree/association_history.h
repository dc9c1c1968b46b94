/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_ASSOCIATION_HISTORY_H
#define FAIRMILL_CORE_TREE_ASSOCIATION_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct associations;
struct findings;

/*
 * Restores the associations of a cluster as they were at an earlier time T.
 *
 * Evidence comes from both sides of T:
 *
 *   - Before T: the last run at or before T, and the changes in the database's transaction log.
 *
 *   - After T: the first run after T, or the current rows.  The state that they show is valid from
 *     the association's last modification on.
 *
 * Each piece of evidence covers an interval.  A value is known at T if at least one interval covers
 * T, and if all intervals that cover T show the same value.  If T is between two intervals, a value
 * is known only if the transaction log covers the time between them completely.  Any other value is
 * uncertain.  An uncertain value is taken from the database alone, without observations of runs,
 * and the finding past_unknown reports it.  An additional run can therefore confirm a value or
 * change nothing, but it cannot make a correct value wrong.
 *
 * The transaction log records when an association was added, but not when an account was moved.  An
 * account that was modified for no logged reason may have been moved.  If the log gives a reason,
 * the parent is assumed unchanged unless other evidence contradicts this.
 *
 * Times are in epoch seconds.  Names are numbers in association_history.names.
 */

enum change_kind {
    CHANGE_ADDED,    /* added, or added again after a removal */
    CHANGE_MODIFIED, /* modified; the shares may have changed */
    CHANGE_REMOVED,  /* removed */
    /* Not in the log; the timeline derives them from removals: */
    CHANGE_CASCADED,       /* removed by cascade with its user or account, if it existed then */
    CHANGE_MAYBE_CASCADED, /* as CHANGE_CASCADED, if it was below the removed account then */
};

/* A change from the transaction log. */
struct change {
    int64_t at;
    uint32_t id;
    enum change_kind kind;
    bool has_shares;
    int32_t shares;
    /* The following are set for CHANGE_ADDED.  For the CASCADED kinds, `account` is the user or
     * account that was removed. */
    uint32_t parent_id; /* 0 if unknown or the root's; then the parent is found by name */
    uint32_t account, user, partition, parent_account;
    uint64_t sequence; /* set by association_history_add() */
};

/*
 * The state of an association as a run recorded it.  For a removed association, this is the state
 * before the removal.
 */
struct observation {
    int64_t at; /* time of the run */
    uint32_t id;
    bool lives; /* it existed: it was not deleted */
    int32_t shares;
    uint32_t parent_id;
    uint32_t account, user, partition, parent_account;
    int64_t modified; /* last modification in the database, or NEVER */
};

/*
 * The observations that apply to one run, in ascending order of id.  In association_history.before,
 * an association without a row did not exist.  In association_history.after, an association without
 * a row was as in `before`.
 */
struct observations {
    int64_t at; /* time of the run; NEVER if there is no such run */
    struct observation *rows;
    size_t count;
};

/* A removal of a user's associations, or of an account and everything below it. */
struct removal {
    int64_t at;
    bool of_account;
    uint32_t name;
    uint64_t sequence;
};

/* The creation time of an association, and the time of its last modification in the database. */
struct modified {
    uint64_t id;
    int64_t created, modified;
};

#define NEVER (-1) /* no such time, or an unknown one */

struct association_history {
    int64_t now;
    struct names *names;
    struct observations before; /* the last run at or before now */
    struct observations after;  /* the first run after now; only rows that changed since `before` */
    struct change *changes;
    size_t count;
    struct removal *removals;
    size_t removal_count;
    int64_t *account_removals; /* times of the account removals, ascending */
    size_t account_removal_count;
    int64_t *touches; /* times of bulk modifications, ascending */
    size_t touch_count;
    struct modified *modified;
    size_t modified_count;
    int64_t distrusted; /* time of the first damaged record, or NEVER; if set, observations are
                           ignored */
    int64_t log_start;  /* time of the oldest transaction still in the log, or NEVER */
    uint64_t sequence;
};

/*
 * Returns an empty history for the time `now`.  The caller frees it with
 * association_history_destroy(), which accepts NULL.
 */
struct association_history *association_history_create(int64_t now);
void association_history_destroy(struct association_history *history);

/* Sets another time T.  Discards the observations and keeps the changes from the database. */
void association_history_move(struct association_history *history, int64_t now);

/*
 * Sets the time `before` of the last run at or before history->now, and the time `after` of the
 * first run after history->now.  Each of them may be NEVER.  Must precede
 * association_history_observe().
 */
void association_history_set_runs(struct association_history *history, int64_t before,
                                  int64_t after);
/*
 * Adds an observation of an association that had changed.  Call it in ascending order of id and,
 * for each id, of time.  Keeps only the latest observation up to each of the two runs.  An
 * association without an observation between two runs was not modified between them.
 */
void association_history_observe(struct association_history *history,
                                 const struct observation *observation);

/*
 * Add data from the database.  Changes and removals must be added in log order, and bulk
 * modifications in ascending order of time.  association_history_forget_source() discards all of
 * this data, so that it can be read again.
 */
void association_history_forget_source(struct association_history *history);
void association_history_add(struct association_history *history, const struct change *change);
void association_history_add_removal(struct association_history *history, int64_t at,
                                     bool of_account, uint32_t name);
void association_history_add_bulk_change(struct association_history *history, int64_t at);
void association_history_set_log_start(struct association_history *history, int64_t oldest);
void association_history_set_times(struct association_history *history, uint64_t id,
                                   int64_t created, int64_t modified);

/*
 * The number of associations that differ from their current rows, by source of evidence, and the
 * number of uncertain associations.
 */
struct association_history_counts {
    size_t by_runs, by_source, by_times, unknown;
    bool moved; /* an association has a different lineage than its current row, or no row */
};

/*
 * Replaces `associations`, the current rows, by their state at T.  Frees associations->rows, which
 * must be heap-allocated, and sets it to a new array that the caller frees.  May add names to
 * associations->names.  Adds a finding for each uncertain association and fills `counts`.
 */
void association_history_apply(const struct association_history *history,
                               struct associations *associations, struct findings *findings,
                               struct association_history_counts *counts);

#endif

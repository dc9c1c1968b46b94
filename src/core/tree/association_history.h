/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_ASSOCIATION_HISTORY_H
#define FAIRMILL_CORE_TREE_ASSOCIATION_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct associations;
struct findings;

/* The associations as of an instant that is over.
 *
 * What is known of an association then comes from both sides of the instant.  Before it: what the
 * last run up to it saw, or what the source wrote down that was done.  After it: what the next run
 * saw, or the source has now, which holds back to when the association was last touched.  Between
 * two such spans a value is known only where the source wrote down all that was done.  What lies in
 * no span, or in two that differ, is in doubt: a finding says so, and the value is what the source
 * alone tells.  So a run that is added can only tell what is true, or change nothing.
 *
 * Of parents the source writes down when an association was added, and not that an account was
 * moved.  An account that was touched for no reason that is written down may have been moved; one
 * that was touched for a reason stays where it was, as long as nothing shows that it did not. */

enum change_kind {
    CHANGE_ADDED,    /* the source says that it was made, or made again */
    CHANGE_MODIFIED, /* that it was changed, perhaps its shares */
    CHANGE_REMOVED,  /* that it was deleted */
    /* Found by the timeline: */
    CHANGE_CASCADED,       /* it was deleted with its user or account, if it was there */
    CHANGE_MAYBE_CASCADED, /* the same, if it was below that account then */
};

/* What the source says was done to an association.  Names are numbers in past.names. */
struct change {
    int64_t at; /* epoch seconds */
    uint32_t id;
    enum change_kind kind;
    bool has_shares;
    int32_t shares;
    /* What follows is set for CHANGE_ADDED; of one that was swept, the account or user that it was
     * swept with is its `account`. */
    uint32_t parent_id; /* 0: unknown, or the root's; then the name links */
    uint32_t account, user, partition, parent_account;
    uint64_t sequence; /* set by association_history_add() */
};

/* What a run saw of an association; of one that was gone, what it had been. */
struct observation {
    int64_t at; /* the run that noted it */
    uint32_t id;
    bool lives;
    int32_t shares;
    uint32_t parent_id;
    uint32_t account, user, partition, parent_account;
    int64_t modified; /* when the source had last touched it; or NEVER */
};

/* All associations that a run saw, by ascending id.  What is not there did not live. */
struct observations {
    int64_t at; /* NEVER: there is no such run */
    struct observation *rows;
    size_t count;
};

/* All associations of a user, or of an account and of all accounts below it, were removed. */
struct removal {
    int64_t at;
    bool of_account;
    uint32_t name;
    uint64_t sequence;
};

/* When the source made an association, and when it last touched it. */
struct modified {
    uint64_t id;
    int64_t created, modified;
};

#define NEVER (-1) /* no such instant, or it is not known */

struct association_history {
    int64_t now;
    struct names *names;
    struct observations before; /* by the last run up to now */
    struct observations
        after; /* by the first run after it; those that had changed since `before` */
    struct change *changes;
    size_t count;
    struct removal *removals;
    size_t removal_count;
    int64_t *account_removals; /* their instants alone, ascending */
    size_t account_removal_count;
    int64_t *touches; /* when the source touched all associations at once, ascending */
    size_t touch_count;
    struct modified *modified;
    size_t modified_count;
    int64_t distrusted; /* a record of then is not as it was noted, so that runs count for nothing;
                         * or NEVER */
    int64_t log_start;  /* the oldest change that the source still has; or NEVER */
    uint64_t sequence;
};

/* `now` is the instant that is asked for. */
struct association_history *association_history_create(int64_t now);
void association_history_destroy(struct association_history *history);

/* Make it that of another instant: what runs saw goes, what the source tells stays. */
void association_history_move(struct association_history *history, int64_t now);

/* The instants of the last run up to now, and of the first one after it; either may be NEVER. */
void association_history_set_runs(struct association_history *history, int64_t before,
                                  int64_t after);
/* What a run saw of an association that had changed: by ascending id, and of each the oldest first.
 * Only what counts at the two runs is kept.  A run of which there is no sighting saw all as the run
 * before it, and touched by nobody since. */
void association_history_observe(struct association_history *history,
                                 const struct observation *observation);

/* What the source tells.  Changes are added in the order in which they were made.  They can be
 * added again from the start after association_history_forget_source(). */
void association_history_forget_source(struct association_history *history);
void association_history_add(struct association_history *history, const struct change *change);
void association_history_add_removal(struct association_history *history, int64_t at,
                                     bool of_account, uint32_t name);
void association_history_add_bulk_change(struct association_history *history, int64_t at);
void association_history_set_log_start(struct association_history *history, int64_t oldest);
void association_history_set_times(struct association_history *history, uint64_t id,
                                   int64_t created, int64_t modified);

/* How many associations were not what they are now, by where that is known from; and how many are
 * in doubt. */
struct association_history_counts {
    size_t by_runs, by_source, by_times, unknown;
    bool moved; /* an association has another lineage than now, or its row is gone */
};

/* Make what the source has now (rows are memory that can be resized) what it was.  Names may be
 * added. */
void association_history_apply(const struct association_history *history,
                               struct associations *associations, struct findings *findings,
                               struct association_history_counts *counts);

#endif

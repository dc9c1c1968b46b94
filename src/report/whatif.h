/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WHATIF_H
#define FAIRMILL_REPORT_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/name_list.h"

struct algorithm;
struct arena;
struct id_index;
struct name_list;
struct names;
struct tree;
struct values;
struct permissions;
struct prio_row;

/*
 * The results of `fairmill whatif`: users who gain or lose, jobs whose place in the queue changes,
 * and commands that apply the change.
 *
 * Call the functions in the order of this file: compare, add the jobs, hide, assign places, and
 * last select.  Otherwise the places of visible jobs would reveal the priorities of hidden ones.
 */

enum whatif_side { BEFORE, AFTER, SIDES };

/* A tree and its values, which are owned by this struct. */
struct whatif_state {
    struct tree *tree;
    struct values *values;
    uint32_t *order; /* indexed by node; see decide() in core/fairshare/algorithm.h */
    const struct algorithm *algorithm;
    const struct names *names;
};

struct whatif_row {
    uint32_t id;
    const char *account, *user, *partition;
    bool there[SIDES]; /* exists; otherwise the values of that side are NAN and 0 */
    double factor[SIDES], level_fs[SIDES], shares_norm[SIDES], usage[SIDES];
    uint32_t rank[SIDES];
    double gain;   /* sort key: increase of the factor, or places gained if the algorithm changes */
    double change; /* increase of the factor; NAN if the algorithm changes */
    bool changed, removed;
    bool named;  /* named in a change; always shown */
    bool is_own; /* of the requesting user */
};

/* Users who pass an association of the requesting user, or whom it passes: one ranks higher than
 * the other after the changes, but not before. */
#define PASSING_NAMES 6
struct whatif_passing {
    size_t count;
    const char *names[PASSING_NAMES]; /* the first `account/user[/partition]` that may be shown */
    size_t shown;
};

/* An association of the requesting user. */
struct whatif_own {
    struct whatif_row row;
    struct whatif_passing passed_by, passes;
};

/* A pending job, with its best row: a row that can start, with the highest tier and priority. */
struct whatif_job {
    uint64_t key;
    int64_t id;
    const char *user, *account;
    const char *reason; /* why it cannot start (PRIORITY_JOB_... in priority.h), or "" */
    const char *partition[SIDES], *pool[SIDES];
    int64_t tier[SIDES], priority[SIDES];
    bool there[SIDES];   /* has a row; otherwise the values of that side are 0 and "" */
    bool starts[SIDES];  /* can start with its best row */
    double norm[SIDES];  /* priority before it is truncated, between 0 and 1 */
    size_t place[SIDES]; /* in its pool; 1 is next; tied jobs share a place; 0: cannot start */
};

/* A row of a job that can start: the job in one partition and with one QOS. */
struct whatif_entry {
    uint64_t key; /* of the job */
    const char *pool;
    int64_t tier, priority;
};
struct whatif_entries {
    struct whatif_entry *list;
    size_t count;
};

struct terminology;

struct whatif {
    const char *cluster;
    const struct terminology *terms;
    int64_t as_of;
    const struct algorithm *algorithm[SIDES];
    struct arena *arena;       /* owns all texts */
    struct name_list changes;  /* descriptions of the changes */
    const char *definition;    /* static sentence that defines a unit in `changes`, or NULL */
    struct name_list commands; /* commands that apply them, or comments */
    bool own_values;           /* a command changes fairmill's values only, not the scheduler's */
    const char *note;          /* sentence that follows the commands, or NULL */
    uint32_t users[SIDES];
    bool unknown[SIDES]; /* no user has a place, because the algorithm has no values */
    uint32_t *named;     /* ids of the associations that the changes name */
    size_t named_count;
    /* Set by the caller before whatif_compare(): the login of the requesting user, and that user's
     * permissions, which decide whether names are shown. */
    const char *login;
    const struct permissions *permissions;
    struct whatif_own *own; /* associations of the requesting user, in the order of the tree */
    size_t own_count;
    /* changed or named associations; the largest gain first, the largest loss last */
    struct whatif_row *rows;
    size_t row_count;
    struct whatif_job *jobs; /* all jobs, by pool and new place; those that cannot start are last */
    size_t job_count;
    struct id_index *job_places; /* maps the key of a job to its index, until jobs are hidden */
    struct whatif_entries entries[SIDES];
    bool is_chosen;   /* whatif_leave() was called */
    bool is_part;     /* hidden rows or jobs were removed */
    bool rounded;     /* the usage of hidden users was rounded */
    bool no_commands; /* the requesting user may not run commands; whatif_add_command() does
                       * nothing */
};

struct whatif *whatif_create(const char *cluster, int64_t as_of);
void whatif_destroy(struct whatif *whatif);
/* Returns a copy of the bytes as UTF-8.  `whatif` owns the copy. */
const char *whatif_text(struct whatif *whatif, const char *bytes);
/* The following three functions append a copy of their argument. */
void whatif_add_change(struct whatif *whatif, const char *sentence);
void whatif_add_command(struct whatif *whatif, const char *command);

void whatif_add_named(struct whatif *whatif, uint32_t id);

void whatif_state_free(struct whatif_state *state);
/* Fills the rows with the associations that differ or are named. */
void whatif_compare(struct whatif *whatif, const struct whatif_state *before,
                    const struct whatif_state *after);
/* Adds a row of a pending job, which has this priority on this side.  `norm` is the priority before
 * it is truncated, between 0 and 1. */
void whatif_add_job_row(struct whatif *whatif, enum whatif_side side, const struct prio_row *row,
                        int64_t priority, double norm);
/*
 * Removes the users and jobs that the requesting user may not see.  Call after all jobs were added.
 */
void whatif_hide_others(struct whatif *whatif);
/*
 * Assigns the places of the remaining jobs.  In each pool, jobs are ordered by tier and then by
 * priority, and a job counts once.  Call after whatif_hide_others(), because places that count
 * hidden jobs would reveal their priorities.
 */
void whatif_place_jobs(struct whatif *whatif);
/*
 * Keeps only the rows and jobs of these accounts and users; an empty list selects all.  Call last.
 */
void whatif_leave(struct whatif *whatif, const struct name_list *accounts,
                  const struct name_list *users);

#endif

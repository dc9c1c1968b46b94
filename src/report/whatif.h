/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WHATIF_H
#define FAIRMILL_REPORT_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/name_list.h"

struct algorithm;
struct arena;
struct name_list;
struct names;
struct tree;
struct values;
struct permissions;

/* The answer of `fairmill whatif`: who gains and who loses, which jobs change places in the queue,
 * and which commands would make it so. */

enum whatif_side { BEFORE, AFTER, SIDES };

/* A tree with its values, both to be freed. */
struct whatif_state {
    struct tree *tree;
    struct values *values;
    uint32_t *order; /* by node (core/fairshare/algorithm.h) */
    const struct algorithm *algorithm;
    const struct names *names;
};

struct whatif_row {
    uint32_t id;
    const char *account, *user, *partition;
    bool there[SIDES]; /* else the rest is NAN and 0 */
    double factor[SIDES], level_fs[SIDES], shares_norm[SIDES], usage[SIDES];
    uint32_t rank[SIDES];
    double gain;   /* of the factor; under another algorithm, whose scale is another, of places */
    double change; /* of the factor; NAN under another algorithm */
    bool changed, removed;
    bool named; /* a change names it: it is shown in any case */
};

/* A job that waits; its best row. */
struct whatif_job {
    uint64_t key;
    int64_t id;
    const char *user, *account;
    const char *partition[SIDES];
    int64_t priority[SIDES];
    double norm[SIDES];  /* the same before it is cut to an integer */
    size_t place[SIDES]; /* from 1 */
};

struct terminology;

struct whatif {
    const char *cluster;
    const struct terminology *terms;
    int64_t as_of;
    const struct algorithm *algorithm[SIDES];
    struct arena *arena;       /* of all texts */
    struct name_list changes;  /* in words, a sentence's part each */
    struct name_list commands; /* that would make it so, or a comment where there is none */
    uint32_t users[SIDES];
    bool unknown[SIDES]; /* nobody has a place: the algorithm has no values */
    uint32_t *named;     /* ids of the associations that changes name */
    size_t named_count;
    struct whatif_row *rows; /* those that change, from who gains most to who loses most */
    size_t row_count;
    struct whatif_job *jobs; /* all, by their new places */
    size_t job_count;
    bool is_chosen;   /* rows and jobs of users who were not asked for were left out */
    bool is_part;     /* rows or jobs were left out that the viewer may not see */
    bool rounded;     /* so was the usage of users whom the viewer may not see */
    bool no_commands; /* they might name what is hidden; whatif_add_command() does nothing */
    bool no_ledger;   /* the viewer cannot enter anything in the ledger */
};

struct whatif *whatif_create(const char *cluster, int64_t as_of);
void whatif_destroy(struct whatif *whatif);
/* Bytes as UTF-8, which hold as long as this does. */
const char *whatif_text(struct whatif *whatif, const char *bytes);
void whatif_add_change(struct whatif *whatif, const char *sentence);
void whatif_add_command(struct whatif *whatif, const char *command);

void whatif_add_named(struct whatif *whatif, uint32_t id);

void whatif_state_free(struct whatif_state *state);
/* Find the rows that differ or are named. */
void whatif_compare(struct whatif *whatif, const struct whatif_state *before,
                    const struct whatif_state *after);
/* Texts of the job must be of whatif_text(). */
void whatif_add_job(struct whatif *whatif, const struct whatif_job *job);
/* Once all jobs are there: leave out the users, and the jobs, that the viewer may not see. */
void whatif_hide_others(struct whatif *whatif, const struct permissions *permissions);
/* Then give the jobs their places, the highest priority first, equal ones by id: a place among jobs
 * that are hidden would tell their priorities. */
void whatif_place_jobs(struct whatif *whatif);
/* Then leave only the rows and jobs of these accounts and users; an empty list chooses all. */
void whatif_leave(struct whatif *whatif, const struct name_list *accounts,
                  const struct name_list *users);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_APPLY_APPLY_PLAN_H
#define FAIRMILL_COMMAND_APPLY_APPLY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* The updates of site factors that give pending jobs of Slurm fairmill's values. */

/* The largest site factor that slurmctld accepts: NICE_OFFSET - 3. */
#define SITE_FACTOR_MAXIMUM INT64_C(2147483645)

/* A pending job as slurmctld knows it.  `sprio` prints a job once for each of its partitions. */
struct present_job {
    int64_t id, factor; /* factor: its present site factor */
    bool by_hand;       /* its priority was set by hand, so site factors have no effect */
};

/* A pending job as published.  Ids are 0, and het_offset is -1, if they do not apply. */
struct wanted_job {
    int64_t id, array_job, het_job, het_offset;
    int64_t factor; /* its site factor, from 0 to SITE_FACTOR_MAXIMUM */
};

/* One `scontrol update`. */
struct site_update {
    int64_t id;     /* a job, an array with all of its tasks, or a job with all of its components */
    int64_t offset; /* a component of a heterogeneous job; -1: not only one component */
    int64_t from;   /* the present site factor that differs most */
    int64_t to;
};

struct apply_plan {
    struct site_update *updates; /* the largest change first, then in ascending order of id */
    size_t count;
    size_t jobs, by_hand; /* jobs that slurmctld lists, and the jobs with a priority set by hand */
    size_t unknown;       /* jobs that slurmctld lists and that are not published */
};

/*
 * Returns round(weight * factor), between 0 and SITE_FACTOR_MAXIMUM; 0 if the factor is NAN.
 * `factor` is the fairshare factor of an association, and `weight` the weight of fairshare.
 */
int64_t site_factor_of(uint64_t weight, double factor);

/*
 * Finds the updates.  Updates a job if its factor differs by at least `min_change`.  Jobs that are
 * not in both lists, and jobs whose priority was set by hand, are not updated.
 *
 * An array needs one update, because `JobId=ARRAY` updates all of its tasks; a heterogeneous job
 * also needs one, but one for each component if the components have different factors.
 *
 * The caller frees the plan with apply_plan_free().
 */
void apply_plan_find(struct apply_plan *plan, const struct present_job *present, size_t count,
                     const struct wanted_job *wanted, size_t wanted_count, int64_t min_change);
/* Finds the updates that set each factor that is not 0 to 0, also of jobs that are not published.
 */
void apply_plan_clear(struct apply_plan *plan, const struct present_job *present, size_t count);
void apply_plan_free(struct apply_plan *plan);

/* Appends `update JobId=ID SiteFactor=N`, without a newline. */
void apply_plan_add_command(struct text *text, const struct site_update *update);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_CHARGING_H
#define FAIRMILL_SOURCE_PBS_CHARGING_H

#include "core/number/wide.h"
#include "core/usage/entity.h"
#include "source/pbs/fields.h"

struct error;
struct text;

/* A walltime of five years or more does not limit a job execution, as in OpenPBS's scheduler. */
#define PBS_LONGEST_WALLTIME_S (UINT64_C(5) * 365 * 86400)

/* An amount from here on is not a plausible count. */
#define PBS_TOO_MANY 1e15

/*
 * Charges executions of OpenPBS jobs: finds the entity of a job, and evaluates fairshare_usage_res.
 * A job that was requeued has several executions.  `kind` is fairshare_entity, and `usage_res` the
 * formula.  Returns NULL on error; otherwise free the result with pbs_charging_destroy().
 */
struct pbs_charging *pbs_charging_create(enum entity_kind kind, const char *usage_res,
                                         struct error *err);
/* Returns the formula as it was given. */
const char *pbs_charging_unit(const struct pbs_charging *charging);
void pbs_charging_destroy(struct pbs_charging *charging);

/* Assigns an id to the entity with this name. */
void pbs_charging_add(struct pbs_charging *charging, struct part name, uint64_t id);
/*
 * Returns the id of a job's entity, or 0 if no import has assigned an id.  `texts` are the members
 * of struct entity_job, in their order.
 */
#define PBS_ENTITY_TEXTS 4
uint64_t pbs_charging_entity(struct pbs_charging *charging, const struct part *texts);

/*
 * For a job execution without a record of its used resources: limits it by its requested walltime.
 * Sets time_limit or open_for_long, and sets time_end to at most `open_job_cap` seconds after the
 * limit.  A suspended job does not use up its walltime, so `suspended` seconds are added to the
 * limit.  Returns the latest possible end of the execution.  This is at most its recorded end or,
 * if it has not ended, `now`.
 */
struct job;
uint64_t pbs_charging_limit(struct pbs_charging *charging, struct part requested, struct job *job,
                            uint64_t suspended, uint64_t now, uint64_t open_job_cap);
/*
 * Adds a resource that `formula` names to the resources to be checked: at least one job execution
 * should request or use it.  The resources of fairshare_usage_res are always checked.
 */
void pbs_charging_watch(struct pbs_charging *charging, const char *formula, const char *resource);
/*
 * Adds the checked resources that no job execution had, with their formulas: `FORMULA: 'NAME',
 * ...`.  Adds nothing if there was no job execution.
 */
void pbs_charging_add_unknown(const struct pbs_charging *charging, struct text *text);

struct pbs_run {
    struct part requested, used; /* resources, as in pbs_job; `used` is empty if the job still runs
                                    or its use is unknown */
    uint64_t length_s;           /* in seconds, above 0 */
};
/*
 * Returns the charge per second.  Over the whole execution, it adds up to the value of
 * fairshare_usage_res.  The value is computed from the used resources and, for resources that are
 * not measured, from the requested ones.  If the use is unknown, it is estimated: walltime is the
 * length of the execution, and cput is that length for all requested ncpus.  Returns 0 if the value
 * is not a number or is negative, as in OpenPBS.
 */
uint128 pbs_charging_rate(struct pbs_charging *charging, const struct pbs_run *run);

/* The resources that are TRES.  The first has the id 1; ended by NULL.  `mem` is in megabytes. */
extern const char *const pbs_tres_names[];
/* The number of names that `[usage] tres = auto` keeps, which come first. */
#define PBS_AUTOMATIC_TRES 3
/* Selects the TRES of pbs_charging_tres().  `wanted` is the setting. */
void pbs_charging_keep(struct pbs_charging *charging, const char *wanted);
/*
 * Replaces `*text` by the TRES per second of the execution that was last passed to
 * pbs_charging_rate(), in the form of job_row.tres.  Their amounts are the used ones and, if `used`
 * does not contain a resource, the requested ones, rounded up.  Walltime is 1 per second.
 */
void pbs_charging_tres(struct pbs_charging *charging, const struct pbs_run *run, struct text *text);

#endif

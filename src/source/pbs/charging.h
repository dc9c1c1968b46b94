/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_CHARGING_H
#define FAIRMILL_SOURCE_PBS_CHARGING_H

#include "core/number/wide.h"
#include "core/usage/entity.h"
#include "source/pbs/fields.h"

struct error;
struct text;

/* For whom runs of jobs count, and how much: OpenPBS's fairshare_entity and fairshare_usage_res. */
struct pbs_charging *pbs_charging_create(enum entity_kind kind, const char *usage_res,
                                         struct error *err);
/* The formula, as it was given. */
const char *pbs_charging_unit(const struct pbs_charging *charging);
void pbs_charging_destroy(struct pbs_charging *charging);

/* The number of a name. */
void pbs_charging_add(struct pbs_charging *charging, struct part name, uint64_t id);
/* That of the entity of a job, of which this is what struct entity_job has; 0 where no import has
 * numbered it. */
#define PBS_ENTITY_TEXTS 4
uint64_t pbs_charging_entity(struct pbs_charging *charging, const struct part *texts);

/* Bound a run by its requested walltime, if no record has its used resources: set time_limit or
 * open_for_long, and cut time_end to open_job_cap after the limit.  Suspended seconds do not count
 * for its walltime.  Returns until when it can have run, by now. */
struct job;
uint64_t pbs_charging_limit(struct pbs_charging *charging, struct part requested, struct job *job,
                            uint64_t suspended, uint64_t now, uint64_t open_job_cap);
/* Looks for a resource, which a formula names, among those that the runs asked for.  The resources
 * of fairshare_usage_res are looked for anyway. */
void pbs_charging_watch(struct pbs_charging *charging, const char *formula, const char *resource);
/* Adds the resources that no run had, each with its formula: `FORMULA: 'NAME', ...`.  Adds nothing
 * if there was no run. */
void pbs_charging_add_unknown(const struct pbs_charging *charging, struct text *text);

struct pbs_run {
    struct part requested, used; /* resources, as pbs_job has them; not used: the run goes on, or
                                  * nobody knows what it used */
    uint64_t length_s;           /* above 0 */
};
/* The price of a second, with which the whole run costs what fairshare_usage_res makes of what it
 * used, and of what it asked for of resources that are not measured.  If its use is not known, of
 * what it asked for, with its length as walltime, and that of all its ncpus as cput.  0 if that is
 * not a number, or below 0, as in OpenPBS. */
uint128 pbs_charging_rate(struct pbs_charging *charging, const struct pbs_run *run);

#endif

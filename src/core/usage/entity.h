/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_ENTITY_H
#define FAIRMILL_CORE_ENTITY_H

struct text;

/* For whom a job counts in OpenPBS's fairshare: its sched_config's fairshare_entity. */
enum entity_kind {
    ENTITY_EUSER,
    ENTITY_EGROUP,
    ENTITY_ACCOUNT,
    ENTITY_QUEUE,
    ENTITY_EGROUP_EUSER,
    ENTITY_KINDS
};
extern const char *const entity_kind_names[]; /* OpenPBS's words, ended by NULL */
/* ENTITY_KINDS: the word is none of them. */
enum entity_kind entity_kind_of(const char *name);

struct entity_job {
    const char *euser, *egroup, *account, *queue; /* "": it has none */
};
/* The name of a job's entity.  A job that has none of this kind counts for egroup:euser, as in the
 * scheduler.  It is one of the job's texts, or stands in `room`. */
const char *entity_of(const struct entity_job *job, enum entity_kind kind, struct text *room);

#endif

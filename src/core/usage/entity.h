/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_ENTITY_H
#define FAIRMILL_CORE_USAGE_ENTITY_H

#include <stdint.h>

struct text;

/* Numbers of the tree's members.  The root's is 0 in OpenPBS, which is that of no association.
 * Who is in no line of resource_group is below the group unknown, with a number of our own. */
#define ENTITY_ROOT INT32_MAX
#define ENTITY_UNKNOWN 1
#define ENTITY_UNLISTED (UINT32_C(1) << 30) /* the first of them */
/* Their names in resource_group; pbsfs calls the root TREEROOT. */
#define ENTITY_ROOT_NAME "root"
#define ENTITY_UNKNOWN_NAME "unknown"

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

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_ENTITY_H
#define FAIRMILL_CORE_USAGE_ENTITY_H

#include <stdint.h>

struct text;

/*
 * Numbers of the members of OpenPBS's fairshare tree.  The root has its own number, because
 * OpenPBS's 0 means no association here.  Entities that resource_group does not list are children
 * of the group `unknown` and get numbers from ENTITY_UNLISTED on.
 */
#define ENTITY_ROOT INT32_MAX
#define ENTITY_UNKNOWN 1
#define ENTITY_UNLISTED (UINT32_C(1) << 30) /* first number of an unlisted entity */
/* Names in resource_group; pbsfs calls the root TREEROOT. */
#define ENTITY_ROOT_NAME "root"
#define ENTITY_UNKNOWN_NAME "unknown"

/* The kind of entity that OpenPBS charges for a job: fairshare_entity in sched_config. */
enum entity_kind {
    ENTITY_EUSER,
    ENTITY_EGROUP,
    ENTITY_ACCOUNT,
    ENTITY_QUEUE,
    ENTITY_EGROUP_EUSER,
    ENTITY_KINDS
};
extern const char *const entity_kind_names[]; /* OpenPBS's names, ended by NULL */
/* Returns the kind with this name, or ENTITY_KINDS if the name is unknown. */
enum entity_kind entity_kind_of(const char *name);

struct entity_job {
    const char *euser, *egroup, *account, *queue; /* may be "" */
};
/*
 * Returns the name of a job's entity: one of the job's strings, or a string in `room`.  Like the
 * scheduler, uses egroup:euser if the job has no entity of this kind.
 */
const char *entity_of(const struct entity_job *job, enum entity_kind kind, struct text *room);

#endif

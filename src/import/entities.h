/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_ENTITIES_H
#define FAIRMILL_IMPORT_ENTITIES_H

#include "core/usage/entity.h"
#include "db/db.h"

/*
 * The names that have shares or occur in jobs.  Table pbs_entity stores each name with its number.
 * Table pbs_seen stores the time when each name was first seen, separately for each kind of name.
 * Each value of OpenPBS's fairshare_entity is a kind, because a site may change that setting at any
 * time.  Names in the scheduler's usage file are one more kind.  New names are kept in memory until
 * entities_store() writes them.
 */

struct entities;

/*
 * Reads all names of a cluster.  Returns NULL on failure.  `db` and `cluster` must outlive the
 * result.
 */
struct entities *entities_read(struct db *db, const char *cluster, struct error *err);
void entities_destroy(struct entities *entities);

/* Records the entities of a job as seen at `time`, in epoch seconds. */
void entities_see_job(struct entities *entities, const struct entity_job *job, int64_t time);
/* Records a name of the scheduler's usage file as of `time`. */
void entities_see_usage(struct entities *entities, const char *name, int64_t time);
/*
 * Records a name that has shares.  The name gets `number` if that is from 2 to 2^30 - 1 and no
 * other name has it.  Otherwise the name gets a number of 2^30 or more, as names without shares do.
 */
void entities_number(struct entities *entities, const char *name, int64_t number, int64_t time);

/* Writes the new names, in the caller's transaction. */
int entities_store(struct entities *entities, struct error *err);

#endif

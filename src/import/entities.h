/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_ENTITIES_H
#define FAIRMILL_IMPORT_ENTITIES_H

#include "core/usage/entity.h"
#include "db/db.h"

/* The names that shares or jobs have told of, in pbs_entity with the number of each, and in
 * pbs_seen by what they are to jobs: under each of OpenPBS's fairshare_entity, since a site may
 * choose another one at any time.  What is seen is kept here until entities_store(). */

struct entities;

/* All that a cluster has; NULL on failure. */
struct entities *entities_read(struct db *db, const char *cluster, struct error *err);
void entities_destroy(struct entities *entities);

/* A job was there at an instant. */
void entities_see_job(struct entities *entities, const struct entity_job *job, int64_t time);
/* So was a name of the scheduler's usage file. */
void entities_see_usage(struct entities *entities, const char *name, int64_t time);
/* A name has shares and asks for a number.  It gets that if the number is from 2 to 2^30 - 1 and no
 * other name has it, else one from 2^30 on, as all other names do. */
void entities_number(struct entities *entities, const char *name, int64_t number, int64_t time);

/* Send what is new, in the caller's transaction. */
int entities_store(struct entities *entities, struct error *err);

#endif

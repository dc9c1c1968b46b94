/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_SLURMDBD_H
#define FAIRMILL_SOURCE_SLURMDBD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tree.h"
#include "core/usage.h"

struct db;
struct db_settings;
struct error;
struct names;
struct id_index;
struct text;

/* slurmdbd's tables, as every release from 20.11 to 26.05 lays them out: which columns there are
 * is asked of the database, never told from a version number.  Nothing is written. */

struct cluster {
    char *name; /* UTF-8 */
    bool deleted;
};

/* Every cluster of cluster_table, by name.  To be freed with clusters_free(). */
int slurmdbd_clusters(struct db *db, struct cluster **clusters, size_t *count, struct error *err);
void clusters_free(struct cluster *clusters, size_t count);

/* What the small tables say about a cluster. */
struct accounting {
    struct names *names; /* bytes as the database has them */
    uint32_t empty_name;
    struct association *rows; /* deleted ones included */
    size_t count;
    struct id_index *qos_place;
    uint128 *qos_price; /* by place */
    uint32_t qos_count;
    double cpus; /* of the cluster's registration; NAN where it does not say */
    double billing;
};

/* `ordered`: fill in association.order, which only slurmctld's ties need. */
int slurmdbd_read(struct db *db, const char *cluster, bool ordered, struct accounting **accounting,
                  struct error *err);
void accounting_destroy(struct accounting *accounting);
/* The price under a QOS; that of factor 1 for one that is not there. */
uint128 accounting_price(const struct accounting *accounting, uint64_t qos);

/* A job row that has started. */
struct job_row {
    uint64_t id_job, association, qos;
    struct job job;
};

/* Hand every job row that has started and did not end at or before `oldest` to `take`, in no
 * order.  Where `take` fails, so does this. */
int slurmdbd_read_jobs(struct db *db, const char *cluster, uint64_t oldest,
                       int (*take)(void *context, const struct job_row *row, struct error *err),
                       void *context, struct error *err);

/* Add the GRANTs that reading needs, a line each: those of a cluster's own tables, or with NULL
 * those of the tables that all clusters share. */
void slurmdbd_grants(struct text *text, const struct db_settings *settings, const char *cluster);

#endif

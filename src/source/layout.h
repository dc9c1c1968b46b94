/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_LAYOUT_H
#define FAIRMILL_SOURCE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tree.h"
#include "core/usage.h"

struct db;
struct error;
struct id_index;
struct names;
struct settings;
struct text;

/* The accounting side in our words, whatever its tables look like.  A new layout is one file and
 * one line in the table of layout.c.  Nothing is ever written to it. */

struct cluster {
    char *name; /* UTF-8 */
    bool deleted;
};
void clusters_free(struct cluster *clusters, size_t count);

/* What the small tables say about a cluster. */
struct accounting {
    struct names *names; /* bytes as the database has them */
    uint32_t empty_name;
    struct association *rows; /* deleted ones included */
    size_t count, room;
    struct id_index *qos_place;
    uint128 *qos_price; /* by place */
    uint32_t qos_count;
    double cpus; /* of the cluster's registration; NAN where it does not say */
    double billing;
};
struct accounting *accounting_create(void);
void accounting_destroy(struct accounting *accounting);
/* The price under a QOS; that of factor 1 for one that is not there. */
uint128 accounting_price(const struct accounting *accounting, uint64_t qos);

/* A row that charges, of a job that has started. */
struct job_row {
    uint64_t id_job, association;
    uint128 price;
    struct job job;
};
typedef int (*job_taker)(void *context, const struct job_row *row, struct error *err);

struct layout {
    const char *name;
    /* Every cluster, by name; to be freed with clusters_free(). */
    int (*clusters)(struct db *db, const struct settings *settings, struct cluster **clusters,
                    size_t *count, struct error *err);
    /* The small tables.  `ordered`: fill in association.order, which only slurmctld's ties need. */
    int (*read)(struct db *db, const struct settings *settings, const char *cluster, bool ordered,
                struct accounting **accounting, struct error *err);
    /* Hand every job row that has started and did not end at or before `oldest` to `take`, in no
     * order.  Where `take` fails, so does this. */
    int (*read_jobs)(struct db *db, const struct settings *settings, const char *cluster,
                     const struct accounting *accounting, uint64_t oldest, job_taker take,
                     void *context, struct error *err);
    /* Add the GRANTs that reading needs, a line each: those of a cluster's own tables, or with
     * NULL those of the tables that all clusters share. */
    void (*add_grants)(struct text *text, const struct settings *settings, const char *cluster);
};

extern const struct layout layout_slurmdbd, layout_plain;
/* The layout that the settings name. */
const struct layout *layout_of(const struct settings *settings);

#endif

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
struct job_keys;
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
    uint64_t *qos_id; /* by place */
    uint128 *qos_price;
    uint32_t qos_count;
    double cpus; /* of the cluster's registration; NAN where it does not say */
    double billing;
};
struct accounting *accounting_create(void);
void accounting_destroy(struct accounting *accounting);
/* The price under a QOS; that of factor 1 for one that is not there. */
uint128 accounting_price(const struct accounting *accounting, uint64_t qos);
/* A hash of all prices that are not the usual one: where it differs, closed jobs are charged
 * something else. */
uint64_t accounting_price_hash(const struct accounting *accounting);

/* A row that charges, of a job that has started. */
struct job_row {
    uint64_t id_job, association;
    uint128 price;
    struct job job;
};
/* Which of the rows that have started: those with from <= time_end < to, and with `open` those
 * without a time_end too; where there are keys, only theirs. */
struct job_range {
    uint64_t from, to;
    bool open;
    bool most; /* most of the table: no index would help */
    const uint64_t *keys;
    size_t key_count;
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
    /* Hand every row of the range to `take`, in no order.  Where `take` fails, so does this. */
    int (*read_jobs)(struct db *db, const struct settings *settings, const char *cluster,
                     const struct accounting *accounting, const struct job_range *range,
                     job_taker take, void *context, struct error *err);
    /* Where job rows have keys (else both are NULL): those of all rows without a time_end, also of
     * jobs that wait; and the oldest and newest time_end of rows that have started and ended,
     * after < time_end <= until, 0 where there is none. */
    int (*read_open_keys)(struct db *db, const char *cluster, struct job_keys *keys,
                          struct error *err);
    int (*read_ends)(struct db *db, const char *cluster, uint64_t after, uint64_t until,
                     uint64_t *oldest, uint64_t *newest, struct error *err);
    /* Add the GRANTs that reading needs, a line each: those of a cluster's own tables, or with
     * NULL those of the tables that all clusters share. */
    void (*add_grants)(struct text *text, const struct settings *settings, const char *cluster);
};

extern const struct layout layout_slurmdbd, layout_plain;
/* The layout that the settings name. */
const struct layout *layout_of(const struct settings *settings);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_SLURMDBD_SLURMDBD_TABLES_H
#define FAIRMILL_SOURCE_SLURMDBD_SLURMDBD_TABLES_H

#include "source/reading.h"

/* slurmdbd's tables, as every release from 20.11 to 26.05 lays them out.  The database says which
 * columns there are, never a version number. */

#define COLUMNS_NEEDED 18
#define COLUMNS_WANTED 7

/* The columns we read of a table.  `wanted` ones are missing from some releases. */
struct slurmdbd_table {
    const char *suffix; /* its name, or what follows `CLUSTER_` */
    bool per_cluster;
    bool by_column;                         /* how it is granted */
    const char *needed[COLUMNS_NEEDED + 1]; /* ended by NULL */
    const char *wanted[COLUMNS_WANTED];
};

extern const struct slurmdbd_table slurmdbd_clusters, slurmdbd_qos, slurmdbd_tres, slurmdbd_events,
    slurmdbd_associations, slurmdbd_jobs, slurmdbd_suspends, slurmdbd_steps;
/* What only settings that hide something need. */
extern const struct slurmdbd_table slurmdbd_coordinators, slurmdbd_users;
/* What of jobs only refunds by node need. */
extern const struct slurmdbd_table slurmdbd_job_nodes;
/* What only accrue limits need. */
extern const struct slurmdbd_table slurmdbd_association_limits, slurmdbd_qos_limits;
/* What an instant that is over needs, and any run under slurmctld: optional. */
extern const struct slurmdbd_table slurmdbd_association_times, slurmdbd_transactions;
/* What is summed up, by span: of associations, and from Slurm 24.11 on of their QOS; and up to when
 * it is. */
enum rollup_span { SPAN_HOUR, SPAN_DAY, SPAN_MONTH, SPANS };
extern const struct slurmdbd_table slurmdbd_usage[SPANS], slurmdbd_qos_usage[SPANS],
    slurmdbd_last_ran;
/* A bit for each one that they may lack. */
enum {
    HAS_ID_PARENT = 1,
    HAS_LINEAGE = 2,
    HAS_LFT = 4,
    HAS_MOD_TIME = 8,
    HAS_GRP_TRES_MINS = 16,
    HAS_FLAGS = 32,
    HAS_IS_DEF = 64,
};
/* of the jobs, */
enum {
    HAS_QOS_REQ = 1,
    HAS_ARRAY = 2,
    HAS_ARRAY_LIMIT = 4,
    HAS_ARRAY_PENDING = 8,
    HAS_REASON = 16,
    HAS_STATE = 32,
};
/* The state of a job's row that ended with a resize. */
#define STATE_RESIZING "8192"
enum { HAS_CREATION_TIME = 1, HAS_ID = 2, HAS_RPC_VERSION = 4 }; /* of the clusters */

/* The columns of a job that charges, in their order; the settings say how many of them. */
enum {
    JOB_ASSOCIATION,
    JOB_QOS,
    JOB_SUBMIT,
    JOB_START,
    JOB_END,
    JOB_LIMIT,
    JOB_ID,
    JOB_TRES,
    JOB_PARTITION,
};
unsigned slurmdbd_job_columns(const struct settings *settings);

/* Whether TRES have weights, of jobs' charges or of their priorities.  Limits need the names of
 * TRES without any weights. */
bool slurmdbd_weighs_tres(const struct settings *settings);

/* The table's name in double quotes. */
void slurmdbd_add_name(struct text *text, const struct slurmdbd_table *table, const char *cluster);

/* Which wanted columns are there (`wanted` may be NULL); fails where a needed one is not. */
int slurmdbd_probe(const struct source *source, const struct slurmdbd_table *table,
                   unsigned *wanted, struct error *err);

/* The layout's add_grants(). */
void slurmdbd_add_grants(struct text *text, const struct settings *settings, const char *cluster);

/* The layout's add_missing(). */
int slurmdbd_add_missing(struct text *text, const struct source *source, struct error *err);

/* Like slurmdbd_probe() of a table that a run can do without; *there is whether it can be read. */
int slurmdbd_probe_optional(const struct source *source, const struct slurmdbd_table *table,
                            bool *there, struct error *err);

/* Run a query on a table that was probed.  `{}` in the query is the table's name. */
int slurmdbd_read(const struct source *source, const struct slurmdbd_table *table,
                  const struct query *query, row_taker take, void *context, struct error *err);
/* Probe the table before. */
int slurmdbd_probe_and_read(const struct source *source, const struct slurmdbd_table *table,
                            const struct query *query, row_taker take, void *context,
                            struct error *err);
/* Read name, deleted, creation_time, id and rpc_version of each cluster; the last three are 0 if a
 * release does not have them. */
int slurmdbd_each_cluster(const struct source *source, row_taker take, void *context,
                          struct error *err);
/* Say that a probed table cannot be read; returns -1.  A column that was there a moment ago and is
 * not any more means that somebody upgrades slurmdbd just now: it will be there again. */
int slurmdbd_explain(const struct source *source, const struct slurmdbd_table *table,
                     struct error *err);
/* The first column's number, into a uint64_t. */
int slurmdbd_take_number(void *number, const struct db_value *row, struct error *err);
/* An instant as databases hold it. */
struct db_value slurmdbd_time(uint64_t time);

/* A few keys a statement, or a server takes longer to read it than to answer. */
#define KEYS_A_QUERY 500
/* Add ` IN (?, ?)` with as many of the keys as a statement takes; of none it is true for no row.
 * Returns how many, which stand in `arguments` then. */
size_t slurmdbd_add_keys(struct text *sql, struct db_value *arguments, const uint64_t *keys,
                         size_t count);

/* Hand over the id, type and name of each TRES by id, where the settings need them; and the TRES
 * and nodes of what the cluster has registered, the newest last. */
int slurmdbd_each_tres(const struct source *source, row_taker take, void *context,
                       struct error *err);
int slurmdbd_each_registration(const struct source *source, row_taker take, void *context,
                               struct error *err);
/* Add the whole name of such a TRES, TYPE or TYPE/NAME. */
void slurmdbd_add_tres_name(struct text *text, const struct db_value *row);

/* The layout's jobs(), suspensions(), read_ends() and read_open_keys(). */
struct job_reading *slurmdbd_jobs_of(const struct source *source,
                                     const struct accounting *accounting,
                                     const struct job_range *range);
struct job_reading *slurmdbd_suspensions_of(const struct source *source,
                                            const struct accounting *accounting,
                                            const struct job_range *range);
/* Find out what may be read of the charges that hang on slurmctld's passes: under documents
 * nothing, as a job ends with its end there; else what is not granted is left out. */
int slurmdbd_find_passes(const struct source *source, struct accounting *accounting,
                         struct error *err);
struct job_reading *slurmdbd_cancelled_of(const struct source *source,
                                          const struct accounting *accounting, uint64_t since);
int slurmdbd_read_ends(const struct source *source, uint64_t after, uint64_t until,
                       uint64_t *oldest, uint64_t *newest, struct error *err);
int slurmdbd_read_open_keys(const struct source *source, uint64_t now, struct job_keys *keys,
                            struct error *err);

/* In slurmdbd_queue.c. */
extern const struct queue_port slurmdbd_queue_port;

/* The layout's rollup_reach(), rollups(), read_sums() and find_purge(). */
int slurmdbd_rollup_reach(const struct source *source, uint64_t now, bool needed, uint64_t *from,
                          uint64_t *until, struct error *err);
struct rollup_reading *slurmdbd_rollups_of(const struct source *source,
                                           const struct accounting *accounting, uint64_t after,
                                           uint64_t until);
int slurmdbd_read_sums(const struct source *source, const struct sum_range *range, sum_taker *take,
                       void *context, struct error *err);
int slurmdbd_find_purge(const struct source *source, bool *purged, struct error *err);
/* When the first of all jobs that ended could have started; 0 where there is none. */
int slurmdbd_first_eligible(const struct source *source, uint64_t *eligible, struct error *err);

/* The layout's read_changes(). */
int slurmdbd_read_changes(const struct source *source, enum changes_wanted wanted,
                          struct association_history *history, struct findings *findings,
                          struct error *err);

/* The layout's read_factors(). */
int slurmdbd_read_factors(const struct source *source, struct factor_history *history,
                          int64_t since, struct findings *findings, struct error *err);

/* The layout's read(). */
int slurmdbd_read_small(const struct source *source, struct accounting **accounting,
                        struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_SLURMDBD_SLURMDBD_TABLES_H
#define FAIRMILL_SOURCE_SLURMDBD_SLURMDBD_TABLES_H

#include "source/reading.h"

/*
 * slurmdbd's tables in all releases from 20.11 to 26.05.  The available columns are determined from
 * the database, never from a version number.
 */

#define COLUMNS_NEEDED 18
#define COLUMNS_WANTED 10

/* The columns that fairmill reads from a table.  Some releases lack columns of `wanted`. */
struct slurmdbd_table {
    const char *suffix; /* the table's name, or the part after `CLUSTER_` */
    bool per_cluster;
    bool by_column;                         /* grant single columns, not the whole table */
    const char *needed[COLUMNS_NEEDED + 1]; /* ends with NULL */
    const char *wanted[COLUMNS_WANTED];
};

extern const struct slurmdbd_table slurmdbd_clusters, slurmdbd_qos, slurmdbd_tres, slurmdbd_events,
    slurmdbd_associations, slurmdbd_jobs, slurmdbd_suspends, slurmdbd_steps;
/* Read only if the settings hide data from other users. */
extern const struct slurmdbd_table slurmdbd_coordinators, slurmdbd_users;
/* Columns of jobs that are needed only for refunds of all jobs of a node. */
extern const struct slurmdbd_table slurmdbd_job_nodes;
/* Read only for accrue limits. */
extern const struct slurmdbd_table slurmdbd_association_limits, slurmdbd_qos_limits;
/*
 * Optional tables.  They are read for a past time and, with `conformance = slurmctld`, in any run.
 */
extern const struct slurmdbd_table slurmdbd_association_times, slurmdbd_transactions;
/*
 * Rollups by duration.  slurmdbd_usage is the usage of associations.  slurmdbd_qos_usage is the
 * usage of associations by QOS, which exists from Slurm 24.11 on.  slurmdbd_cluster_usage is the
 * usage of the cluster, which is optional because earlier releases of fairmill did not need a GRANT
 * for it.  slurmdbd_last_ran contains the times up to which rollups were made.
 */
enum rollup_span { SPAN_HOUR, SPAN_DAY, SPAN_MONTH, SPANS };
extern const struct slurmdbd_table slurmdbd_usage[SPANS], slurmdbd_qos_usage[SPANS],
    slurmdbd_cluster_usage[SPANS], slurmdbd_last_ran;
/* Bits for the wanted columns of slurmdbd_associations. */
enum {
    HAS_ID_PARENT = 1,
    HAS_LINEAGE = 2,
    HAS_LFT = 4,
    HAS_MOD_TIME = 8,
    HAS_GRP_TRES_MINS = 16,
    HAS_FLAGS = 32,
    HAS_IS_DEF = 64,
};
enum { HAS_QOS_GRP_TRES_MINS = 1, HAS_QOS_FLAGS = 2 }; /* bits for slurmdbd_qos */
/* Bits for the wanted columns of slurmdbd_jobs. */
enum {
    HAS_QOS_REQ = 1,
    HAS_ARRAY = 2,
    HAS_ARRAY_LIMIT = 4,
    HAS_ARRAY_PENDING = 8,
    HAS_REASON = 16,
    HAS_STATE = 32,
    HAS_ARRAY_TASK = 64,
    HAS_ARRAY_TASKS = 128,
    HAS_HET_JOB = 256,
    HAS_HET_OFFSET = 512,
};
/* The state of a job row that ended with a resize. */
#define STATE_RESIZING "8192"
enum { HAS_CREATION_TIME = 1, HAS_ID = 2, HAS_RPC_VERSION = 4 }; /* bits for slurmdbd_clusters */

/*
 * The columns of a job to be charged, in the order of the query.  The settings and the source
 * determine their number.
 */
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
    JOB_ELIGIBLE,
};
unsigned slurmdbd_job_columns(const struct settings *settings);

/*
 * Returns true if TRES have weights, either for charges or for priorities.  If there are limits,
 * the names of TRES are needed even if this function returns false.
 */
bool slurmdbd_weighs_tres(const struct settings *settings);
/* Returns true if the settings need the names of TRES, apart from limits and slurm.conf. */
bool slurmdbd_reads_tres(const struct settings *settings);

/* Adds the table's name in double quotes. */
void slurmdbd_add_name(struct text *text, const struct slurmdbd_table *table, const char *cluster);

/*
 * Checks which columns a table has.  Sets a bit in `*wanted` for each wanted column that the table
 * has.  `wanted` may be NULL.  Returns -1 with ERROR_MISSING if a needed column is missing or not
 * readable.
 */
int slurmdbd_probe(const struct source *source, const struct slurmdbd_table *table,
                   unsigned *wanted, struct error *err);

/* Implements layout.add_grants(). */
void slurmdbd_add_grants(struct text *text, const struct settings *settings, const char *cluster);

/* Implements layout.add_missing(). */
int slurmdbd_add_missing(struct text *text, const struct source *source, struct error *err);

/*
 * Does the same as slurmdbd_probe() for an optional table.  Sets `*there` to true if the table can
 * be read.  Sets `*there` to false if the table or a needed column is missing or not readable.
 * Returns -1 on other errors.
 */
int slurmdbd_probe_optional(const struct source *source, const struct slurmdbd_table *table,
                            bool *there, struct error *err);

/*
 * Runs a query on a table that was probed before.  `{}` in the query is replaced by the table's
 * name.  Returns -1 on error.
 */
int slurmdbd_read(const struct source *source, const struct slurmdbd_table *table,
                  const struct query *query, row_taker take, void *context, struct error *err);
/* Probes the table and runs the query. */
int slurmdbd_probe_and_read(const struct source *source, const struct slurmdbd_table *table,
                            const struct query *query, row_taker take, void *context,
                            struct error *err);
/*
 * Reads name, deleted, creation_time, id and rpc_version of each cluster.  The last three are 0 if
 * the release lacks them.
 */
int slurmdbd_each_cluster(const struct source *source, row_taker take, void *context,
                          struct error *err);
/*
 * Adds to `err` that a probed table cannot be read.  Returns -1.  If a column has just disappeared,
 * slurmdbd is being upgraded, so the error becomes ERROR_RETRY.
 */
int slurmdbd_explain(const struct source *source, const struct slurmdbd_table *table,
                     struct error *err);
/* A row_taker: sets `*number`, a uint64_t, to the first column of the row. */
int slurmdbd_take_number(void *number, const struct db_value *row, struct error *err);
/*
 * Returns a time as a value for a query.  Limits it to INT64_MAX, the largest value of the
 * databases' columns.
 */
struct db_value slurmdbd_time(uint64_t time);

/*
 * The maximum number of keys in one statement.  With more keys, a server needs longer to parse the
 * statement than to run it.
 */
#define KEYS_A_QUERY 500
/*
 * Adds ` IN (?, ?)` with at most KEYS_A_QUERY keys, and writes these keys to `arguments`.  If
 * `count` is 0, the condition is true for no row.  Returns the number of keys in the statement.
 */
size_t slurmdbd_add_keys(struct text *sql, struct db_value *arguments, const uint64_t *keys,
                         size_t count);

/*
 * slurmdbd_each_tres() passes the id, type and name of each TRES to `take`, in ascending order of
 * id. slurmdbd_each_registration() passes the TRES and nodes of each registration of the cluster,
 * the newest registration last.
 */
int slurmdbd_each_tres(const struct source *source, row_taker take, void *context,
                       struct error *err);
int slurmdbd_each_registration(const struct source *source, row_taker take, void *context,
                               struct error *err);
/* Adds the full name of a TRES, TYPE or TYPE/NAME. */
void slurmdbd_add_tres_name(struct text *text, const struct db_value *row);

/* Implement jobs(), suspensions(), cancelled(), read_ends() and read_open_keys(). */
struct job_reading *slurmdbd_jobs_of(const struct source *source,
                                     const struct accounting *accounting,
                                     const struct job_range *range);
struct job_reading *slurmdbd_suspensions_of(const struct source *source,
                                            const struct accounting *accounting,
                                            const struct job_range *range);
/*
 * Sets tells_cancelled, tells_resized and passes, for charges that depend on slurmctld's decay
 * cycles.  With `conformance = documents`, there are no such charges, because jobs are charged only
 * up to their end.  With `slurmctld`, a charge is omitted if the login cannot read its tables.
 */
int slurmdbd_find_passes(const struct source *source, struct accounting *accounting,
                         struct error *err);
struct job_reading *slurmdbd_cancelled_of(const struct source *source,
                                          const struct accounting *accounting, uint64_t since);
int slurmdbd_read_ends(const struct source *source, uint64_t after, uint64_t until,
                       uint64_t *oldest, uint64_t *newest, struct error *err);
int slurmdbd_read_open_keys(const struct source *source, uint64_t now, struct job_keys *keys,
                            struct error *err);

/* See slurmdbd_queue.c. */
extern const struct queue_port slurmdbd_queue_port;
/* Implement read_facts(), read_limits() and read_accrue_limits() of this port. */
int slurmdbd_queue_read_facts(const struct source *source, struct cluster_facts *facts,
                              struct error *err);
int slurmdbd_queue_read_tres_limits(const struct source *source, uint64_t time, bool running,
                                    struct cluster_facts *facts, struct error *err);
int slurmdbd_queue_read_accrue_limits(const struct source *source, struct accrual *accrual,
                                      struct error *err);

/* Implement rollup_reach(), rollups(), read_sums() and find_purge(). */
int slurmdbd_rollup_reach(const struct source *source, uint64_t now, bool needed, uint64_t *from,
                          uint64_t *until, struct error *err);
struct rollup_reading *slurmdbd_rollups_of(const struct source *source,
                                           const struct accounting *accounting, uint64_t after,
                                           uint64_t until);
int slurmdbd_read_sums(const struct source *source, const struct sum_range *range, sum_taker *take,
                       void *context, struct error *err);
int slurmdbd_find_purge(const struct source *source, bool *purged, struct error *err);
/* Sets `*eligible` to the earliest eligible time of all ended jobs, or to 0 if no job has ended. */
int slurmdbd_first_eligible(const struct source *source, uint64_t *eligible, struct error *err);

/* Implements read_changes(). */
int slurmdbd_read_changes(const struct source *source, enum changes_wanted wanted,
                          struct association_history *history, struct findings *findings,
                          struct error *err);

/* Implements read_factors(). */
int slurmdbd_read_factors(const struct source *source, struct factor_history *history,
                          int64_t since, struct findings *findings, struct error *err);

/* Implements layout.read_coordinators(). */
int slurmdbd_read_coordinators(const struct source *source, coordinator_taker *take, void *context,
                               struct error *err);

/* Implements layout.read(). */
int slurmdbd_read_small(const struct source *source, struct accounting **accounting,
                        struct error *err);

#endif

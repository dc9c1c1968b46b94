/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_LAYOUT_H
#define FAIRMILL_SOURCE_LAYOUT_H

#include "core/priority/arrays.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "core/usage/factor_history.h"
#include "core/usage/kept_tres.h"
#include "core/usage/usage.h"

struct accrual;
struct formula_jobs;
struct job_keys;
struct association_history;
struct pbs_charging;
struct release;
struct text;

/*
 * A source type ("layout") presents an accounting database in a form that does not depend on its
 * tables.  To add a layout, add one file and one entry in the table of source.c.  fairmill never
 * writes to the source.
 */

struct cluster {
    char *name; /* in UTF-8 */
    bool deleted;
    const char *flaw; /* why the name cannot be published; NULL if it can */
};
/* The clusters, sorted by name, without duplicates. */
struct cluster_list {
    struct cluster *clusters;
    size_t count;
};
void cluster_list_free(struct cluster_list *list);

/*
 * A cluster in an accounting database, with the settings that determine how it is read.  Made by
 * source_of().
 */
struct source {
    const struct settings *settings;
    const struct layout *layout; /* layout of the settings */
    struct db *db;
    const char *cluster; /* NULL if a request is not about one cluster */
    const int64_t *time; /* read as of this time; NULL means the time when the snapshot is opened */
    bool ordered;        /* read the data for the order of slurmctld's ties */
    const struct kept_tres *kept; /* read rollups of these TRES, too; NULL for none */
    bool classes;                 /* read partition and QOS of job rows, if the layout has them */
    bool waits;                   /* also read job_row.waited_since, if layout->has_waits */
};

/* A cluster's data from the source's small tables. */
struct accounting {
    struct names *names; /* bytes as in the database */
    uint32_t empty_name;
    struct association *rows; /* associations, including deleted associations */
    size_t count;
    struct id_index *modified; /* maps an id to its last modification; NULL if unknown */
    uint64_t modified_hash;
    bool by_lineage;            /* rows are in the order of slurmdbd's lineages */
    struct charge_rates *rates; /* NULL if there are no TRES, QOS and partitions */
    struct qos_row *qos;        /* QOS whose factors are in `rates` */
    size_t qos_count;
    double cpus; /* number of registered CPUs; NAN if unknown */
    /* Registered billing, and sum of the registered TRES by weight; NAN if unknown. */
    double billing, weighted;
    bool tells_cancelled; /* jobs that ended while suspended can be read */
    uint64_t created;     /* when the cluster was added to the database; 0 if unknown */
    bool tells_resized;   /* rows show the TRES that jobs were resized to */
    struct passes passes; /* set if tells_cancelled or tells_resized is true */
    uint64_t protocol;    /* protocol version of slurmctld's last registration; 0 if unknown */
    /* Oldest Slurm release whose tables have these columns; or NULL */
    const struct release *oldest_release;
    struct association_limit *limits; /* of associations that are not deleted */
    size_t limit_count;
    struct tres_name *tres; /* TRES that may be kept, in ascending order of id */
    size_t tres_count;
    struct association_priority *priorities; /* of associations that have a priority */
    size_t priority_count;
    struct privilege *privileges; /* read only if the settings hide data from other users */
    size_t privilege_count;
    struct pbs_charging *pbs; /* charges jobs by a formula; NULL if jobs are charged with `rates` */
};
struct association_priority {
    uint32_t id, priority;
};
/* Privileges that let a user see other users' data, as for Slurm's PrivateData. */
enum privilege_kind {
    PRIVILEGE_COORDINATOR,      /* of an account and its descendants */
    PRIVILEGE_USERS_COORDINATE, /* each user of the account or a descendant coordinates their own
                                 * account; see RULE_DIRECT_USERS_COORDINATE of the release */
    PRIVILEGE_OPERATOR,
    PRIVILEGE_ADMINISTRATOR,
};
struct privilege {
    enum privilege_kind kind;
    /* Indexes in `names`; the empty name if the kind needs no account or user. */
    uint32_t account, user;
};
struct association_limit {
    uint32_t id, grp_tres_mins; /* grp_tres_mins: index in `names` of `id=minutes,...` */
};
/* Returns empty accounting data.  `settings` may be NULL; there are then no charge rates. */
struct accounting *accounting_create(const struct settings *settings);
void accounting_destroy(struct accounting *accounting);
/*
 * Returns a copy of `own` that has its own rows, which the caller may modify or free.  Everything
 * else belongs to `own`, which must outlive the copy.  Free the copy with accounting_give_back().
 */
struct accounting *accounting_lend(const struct accounting *own);
void accounting_give_back(struct accounting *lent);

/* The usage of an association at the time that usage starts from, already decayed to that time. */
struct usage_start {
    uint64_t association;
    double usage; /* in TRES-seconds, finite, above 0 */
};
struct usage_starts {
    uint64_t time; /* 0 if there is no initial usage, so that all usage comes from jobs */
    struct usage_start *starts;
    size_t count;
    /* The decay of the source, for settings that use it.  The epoch is not later than `time`. */
    struct decay_cycles steps;
};

/* A suspension of a job, in epoch seconds; `end` is 0 while it lasts. */
struct suspension {
    uint64_t key; /* of the job's row */
    uint64_t start, end;
};

/* A row to be charged, of a job that has started. */
struct job_row {
    uint64_t id_job, association;
    const char *name; /* the job's id if it is a string; NULL if it is id_job */
    size_t name_length;
    uint64_t unknown_qos;  /* id of a QOS that does not exist; otherwise 0 */
    uint64_t qos;          /* if source->classes; otherwise 0 */
    const char *partition; /* if source->classes or needed for rates; otherwise "" */
    size_t partition_length;
    /* if source->waits: the job started at job.time_start, and could start from this time on; 0 if
     * the row is not the start of a job, or if the time is unknown */
    uint64_t waited_since;
    const struct charge_rate *rate;
    struct job job;
    const struct suspension *suspension; /* if not NULL, the row is this suspension of the job */
    uint64_t noted; /* when the job was cancelled, if it was suspended from its recorded end until
                     * then; otherwise 0 */
    const char *resized_to; /* the TRES of the job's next row, if this row ended with a resize and
                             * accounting->tells_resized; otherwise NULL */
    size_t resized_to_length;
    const char *tres; /* TRES per second, `id=count,...`; NULL means job.tres_alloc */
    size_t tres_length;
};
/*
 * Selects rows of started jobs with from <= time_end < to and, if `open`, also rows without
 * time_end.  With `keys`, selects only rows with these keys.  With `ids`, selects all rows of these
 * jobs that have no time_end or from <= time_end.
 */
struct job_range {
    uint64_t from, to;
    uint64_t begun_by; /* rows that started after this time may be omitted; 0 means that no row may
                        * be omitted */
    bool open;
    bool most; /* selects most of the table, so that an index would not help */
    const uint64_t *keys;
    size_t key_count;
    const uint64_t *ids;
    size_t id_count;
    const uint64_t *associations; /* rows of other associations may be omitted; NULL means that no
                                   * row may be omitted */
    size_t association_count;
};

/* Usage of an association and a TRES, as summed up by slurmdbd. */
struct rollup_row {
    uint64_t association, tres;
    uint64_t qos;    /* 0 if the usage is of all QOS */
    bool is_charged; /* the TRES is charged; otherwise it is only kept (source->kept) */
    const struct charge_rate *rate;
    struct rollup rollup;
};

/*
 * Usage of an association and a TRES in an hour or a day, as the source's own reports show it.  The
 * usage factors of QOS are not applied.  The end of a daily sum is computed in the process's time
 * zone; the source may use another one.
 */
struct sum_row {
    uint64_t association, from, to, tres_seconds;
};
struct sum_range {
    const char *tres;     /* name as in sreport */
    uint64_t from, until; /* from <= start of a sum < until */
    bool hourly;          /* hourly sums, otherwise daily sums */
};
typedef int sum_taker(void *context, const struct sum_row *row, struct error *err);

/* Data from the small tables that only priorities need. */
struct tres_fact {
    uint64_t id;
    const char *name; /* for example `cpu`, `gres/gpu:a100` */
};
struct qos_fact {
    uint64_t id;
    const char *name;
    uint32_t priority;            /* 0 if it was deleted */
    bool lifts_nodes, lifts_time; /* jobs may exceed MaxNodes or MaxTime of partitions */
};
/* A running job, for the TRES columns of sshare in addition to usage. */
struct running_job {
    uint64_t association, qos, start, time_limit; /* time_limit is in minutes */
    const char *tres;                             /* allocated, `id=count,...` */
};
struct cluster_facts {
    struct arena *arena; /* allocates the names */
    struct tres_fact *tres;
    size_t tres_count;
    struct qos_fact *qos;
    size_t qos_count;
    const char *registered; /* the TRES that the cluster registered, `id=count,...` */
    const char *nodes; /* the nodes that the cluster registered, as a list like in slurm.conf */
    struct running_job *jobs;
    size_t job_count;
};
void cluster_facts_free(struct cluster_facts *facts);

/* Arrays with their started tasks, sorted by id and submission time. */
struct array_fact {
    uint64_t id, submitted;
    struct array_tasks started;
};
struct array_list {
    struct array_fact *arrays;
    size_t count;
};
void array_list_free(struct array_list *list);

/* The names are UTF-8 and valid during the call. */
typedef void coordinator_taker(void *context, const char *account, const char *user);

/* Selects all changes of associations, or only changes that show when associations were removed. */
enum changes_wanted { CHANGES_ALL, CHANGES_OF_LIFE };

/* A string without a terminating NUL. */
struct bytes {
    const char *bytes; /* NULL is "" */
    size_t length;
};
/* A pending or running job. */
struct queued_job {
    uint64_t key, id_job, association, qos;
    uint64_t time_submit, time_eligible, time_limit, cpus;
    uint64_t array;       /* id_array_job; 0 if the job is not in an array */
    uint64_t array_task;  /* number of the task; UINT32_MAX if the row is not a single task */
    uint64_t het_job;     /* id of the heterogeneous job; 0 if there is none */
    uint64_t het_offset;  /* number of its component; UINT32_MAX if there is none */
    uint64_t array_limit; /* maximum number of tasks that may run at a time; 0 if unlimited */
    uint64_t array_waits; /* number of pending tasks without their own row; 0 for a single job */
    uint64_t time_until;  /* when the job started or was cancelled; 0 while it is pending */
    bool held, started;
    struct bytes account, partitions, qos_asked;
    struct bytes array_tasks; /* pending tasks as in the database; empty if they are unknown */
    struct bytes tres;        /* allocated or requested */
    struct bytes tres_asked;  /* requested, even while the job runs; may be unknown */
    struct bytes tres_sized;  /* as `tres`, but before any resize of the job */
};

/*
 * Selects jobs that were pending at `time` and, if `started`, also jobs that were running at
 * `time`.  If `waited_since` is not 0, selects other jobs: they were pending at `waited_since` or
 * later, but no longer at `time`.
 */
struct queue_range {
    uint64_t time, waited_since;
    bool started;
};

/*
 * Readings return rows one at a time (source/reading.h).  Pointers in a row are valid until the
 * next row is read.
 */

/* Pending jobs, for sources whose priorities are sums of weighted factors. */
struct queue_port {
    /* Reads the data for priorities that is not in the small tables. */
    int (*read_facts)(const struct source *source, struct cluster_facts *facts, struct error *err);
    /* Adds the accrue limits of QOS and associations to `accrual`. */
    int (*read_accrue_limits)(const struct source *source, struct accrual *accrual,
                              struct error *err);
    /* Reads the jobs that `range` selects, in any order. */
    struct queue_reading *(*jobs)(const struct source *source, const struct queue_range *range);
    /* Reads the arrays among `ids` of which a task had started by `time`. */
    int (*read_arrays)(const struct source *source, uint64_t time, const struct job_keys *ids,
                       struct array_list *list, struct error *err);
    /* Reads the TRES and, if `running`, the jobs that were running at `time`. */
    int (*read_limits)(const struct source *source, uint64_t time, bool running,
                       struct cluster_facts *facts, struct error *err);
};

/* History that the source keeps: changes, usage sums of purged jobs, and keys of job rows. */
struct past_port {
    /* Adds the changes of associations and their creation and modification times to `history`.
     * Adds a finding for each change that cannot be read or interpreted. */
    int (*read_changes)(const struct source *source, enum changes_wanted wanted,
                        struct association_history *history, struct findings *findings,
                        struct error *err);
    /* Adds to `history` the changes of the usage factors of QOS that were made at `since` or later.
     * Adds a finding for each change that cannot be read or interpreted. */
    int (*read_factors)(const struct source *source, struct factor_history *history, int64_t since,
                        struct findings *findings, struct error *err);
    /* Reads jobs that were cancelled while suspended, at `since` or later. */
    struct job_reading *(*cancelled)(const struct source *source,
                                     const struct accounting *accounting, uint64_t since);
    /* Sets `*from` and `*until` to the period that rollups cover, or to 0 if there are no rollups.
     * If the rollups cannot be read, also sets both times to 0, or returns -1 if they are
     * `needed`. */
    int (*rollup_reach)(const struct source *source, uint64_t now, bool needed, uint64_t *from,
                        uint64_t *until, struct error *err);
    /* Reads each rollup that ends after `after` and starts before `until`.  Uses hourly rollups as
     * far back as they are kept, daily rollups before the first hourly rollup, and monthly rollups
     * before the first daily rollup. */
    struct rollup_reading *(*rollups)(const struct source *source,
                                      const struct accounting *accounting, uint64_t after,
                                      uint64_t until);
    /* Passes each sum of the range to `take`, in any order.  Fails with ERROR_USAGE if the TRES
     * does not exist. */
    int (*read_sums)(const struct source *source, const struct sum_range *range, sum_taker *take,
                     void *context, struct error *err);
    /* Sets `*purged` if job rows were purged from a period that has rollups. */
    int (*find_purge)(const struct source *source, bool *purged, struct error *err);
    /* Adds values to `identity` that distinguish the cluster from any other of the same name. */
    int (*identify)(const struct source *source, struct text *identity, struct error *err);
    /* Reads the keys of all rows that have not ended by `now`, including pending jobs. */
    int (*read_open_keys)(const struct source *source, uint64_t now, struct job_keys *keys,
                          struct error *err);
    /* Reads the ids of ended jobs that ran on this node at some time from `from` to `to`,
     * inclusive. */
    int (*jobs_on_node)(const struct source *source, const char *node, uint64_t from, uint64_t to,
                        struct job_keys *ids, struct error *err);
};

/* Data that only `fairmill import` provides: usage to start with, and jobs ordered by a formula. */
struct imported_port {
    /* Adds findings about the imported files, such as lines that the import rejected. */
    int (*read_findings)(const struct source *source, struct findings *findings, struct error *err);
    /* Reads the decay and the initial usage.  Usage of jobs before starts->time is ignored.
     * starts->time is not later than the source's time. */
    int (*read_starts)(const struct source *source, struct usage_starts *starts, struct error *err);
    /* Reads the formula that orders jobs, and the jobs pending at the source's time, with
     * everything that does not depend on fairshare. */
    int (*read_formula_jobs)(const struct source *source, const struct accounting *accounting,
                             struct formula_jobs **jobs, struct error *err);
    /* Adds the id of the job with this key.  The id is a string, see struct job_row. */
    int (*name_job)(const struct source *source, uint64_t key, struct text *id, struct error *err);
};

/*
 * A source type.  Every source type has associations and jobs.  Each of the three ports is either
 * complete or NULL.
 */
struct layout {
    const char *name;
    bool tells_past;      /* read() returns the associations as they were at the source's time */
    bool has_classes;     /* jobs have partitions and QOS (source->classes) */
    bool has_waits;       /* jobs have a time since which they could start (source->waits) */
    bool omits_suspended; /* the charge of a row never includes suspended time, regardless of the
                           * settings; the charge is spread over the time that was not suspended */
    const struct queue_port *queue;
    const struct past_port *past;
    const struct imported_port *imported;
    /* Reads all clusters of the accounting database, including deleted ones. */
    int (*clusters)(const struct source *source, struct cluster_list *list, struct error *err);
    /* Calls `take` for each coordinator of an account, on all clusters.  Accounts whose users
     * coordinate them are not included.  NULL if the layout has no coordinators. */
    int (*read_coordinators)(const struct source *source, coordinator_taker *take, void *context,
                             struct error *err);
    /* Reads the small tables and, with source->ordered, association.order. */
    int (*read)(const struct source *source, struct accounting **accounting, struct error *err);
    /* Reads the job rows that `range` selects, in any order. */
    struct job_reading *(*jobs)(const struct source *source, const struct accounting *accounting,
                                const struct job_range *range);
    /* Reads the suspensions of these rows, grouped by job and, within a job, in ascending order of
     * start. */
    struct job_reading *(*suspensions)(const struct source *source,
                                       const struct accounting *accounting,
                                       const struct job_range *range);
    /* Sets `*oldest` and `*newest` to the oldest and newest time_end in the range after < time_end
     * <= until.  Only rows of jobs that have started and ended are included.  Sets both to 0 if
     * there are no such rows. */
    int (*read_ends)(const struct source *source, uint64_t after, uint64_t until, uint64_t *oldest,
                     uint64_t *newest, struct error *err);
    /* Adds the GRANTs that reading needs, one per line.  These cover the cluster's own tables or,
     * if `cluster` is NULL, the tables that all clusters share. */
    void (*add_grants)(struct text *text, const struct settings *settings, const char *cluster);
    /* Adds the GRANTs that the login lacks.  These are for the tables of the source's cluster or,
     * if source->cluster is NULL, for the tables that all clusters share.  The function is NULL if
     * the layout cannot check GRANTs. */
    int (*add_missing)(struct text *text, const struct source *source, struct error *err);
};

extern const struct layout layout_slurmdbd, layout_plain, layout_pbs;

#endif

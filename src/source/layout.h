/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_LAYOUT_H
#define FAIRMILL_SOURCE_LAYOUT_H

#include "core/priority/arrays.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "core/usage/factor_history.h"
#include "core/usage/usage.h"

struct accrual;
struct formula_jobs;
struct job_keys;
struct association_history;
struct pbs_charging;
struct release;
struct text;

/* The accounting side in our words, whatever its tables look like.  A new layout is one file and
 * one line in the table of source.c.  Nothing is ever written to it. */

struct cluster {
    char *name; /* UTF-8 */
    bool deleted;
    const char *flaw; /* what is wrong with a name that cannot be published; NULL where it can */
};
/* Every cluster once, by name. */
struct cluster_list {
    struct cluster *clusters;
    size_t count;
};
void cluster_list_free(struct cluster_list *list);

/* What is asked: a cluster in an accounting database, with the settings that say how it is read.
 * Made by source_of(). */
struct source {
    const struct settings *settings;
    const struct layout *layout; /* the settings' one */
    struct db *db;
    const char *cluster; /* NULL: what is asked is not about one */
    const int64_t *time; /* as of when; NULL: the wall clock once the snapshot is open */
    bool ordered;        /* read what slurmctld's ties need */
    bool classes;        /* job rows have their partition and QOS, where the layout has them */
};

/* What the small tables say about a cluster. */
struct accounting {
    struct names *names; /* bytes as the database has them */
    uint32_t empty_name;
    struct association *rows; /* deleted ones included */
    size_t count;
    struct id_index *modified; /* by id: when it was last touched; NULL: nobody knows */
    uint64_t modified_hash;
    bool by_lineage;            /* their order is that of slurmdbd's lineages */
    struct charge_rates *rates; /* NULL where there are no TRES, QOS and partitions */
    struct qos_row *qos;        /* whose factors are in the tariffs */
    size_t qos_count;
    double cpus; /* of the cluster's registration; NAN where it does not say */
    double billing, weighted;
    bool tells_cancelled; /* jobs that ended while they were suspended may be read */
    uint64_t created;     /* when the cluster was added to the accounting database; 0: unknown */
    bool tells_resized;   /* rows have what jobs were resized to */
    struct passes passes; /* where either is so */
    uint64_t protocol;    /* with which the cluster's slurmctld registered; 0: that is not told */
    const struct release *oldest_release; /* whose tables have these columns; NULL: not Slurm's */
    struct association_limit *limits;     /* likewise */
    size_t limit_count;
    struct association_priority *priorities; /* of live associations that have one of their own */
    size_t priority_count;
    struct privilege *privileges; /* where settings hide anything */
    size_t privilege_count;
    struct pbs_charging *pbs; /* what jobs cost by a formula; NULL: tariffs have it */
};
struct association_priority {
    uint32_t id, priority;
};
/* Who may see what others have, as Slurm's PrivateData has it. */
enum privilege_kind {
    PRIVILEGE_COORDINATOR,      /* of an account, and all below */
    PRIVILEGE_USERS_COORDINATE, /* whoever is in the account, or below it, coordinates his own; see
                                 * RULE_DIRECT_USERS_COORDINATE of the release */
    PRIVILEGE_OPERATOR,
    PRIVILEGE_ADMINISTRATOR,
};
struct privilege {
    enum privilege_kind kind;
    uint32_t account, user; /* in the names; empty where the kind is about none */
};
struct association_limit {
    uint32_t id, grp_tres_mins; /* in the names: `id=minutes,...` */
};
/* `settings` NULL: without tariffs. */
struct accounting *accounting_create(const struct settings *settings);
void accounting_destroy(struct accounting *accounting);
/* The same with rows of its own, which may be used up; all else belongs to `own`, which must last
 * as long.  It is to be freed with accounting_give_back(). */
struct accounting *accounting_lend(const struct accounting *own);
void accounting_give_back(struct accounting *lent);

/* What an association had used by an instant, with all decay until then. */
struct usage_start {
    uint64_t association;
    double usage; /* TRES-seconds, finite, above 0 */
};
struct usage_starts {
    uint64_t time; /* 0: there is no start, and usage is that of jobs alone */
    struct usage_start *starts;
    size_t count;
    /* Of settings that leave decay to the source.  The epoch is not after the instant. */
    struct decay_cycles steps;
};

/* When a job was suspended: epoch seconds, end 0 while it is. */
struct suspension {
    uint64_t key; /* of the job's row */
    uint64_t start, end;
};

/* A row that charges, of a job that has started. */
struct job_row {
    uint64_t id_job, association;
    const char *name; /* the job's id if that is a text; NULL if it is id_job */
    size_t name_length;
    uint64_t unknown_qos;  /* one that is not there; 0: it has none, or one that is */
    uint64_t qos;          /* as source->classes asks; 0 */
    const char *partition; /* likewise; "" */
    size_t partition_length;
    const struct charge_rate *rate;
    struct job job;
    const struct suspension *suspension; /* NULL: the row is the job itself, not a pause of it */
    uint64_t noted; /* when the job was cancelled while it was suspended, which it was from its end
                     * on; 0: the row is not about that */
    const char *resized_to; /* the TRES of the job's next row, if this one ended with a resize and
                             * accounting->tells_resized; else NULL */
    size_t resized_to_length;
};
/* Which of the rows that have started: those with from <= time_end < to, and with `open` those
 * without a time_end too; where there are keys, only theirs, and where there are ids of jobs, all
 * rows of these jobs without a time_end or with from <= time_end. */
struct job_range {
    uint64_t from, to;
    uint64_t begun_by; /* rows that started after it are not needed; 0: all are */
    bool open;
    bool most; /* most of the table: no index would help */
    const uint64_t *keys;
    size_t key_count;
    const uint64_t *ids;
    size_t id_count;
    const uint64_t *associations; /* rows of others may be left out; NULL: none may */
    size_t association_count;
};

/* What slurmdbd summed up of an association and a TRES. */
struct rollup_row {
    uint64_t association, tres;
    uint64_t qos; /* 0: of all */
    const struct charge_rate *rate;
    struct rollup rollup;
};

/* What an association used of a TRES in a span of time, as the source's own reports have it: no
 * factor of a QOS is in it. */
struct sum_row {
    uint64_t association, from, to, tres_seconds;
};
struct sum_range {
    const char *tres; /* called as in sreport */
    uint64_t from, until;
};
typedef int sum_taker(void *context, const struct sum_row *row, struct error *err);

/* What the small tables say that only priorities need. */
struct tres_fact {
    uint64_t id;
    const char *name; /* `cpu`, `gres/gpu:a100` */
};
struct qos_fact {
    uint64_t id;
    const char *name;
    uint32_t priority; /* 0 of one that is deleted */
};
/* A job that runs, for what sshare prints of TRES besides usage. */
struct running_job {
    uint64_t association, qos, start, time_limit; /* minutes, as in the accounting database */
    const char *tres;                             /* that it has, `id=count,...` */
};
struct cluster_facts {
    struct arena *arena; /* of the names */
    struct tres_fact *tres;
    size_t tres_count;
    struct qos_fact *qos;
    size_t qos_count;
    const char *registered; /* the TRES that the cluster registered, `id=count,...` */
    const char *nodes;      /* and its nodes, as slurm.conf lists them */
    struct running_job *jobs;
    size_t job_count;
};
void cluster_facts_free(struct cluster_facts *facts);

/* Arrays of which tasks have started, by id and submission. */
struct array_fact {
    uint64_t id, submitted;
    struct array_tasks started;
};
struct array_list {
    struct array_fact *arrays;
    size_t count;
};
void array_list_free(struct array_list *list);

/* What is wanted of the past of associations: all, or only what tells when some were removed. */
enum changes_wanted { CHANGES_ALL, CHANGES_OF_LIFE };

/* A job that waits, or runs. */
struct bytes {
    const char *bytes; /* NULL is "" */
    size_t length;
};
struct queued_job {
    uint64_t key, id_job, association, qos;
    uint64_t time_submit, time_eligible, time_limit, cpus;
    uint64_t array;       /* id_array_job; 0: it is in none */
    uint64_t array_limit; /* how many of its tasks may run at a time; 0: any number */
    uint64_t array_waits; /* so many tasks wait that were not split off the array; 0: it is a job */
    uint64_t time_until;  /* when it started or was cancelled; 0: it waits */
    bool held, started;
    struct bytes account, partitions, qos_asked;
    struct bytes tres;       /* that it has, or asks for */
    struct bytes tres_asked; /* also where it runs; none: that is not told */
    struct bytes tres_sized; /* those of `tres` that its size is of: before it was resized */
};

/* Which: those that wait at an instant, with `started` those that run, too; or, where it is not 0,
 * those that waited since `waited_since`, but do not any more. */
struct queue_range {
    uint64_t time, waited_since;
    bool started;
};

/* Readings are rows that are read one after another (source/reading.h).  What they point to holds
 * until the next is read. */

/* The pending jobs of a source whose priorities are sums of weighted factors. */
struct queue_port {
    /* What priorities need in addition to the small tables. */
    int (*read_facts)(const struct source *source, struct cluster_facts *facts, struct error *err);
    /* The limits of who may age. */
    int (*read_accrue_limits)(const struct source *source, struct accrual *accrual,
                              struct error *err);
    /* Jobs, in no order. */
    struct queue_reading *(*jobs)(const struct source *source, const struct queue_range *range);
    /* Those of these arrays of which tasks had started by an instant. */
    int (*read_arrays)(const struct source *source, uint64_t time, const struct job_keys *ids,
                       struct array_list *list, struct error *err);
    /* Which TRES there are, and with `running` the jobs that ran at an instant. */
    int (*read_limits)(const struct source *source, uint64_t time, bool running,
                       struct cluster_facts *facts, struct error *err);
};

/* The past that a source keeps itself: changes, sums of purged jobs, and keys of job rows. */
struct past_port {
    /* Enter what was done to associations, and when they were made and touched, into `past`; what
     * cannot be read or understood has a finding. */
    int (*read_changes)(const struct source *source, enum changes_wanted wanted,
                        struct association_history *history, struct findings *findings,
                        struct error *err);
    /* The same of the usage factors of QOS, from an instant on. */
    int (*read_factors)(const struct source *source, struct factor_history *history, int64_t since,
                        struct findings *findings, struct error *err);
    /* Jobs that were cancelled while they were suspended, at `since` or later. */
    struct job_reading *(*cancelled)(const struct source *source,
                                     const struct accounting *accounting, uint64_t since);
    /* From when to when rollups reach, 0 where there are none, and, if they are not `needed`,
     * where they may not be read. */
    int (*rollup_reach)(const struct source *source, uint64_t now, bool needed, uint64_t *from,
                        uint64_t *until, struct error *err);
    /* Each rollup that ends after `after` and starts before `until`: hours as far back as they are
     * kept, days before them, months before these. */
    struct rollup_reading *(*rollups)(const struct source *source,
                                      const struct accounting *accounting, uint64_t after,
                                      uint64_t until);
    /* Hand each sum of the range to `take`, by ascending start: of whole days, of hours at the
     * ends, and of months where their days are not kept.  ERROR_USAGE where there is no such TRES.
     */
    int (*read_sums)(const struct source *source, const struct sum_range *range, sum_taker *take,
                     void *context, struct error *err);
    /* Whether job rows of a time for which there are rollups were purged. */
    int (*find_purge)(const struct source *source, bool *purged, struct error *err);
    /* Add to `identity` what distinguishes the cluster from any other of its name. */
    int (*identify)(const struct source *source, struct text *identity, struct error *err);
    /* The keys of all rows that have not ended by `now`, also of jobs that wait. */
    int (*read_open_keys)(const struct source *source, uint64_t now, struct job_keys *keys,
                          struct error *err);
    /* The ids of jobs that have ended, and of which a part ran on this node between two instants,
     * both included. */
    int (*jobs_on_node)(const struct source *source, const char *node, uint64_t from, uint64_t to,
                        struct job_keys *ids, struct error *err);
};

/* What only `fairmill import` brings: usage to begin with, and jobs that a formula orders. */
struct imported_port {
    /* Add findings about the imported files. */
    int (*read_findings)(const struct source *source, struct findings *findings, struct error *err);
    /* How usage decays, and with what it begins: before the starts' instant, which is not after the
     * source's, jobs do not count. */
    int (*read_starts)(const struct source *source, struct usage_starts *starts, struct error *err);
    /* The formula that orders jobs, and the jobs that wait at the source's instant, with what does
     * not depend on fairshare. */
    int (*read_formula_jobs)(const struct source *source, const struct accounting *accounting,
                             struct formula_jobs **jobs, struct error *err);
    /* Add the id of the job of a key, which is a text, as struct job_row has it. */
    int (*name_job)(const struct source *source, uint64_t key, struct text *id, struct error *err);
};

/* A source type: associations and jobs, which each has, and three ports, which it has completely or
 * not at all. */
struct layout {
    const char *name;
    bool tells_past;      /* read() gives the associations as they were at the instant */
    bool has_classes;     /* jobs have partitions and QOS (source->classes) */
    bool omits_suspended; /* what a row is charged has no suspended time in it, whatever settings
                           * say: it is spread over the rest */
    const struct queue_port *queue;
    const struct past_port *past;
    const struct imported_port *imported;
    /* Every cluster. */
    int (*clusters)(const struct source *source, struct cluster_list *list, struct error *err);
    /* The small tables; with source->ordered also association.order. */
    int (*read)(const struct source *source, struct accounting **accounting, struct error *err);
    /* Every row of the range, in no order. */
    struct job_reading *(*jobs)(const struct source *source, const struct accounting *accounting,
                                const struct job_range *range);
    /* The suspensions of these rows: those of a job one after another, by ascending start. */
    struct job_reading *(*suspensions)(const struct source *source,
                                       const struct accounting *accounting,
                                       const struct job_range *range);
    /* The oldest and newest time_end of rows that have started and ended, after < time_end <=
     * until, 0 where there is none. */
    int (*read_ends)(const struct source *source, uint64_t after, uint64_t until, uint64_t *oldest,
                     uint64_t *newest, struct error *err);
    /* Add the GRANTs that reading needs, a line each: those of a cluster's own tables, or with
     * NULL those of the tables that all clusters share. */
    void (*add_grants)(struct text *text, const struct settings *settings, const char *cluster);
    /* Add those of them that the login lacks, of the source's cluster or, where it has none, of the
     * tables that all share.  NULL: nothing is looked for. */
    int (*add_missing)(struct text *text, const struct source *source, struct error *err);
};

extern const struct layout layout_slurmdbd, layout_plain, layout_pbs;

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_WAITING_H
#define FAIRMILL_IMPORT_WAITING_H

#include <stdbool.h>

#include "db/db.h"
#include "import/record.h"
#include "import/sched_config.h"
#include "settings/pbs_values.h"
#include "util/text.h"

/* Waiting jobs, queues and server attributes according to OpenPBS's server.  Texts are UTF-8. */

struct waiting_job {
    char *job_id;
    char state[2]; /* OpenPBS's letter for the state */
    bool has_rest; /* an array that has begun, with jobs that still wait */
    char *texts[RUN_TEXTS];
    uint64_t ctime, qtime, etime; /* epoch seconds, or 0 if missing */
    uint64_t eligible_time;       /* seconds */
    int64_t priority;
    struct text requested; /* resources, in the format of source/pbs/fields.h */
};

struct queue_line {
    char *name;
    int64_t priority;
};

struct waiting {
    void (*complain)(const struct error *err); /* receives the error of each job that is left out */
    size_t skipped;                            /* number of jobs that are left out */
    bool has_jobs, has_queues, has_server;     /* the source contains these */
    /* The source also contains the scheduler, which has the threshold. */
    bool has_scheduler;
    int64_t as_of;
    struct waiting_job *jobs;
    struct queue_line *queues;
    size_t job_count, queue_count;
    struct dated_value server[SERVER_KEYS];
};

/* Adds a job.  The caller then sets its attributes with waiting_tell(). */
struct waiting_job *waiting_add_job(struct waiting *waiting, const char *job_id);
/* Returns true if waiting_tell() accepts the job attribute with this name in OpenPBS. */
#define WAITING_RESOURCES "Resource_List"
#define WAITING_ACCRUE_TYPE "accrue_type"
bool waiting_wants(const char *name);
/*
 * Sets an attribute by its name in OpenPBS.  For WAITING_RESOURCES, `resource` names the resource;
 * otherwise it is NULL.  Fails with ERROR_DATA if the value is invalid.
 */
int waiting_tell(struct waiting_job *job, const char *name, const char *resource, const char *value,
                 struct error *err);
/*
 * Completes the last job.  Removes it if it does not wait.  Fails with ERROR_DATA if an attribute
 * is missing or too long.
 */
int waiting_end_job(struct waiting *waiting, struct error *err);
/* Leaves the last job out and passes `reason` to `complain`. */
void waiting_skip_job(struct waiting *waiting, struct error *reason);
/* Removes the jobs for which `is_removed` returns true. */
void waiting_remove_jobs(struct waiting *waiting,
                         bool (*is_removed)(const void *context, const struct waiting_job *job),
                         const void *context);
/* Completes the list of jobs.  Fails if jobs were left out and none remains. */
int waiting_end(const struct waiting *waiting, struct error *err);

/*
 * The first adds a queue with Priority 0.  The second sets the Priority of the queue that was added
 * last.
 */
int waiting_add_queue(struct waiting *waiting, const char *name, struct error *err);
int waiting_set_priority(struct waiting *waiting, const char *priority, struct error *err);
/* Sets an attribute of the server.  Ignores attributes that are not in SERVER_KEYS. */
void waiting_tell_server(struct waiting *waiting, const char *name, const char *value);

void waiting_free(struct waiting *waiting);

/*
 * Replaces the stored jobs, queues and server attributes of a cluster, in one transaction.  Leaves
 * parts that the source does not contain unchanged.  A job that still waits keeps its key.  Adds
 * the number of changed server attributes to *changed.
 */
int waiting_store(struct db *db, const char *cluster, const struct waiting *waiting,
                  uint64_t *changed, struct error *err);

#endif

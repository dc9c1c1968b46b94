/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_WAITING_H
#define FAIRMILL_IMPORT_WAITING_H

#include <stdbool.h>

#include "db/db.h"
#include "import/record.h"
#include "import/sched_config.h"
#include "settings/pbs_values.h"
#include "util/text.h"

/* What OpenPBS's server says of jobs that wait, of its queues and of itself.  Texts are UTF-8. */

struct waiting_job {
    char *job_id;
    char state[2]; /* OpenPBS's letter */
    bool has_rest; /* of an array that has begun: some of its jobs wait */
    char *texts[RUN_TEXTS];
    uint64_t ctime, qtime, etime; /* epoch seconds; 0: it does not say */
    uint64_t eligible_time;       /* seconds */
    int64_t priority;
    struct text requested; /* resources, as source/pbs/fields.h */
};

struct queue_line {
    char *name;
    int64_t priority;
};

struct waiting {
    void (*complain)(const struct error *err); /* of a job that is left out */
    size_t skipped;                            /* how many jobs are left out */
    bool has_jobs, has_queues, has_server;     /* it tells of these */
    bool has_scheduler;                        /* also of the scheduler, whose the threshold is */
    int64_t as_of;
    struct waiting_job *jobs;
    struct queue_line *queues;
    size_t job_count, queue_count;
    struct dated_value server[SERVER_KEYS];
};

/* Another job, to which its attributes are told one by one. */
struct waiting_job *waiting_add_job(struct waiting *waiting, const char *job_id);
/* Whether an attribute of jobs is needed. */
#define WAITING_RESOURCES "Resource_List"
#define WAITING_ACCRUE_TYPE "accrue_type"
bool waiting_wants(const char *name);
/* An attribute by OpenPBS's name, and the resource if it is a value of WAITING_RESOURCES (else
 * NULL).  ERROR_DATA if the value is not one of this attribute. */
int waiting_tell(struct waiting_job *job, const char *name, const char *resource, const char *value,
                 struct error *err);
/* The job is complete: drop it again if it does not wait.  -1 if something is missing
 * (ERROR_DATA). */
int waiting_end_job(struct waiting *waiting, struct error *err);
/* Leave the last job out, and complain of it. */
void waiting_skip_job(struct waiting *waiting, struct error *reason);
/* Remove jobs that are not needed. */
void waiting_remove_jobs(struct waiting *waiting,
                         bool (*is_removed)(const void *context, const struct waiting_job *job),
                         const void *context);
/* All jobs are there.  -1 if some were left out and no job remains. */
int waiting_end(const struct waiting *waiting, struct error *err);

/* Another queue, which has Priority 0 until it is set. */
int waiting_add_queue(struct waiting *waiting, const char *name, struct error *err);
int waiting_set_priority(struct waiting *waiting, const char *priority, struct error *err);
/* An attribute of the server's, of which only those of SERVER_KEYS are needed. */
void waiting_tell_server(struct waiting *waiting, const char *name, const char *value);

void waiting_free(struct waiting *waiting);

/* Put what was told of jobs, of queues and of the server in the place of what was told before; what
 * was not told of stays.  A job that waits on keeps its key.  *changed grows by the server's values
 * that are new. */
int waiting_store(struct db *db, const char *cluster, const struct waiting *waiting,
                  uint64_t *changed, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_DIFFERENCES_H
#define FAIRMILL_REPORT_JOB_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;
struct text;

/* Our priorities of jobs that wait against those that sprio printed. */

/* Why they may differ though nothing is wrong. */
enum job_cause {
    JOB_CAUSE_NONE, /* nobody knows */
    JOB_CAUSE_PASS,
    JOB_CAUSE_CONFORMANCE,
    JOB_CAUSE_NICE,
    JOB_CAUSE_SITE,
    JOB_CAUSE_BY_HAND,
    JOB_CAUSES,
};

struct job_difference {
    int64_t id_job;
    const char *user, *partition, *qos;
    const char *factor; /* `age`, `tres cpu`, `priority` */
    double ours, printed;
    enum job_cause cause;
};

struct job_differences {
    struct arena *texts;
    const char *cluster;
    int64_t as_of, printed_at; /* of our values; of the print */
    struct job_difference *rows;
    size_t count;
    size_t compared;                /* rows of the print that are ours too */
    size_t only_printed, only_ours; /* rows; jobs whose priority is 0 are not counted */
    int64_t first_only_printed;     /* a job's id */
    bool nice_unknown;              /* a priority differs, and the print has no nice */
};

void job_differences_free(struct job_differences *differences);
/* Whether each difference has a cause, and nobody is only in the print. */
bool job_differences_are_explained(const struct job_differences *differences);

/* The page that people read, and the same as rows. */
void job_differences_add_page(struct text *text, const struct job_differences *differences);
extern const struct table_layout job_differences_layout;
void job_differences_print(const struct job_differences *differences, struct table *table);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_VALUE_DIFFERENCES_H
#define FAIRMILL_REPORT_VALUE_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/table.h"

struct answer;

/* Our values against those that were printed, value by value: of pending jobs by sprio, or of the
 * entities of a tree by pbsfs. */
enum value_kind { VALUES_OF_JOBS, VALUES_OF_ENTITIES, VALUE_KINDS };

/* Why they may differ though nothing is wrong. */
enum value_cause {
    VALUE_CAUSE_NONE, /* unknown */
    JOB_CAUSE_PASS,
    JOB_CAUSE_CONFORMANCE,
    JOB_CAUSE_NICE,
    JOB_CAUSE_SITE,
    JOB_CAUSE_BY_HAND,
    PBS_CAUSE_CYCLE,
    PBS_CAUSE_RUNNING,
    PBS_CAUSE_DECAY,
    PBS_CAUSE_LEDGER,
    PBS_CAUSE_TREE,
    PBS_CAUSE_USAGE,
    VALUE_CAUSES,
};

struct value_difference {
    int64_t id_job;
    const char *user; /* or the entity; UTF-8 */
    const char *partition, *qos;
    const char *value; /* `age`, `tres cpu`, `priority`; `Grp`, `Usage`, `fairshare_tree_usage` */
    double ours, printed;
    double difference; /* value_differences_add() sets it */
    enum value_cause cause;
};

struct value_differences {
    struct arena *texts;
    enum value_kind kind;
    const char *cluster;
    int64_t as_of, printed_at; /* of our values; of the print */
    struct value_difference *rows;
    size_t count;
    size_t compared;                /* rows of jobs, or entities, that are in both */
    size_t only_printed, only_ours; /* jobs whose priority is 0 are not counted */
    int64_t first_job_printed;      /* the id of the first job that is only in the print */
    const char *first_only_printed, *first_only_ours; /* entities */
    /* Of entities: the longest that the scheduler was taken to wait, seconds; our unit; the
     * print's unit where it is another one, else NULL. */
    uint64_t cycle;
    const char *unit, *other_unit;
    const char *notes[4]; /* sentences: what cannot be known; ended by NULL */
};

void value_differences_free(struct value_differences *differences);
/* Copy a text to where it lasts as long as the differences. */
const char *value_differences_copy(struct value_differences *differences, const char *text);
void value_differences_add(struct value_differences *differences,
                           const struct value_difference *difference);
void value_differences_note(struct value_differences *differences, const char *sentence);
/* Whether each difference has a cause, and nothing is left out of what was printed; of entities
 * also nothing of what is ours, and the units are the same. */
bool value_differences_are_explained(const struct value_differences *differences);

extern const struct table_layout value_differences_layouts[VALUE_KINDS];
void value_differences_answer(const struct value_differences *differences, struct answer *answer);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_VALUE_DIFFERENCES_H
#define FAIRMILL_REPORT_VALUE_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/table.h"

struct answer;

/*
 * Compares fairmill's values with printed ones, value by value: priorities of pending jobs with
 * sprio's, or the entities of a tree with pbsfs's.
 */
enum value_kind { VALUES_OF_JOBS, VALUES_OF_ENTITIES, VALUE_KINDS };

/* Causes of differences.  A difference with a known cause is not an error.  value_differences.c has
 * the meaning of each cause. */
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
    const char *user; /* user of the job, or the entity; UTF-8 */
    const char *partition, *qos;
    const char *value; /* `age`, `tres cpu`, `priority`; `Grp`, `Usage`, `fairshare_tree_usage` */
    double ours, printed;
    double difference; /* printed value minus fairmill's; set by value_differences_add() */
    enum value_cause cause;
};

struct value_differences {
    struct arena *texts;
    enum value_kind kind;
    const char *cluster;
    int64_t as_of, printed_at; /* times of fairmill's values and of the output, epoch seconds */
    struct value_difference *rows;
    size_t count;
    size_t compared; /* number of job rows or entities that both sides have */
    /* number of rows that only one side has, without fairmill's jobs of priority 0 */
    size_t only_printed, only_ours;
    int64_t first_job_printed; /* id of the first job that only the output has */
    /* first entity that only one side has; NULL: none */
    const char *first_only_printed, *first_only_ours;
    /* For entities only. */
    uint64_t cycle;                /* assumed longest scheduler cycle, seconds */
    const char *unit, *other_unit; /* fairmill's unit; the output's unit if different, or NULL */
    const char *notes[4];          /* sentences about facts that cannot be known; NULL-terminated */
};

void value_differences_free(struct value_differences *differences);
/* Returns a copy of `text`, which `differences` owns. */
const char *value_differences_copy(struct value_differences *differences, const char *text);
/* Appends a copy of `difference`, and computes its `difference`. */
void value_differences_add(struct value_differences *differences,
                           const struct value_difference *difference);
/* Appends a sentence to the notes.  Does not copy it. */
void value_differences_note(struct value_differences *differences, const char *sentence);
/*
 * Returns true if each difference has a cause and fairmill has all printed jobs or entities.  For
 * entities, the output must also have all of fairmill's, and the units must be the same.
 */
bool value_differences_are_explained(const struct value_differences *differences);

extern const struct table_layout value_differences_layouts[VALUE_KINDS];
void value_differences_answer(const struct value_differences *differences, struct answer *answer);

#endif

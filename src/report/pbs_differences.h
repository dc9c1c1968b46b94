/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PBS_DIFFERENCES_H
#define FAIRMILL_REPORT_PBS_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;
struct text;

/* Our tree of OpenPBS's entities against what pbsfs printed of it. */

/* Why they may differ though nothing is wrong. */
enum pbs_cause {
    PBS_CAUSE_NONE, /* nobody knows */
    PBS_CAUSE_CYCLE,
    PBS_CAUSE_RUNNING,
    PBS_CAUSE_DECAY,
    PBS_CAUSE_LEDGER,
    PBS_CAUSE_TREE,
    PBS_CAUSE_USAGE,
    PBS_CAUSES,
};

struct pbs_difference {
    const char *entity; /* UTF-8 */
    const char *value;  /* `Grp`, `cgrp`, `Shares`, `Perc`, `Usage`, `fairshare_tree_usage` */
    double ours, printed;
    enum pbs_cause cause;
};

struct pbs_differences {
    struct arena *texts; /* of entities' names */
    const char *cluster;
    int64_t as_of, printed_at;     /* of our values; of the print */
    uint64_t cycle;                /* the longest that the scheduler was taken to wait, seconds */
    const char *unit, *other_unit; /* ours; the print's where that is another one, else NULL */
    struct pbs_difference *rows;
    size_t count;
    size_t compared;                /* entities that are in both */
    size_t only_printed, only_ours; /* entities */
    const char *first_only_printed, *first_only_ours;
    const char *unknown[4]; /* sentences: what cannot be known; ended by NULL */
};

void pbs_differences_free(struct pbs_differences *differences);
/* Whether each difference has a cause, and everybody is in both. */
bool pbs_differences_are_explained(const struct pbs_differences *differences);

/* The page that people read, and the same as rows. */
void pbs_differences_add_page(struct text *text, const struct pbs_differences *differences);
extern const struct table_layout pbs_differences_layout;
void pbs_differences_print(const struct pbs_differences *differences, struct table *table);

#endif

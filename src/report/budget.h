/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_BUDGET_H
#define FAIRMILL_REPORT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct table_layout;

/* The output of `fairmill budget` for a cluster. */

/* A GrpTRESMins limit, as published in fairmill_budget.  Texts are UTF-8. */
struct budget_row {
    char *kind; /* `association` or `qos` */
    int64_t id;
    char *account, *user, *partition, *qos, *tres;
    int64_t limit, used, running, left; /* in TRES-minutes */
    int64_t exhausted_at;               /* epoch seconds; 0: never, or unknown */
    double used_percent;                /* of the limit; infinite if the limit is 0 */
};
struct budget_rows {
    struct budget_row *rows;
    size_t count;
};
void budget_rows_free(struct budget_rows *list);

/* Puts the limit that is reached first first.  Limits that are not reached come last. */
void budget_rows_sort(struct budget_rows *list);

struct budget_view {
    const char *cluster;
    int64_t as_of;                 /* time of the run */
    const char *name;              /* the only NAME of the request; NULL: none, or several */
    const struct budget_rows *all; /* in the order of the output */
    /* -1 if it is unknown whether slurm.conf enforces limits, else 0 or 1. */
    int enforced;
    bool is_slurm; /* the cluster's scheduler has such limits */
    bool advice;   /* the requesting user can set limits */
};

extern const struct table_layout budget_layout;
void budget_add_answer(const struct budget_view *view, struct answer *answer);

#endif

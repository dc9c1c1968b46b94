/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_METRICS_SAMPLES_H
#define FAIRMILL_COMMAND_METRICS_SAMPLES_H

#include "settings/scheduler.h"
#include "util/text.h"

/* In Prometheus's text format, each metric has its help and type, then all its samples.  A metric
 * that exporters of Slurm also have is named as in those exporters.  The names of all other metrics
 * begin with `fairmill_`. */

/* The first metrics exist for accounts and for users, and for each scheduler. */
#define SCOPES (2 * SCHEDULERS)
enum metric {
    METRIC_FAIRSHARE,
    METRIC_NORM_SHARES,
    METRIC_NORM_USAGE,
    METRIC_RAW_SHARES,
    METRIC_RAW_USAGE,
    METRICS_OF_SCOPE,
    /* For each association. */
    METRIC_EFFECTIVE_USAGE = SCOPES * METRICS_OF_SCOPE,
    METRIC_LEVEL_FS,
    METRIC_RANK,
    METRIC_PARENT,
    METRIC_TRES_USAGE,
    METRIC_TRES_RUNNING,
    /* For each GrpTRESMins limit. */
    METRIC_BUDGET_LIMIT,
    METRIC_BUDGET_USED,
    METRIC_BUDGET_RUNNING,
    METRIC_BUDGET_LEFT,
    METRIC_BUDGET_EXHAUSTED,
    /* For each cluster. */
    METRIC_COMPUTED,
    METRIC_DURATION,
    METRIC_LAG,
    METRIC_FINDINGS,
    METRIC_FINDINGS_OF_KIND,
    METRIC_DRIFT,
    METRIC_FAILED,
    METRIC_STARTED,
    METRIC_PROBLEM,
    METRIC_WAITING,
    METRIC_STARTED_JOBS,
    METRIC_WAIT_MEDIAN,
    METRIC_WAIT_P90,
    METRIC_JAIN,
    METRIC_USE_OVER,
    METRIC_USE_UNDER,
    METRIC_LEFT_OUT,
    /* For all clusters together. */
    METRIC_PUBLISHED,
    METRICS,
};

/* The labels of a sample; NULL labels are omitted. */
struct metric_labels {
    const char *cluster, *account, *user, *partition, *parent, *kind, *problem, *scope, *qos, *tres;
    const struct terminology *terms; /* names of the labels for account and user; NULL: `account`
                                      * and `user` */
    const char *user_label;          /* replaces the name for user; NULL: keep it */
};

/* The samples of each metric, as text. */
struct metrics {
    struct text samples[METRICS];
};

/* Adds a sample.  Omits a value that is not finite, because monitoring systems add up values and
 * such a sum is useless. */
void metrics_add(struct metrics *metrics, int metric, const struct metric_labels *labels,
                 double value);
/* Adds all samples to `text`, by metric, each metric with its help and type. */
void metrics_print(const struct metrics *metrics, struct text *text);
void metrics_free(struct metrics *metrics);

#endif

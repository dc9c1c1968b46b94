/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_METRICS_H
#define FAIRMILL_REPORT_METRICS_H

struct text;
struct words;

/* The text format in which Prometheus takes numbers: each metric with its help, its type, and then
 * all of its samples.  Names that exporters of Slurm have already are kept; what they do not have
 * begins with fairmill_.  Names are bytes of UTF-8. */

enum metric {
    /* Of accounts, then the same of users, then of OpenPBS's groups and entities. */
    METRIC_ACCOUNT_FAIRSHARE,
    METRIC_ACCOUNT_NORM_SHARES,
    METRIC_ACCOUNT_NORM_USAGE,
    METRIC_ACCOUNT_RAW_SHARES,
    METRIC_ACCOUNT_RAW_USAGE,
    METRIC_USER_FAIRSHARE,
    METRIC_USER_NORM_SHARES,
    METRIC_USER_NORM_USAGE,
    METRIC_USER_RAW_SHARES,
    METRIC_USER_RAW_USAGE,
    METRIC_GROUP_FAIRSHARE,
    METRIC_GROUP_NORM_SHARES,
    METRIC_GROUP_NORM_USAGE,
    METRIC_GROUP_RAW_SHARES,
    METRIC_GROUP_RAW_USAGE,
    METRIC_ENTITY_FAIRSHARE,
    METRIC_ENTITY_NORM_SHARES,
    METRIC_ENTITY_NORM_USAGE,
    METRIC_ENTITY_RAW_SHARES,
    METRIC_ENTITY_RAW_USAGE,
    /* Ours: of every association. */
    METRIC_EFFECTIVE_USAGE,
    METRIC_LEVEL_FS,
    METRIC_RANK,
    METRIC_PARENT,
    /* Of every cluster. */
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
    METRIC_JAIN,
    METRIC_USE_OVER,
    METRIC_USE_UNDER,
    METRIC_LEFT_OUT,
    /* Of all. */
    METRIC_PUBLISHED,
    METRICS,
};

/* The labels of a sample; those that are NULL are not there. */
struct metric_labels {
    const char *cluster, *account, *user, *partition, *parent, *kind, *problem, *scope;
    const struct words *words; /* the account's and the user's labels; NULL: these */
};

struct metrics *metrics_create(void);
void metrics_destroy(struct metrics *metrics);
/* A sample; one that is not finite is left out: monitors add up. */
void metrics_add(struct metrics *metrics, enum metric metric, const struct metric_labels *labels,
                 double value);
/* All that was added, which is let go meanwhile. */
void metrics_print(struct metrics *metrics, struct text *text);

#endif

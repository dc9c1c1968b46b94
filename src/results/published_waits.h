/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_WAITS_H
#define FAIRMILL_RESULTS_PUBLISHED_WAITS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct name_list;
struct published;
struct published_cluster;
struct waits_list;

/* Reads the waiting times of jobs (fairmill_wait_day), with the fairshare factors of their
 * associations. */

struct waits_request {
    /* Days, in epoch seconds.  The period begins with the day of `from`, and ends before `to`. */
    int64_t from, to;
    unsigned by;                        /* a mask of WAITS_BY_... (report/waits.h) */
    int64_t (*end_of)(int64_t time);    /* end of the period of a time; NULL: one period */
    const struct name_list *partitions; /* only jobs in these partitions; NULL: all */
    bool without_correlation;           /* if true, correlations are NAN, and the read is shorter */
    const struct name_list *qos;        /* only jobs with these QOS; NULL: all */
};

/*
 * Sets `*list` to the waiting times of the jobs that the request and the filter of `published`
 * select.  Records which accounts and users of the filter exist.  Grouped by user, or if the filter
 * selects users, omits users that the requesting user must not see.  An account of the filter
 * includes the accounts below it.
 *
 * The factor of an association is its value at the last history point of the day on which the jobs
 * started, or of the seven days before.  Points with another algorithm than the published one do
 * not count, because their factors cannot be compared.
 *
 * Returns -1 on error.  The caller frees the list with waits_list_free(), also on error.
 */
int published_waits_read(struct published *published, const struct published_cluster *cluster,
                         const struct waits_request *request, struct waits_list *list,
                         struct error *err);

#endif

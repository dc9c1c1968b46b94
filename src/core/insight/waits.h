/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_WAITS_H
#define FAIRMILL_CORE_INSIGHT_WAITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Statistics of the times that jobs waited.  Jobs are counted in buckets of waiting times, as in
 * fairmill_wait_day.
 */

/* The number of buckets.  The last one has no upper bound. */
#define WAIT_BUCKETS 10
/* The highest upper bound, in seconds: 7 days. */
#define WAIT_LONGEST_S 604800

/* The number of jobs in each bucket, the shortest time first. */
struct wait_counts {
    uint64_t jobs[WAIT_BUCKETS];
};

/* Returns the index of the bucket whose bucket_s in fairmill_wait_day is `bound_s`: its upper bound
 * in seconds, or -1.  Returns WAIT_BUCKETS if there is no such bucket. */
size_t wait_bucket_at(int64_t bound_s);
/* Returns the index of the bucket of a time in seconds. */
size_t wait_bucket_of(uint64_t seconds);
/* Returns bucket_s of the bucket with an index below WAIT_BUCKETS. */
int64_t wait_bucket_bound(size_t bucket);
uint64_t wait_counts_sum(const struct wait_counts *counts);
/*
 * Returns an estimate in seconds of the time within which the part `quantile` (0 to 1) of the jobs
 * started.  Interpolates linearly within the bucket, as histogram_quantile() of Prometheus does.
 * Returns INFINITY if the time is in the bucket without an upper bound, and NAN without jobs.
 */
double wait_quantile(const struct wait_counts *counts, double quantile);

/* A number of jobs with the same fairshare factor and the same bucket of waiting times. */
struct wait_observation {
    double factor; /* of the association when the jobs started; not NAN */
    uint32_t bucket;
    uint64_t jobs;
};
/* With fewer jobs, a rank correlation says nothing. */
#define WAIT_CORRELATED_JOBS 10u
/*
 * Returns the rank correlation between factor and waiting time: Spearman's coefficient with mean
 * ranks for ties (Kendall, Rank Correlation Methods, 3.8), in which each job is an observation.
 * The value is from -1 (jobs with a higher factor waited less) to 1.  Sorts the observations.
 * Returns NAN if there are fewer than WAIT_CORRELATED_JOBS jobs or more than 2^31, and if all
 * factors or all buckets are equal.
 */
double wait_correlation(struct wait_observation *observations, size_t count);

/* The conclusion from a correlation.  Values between -0.1 and 0.1 count as no relation, which is
 * Cohen's bound of a small effect (Statistical Power Analysis for the Behavioral Sciences, 3.2). */
enum wait_relation {
    WAIT_RELATION_UNKNOWN, /* of NAN */
    WAIT_RELATION_LESS,    /* jobs with a higher factor waited less */
    WAIT_RELATION_NONE,
    WAIT_RELATION_LONGER,
};
enum wait_relation wait_relation_of(double correlation);

#endif

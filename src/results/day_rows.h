/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_ROWS_H
#define FAIRMILL_RESULTS_DAY_ROWS_H

struct days;
struct error;
struct publisher;

/* Write the usage of days, inside the transaction that publisher_publish() has open; may be called
 * again.  A day's row is the sum over all jobs, of which a run that goes on from the seal reads
 * few. So it adds to the stored rows what was sealed since, subtracts what the run before had
 * counted of jobs that were not sealed (fairmill_usage_open), and adds what these are now.  These
 * are integers, so that a full run finds the same. */
int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err);

#endif

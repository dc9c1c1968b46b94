/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_RUN_ROWS_H
#define FAIRMILL_RESULTS_RUN_ROWS_H

struct error;
struct publisher;
struct run_record;

/* Write the run's row of fairmill_run.  `status` is "done" or "failed"; a row that is there is
 * replaced by one that is done, and stays where the new one has failed. */
int run_rows_write(const struct publisher *publisher, const struct run_record *record,
                   const char *status, struct error *err);

#endif

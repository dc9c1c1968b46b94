/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_IMPORTED_H
#define FAIRMILL_SOURCE_PBS_IMPORTED_H

#include "source/reading.h"

/*
 * The data that only `fairmill import pbs` provides: the usage file, rejected lines, and pending
 * jobs with the site's formula.
 */
extern const struct imported_port pbs_imported;

/*
 * Passes each row of a query on OpenPBS's tables to `take`.  Returns -1 on error; the message then
 * names the command that creates the tables, or the missing GRANT.
 */
int pbs_read(const struct source *source, const struct query *query, row_taker take, void *context,
             struct error *err);
/* Adds these hints to the error of a query that pbs_read() did not run.  Returns -1. */
int pbs_explain(const struct source *source, struct error *err);
/* Returns the time as of which the source is read. */
int64_t pbs_time(const struct source *source);

#endif

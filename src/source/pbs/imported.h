/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_IMPORTED_H
#define FAIRMILL_SOURCE_PBS_IMPORTED_H

#include "source/reading.h"

/* What only `fairmill import pbs' brings: the usage file, lines that it refused, and the jobs that
 * wait, with the site's formula. */
extern const struct imported_port pbs_imported;

/* Hand each row of a query of OpenPBS's tables to `take`; an error says what makes them, or which
 * GRANT they need. */
int pbs_read(const struct source *source, const struct query *query, row_taker take, void *context,
             struct error *err);
/* Say the same of an error of another query; returns -1. */
int pbs_explain(const struct source *source, struct error *err);
/* As of when the source is read. */
int64_t pbs_time(const struct source *source);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FINDING_ROWS_H
#define FAIRMILL_RESULTS_FINDING_ROWS_H

#include <stdint.h>

struct error;
struct findings;
struct publisher;

/* Merge a run's findings into fairmill_finding, inside the transaction that publisher_publish() has
 * open.  A finding that is there keeps its first_seen and counts the runs that saw it; at most
 * FINDINGS_PER_KIND of a kind stay, those that were seen last. */
int finding_rows_write(const struct publisher *publisher, const struct findings *findings,
                       int64_t as_of, struct error *err);

#endif

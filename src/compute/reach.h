/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_REACH_H
#define FAIRMILL_COMPUTE_REACH_H

#include <stdint.h>

struct computation;
struct error;
struct jobs_seen;

/* How far back the usage of a computation reaches, and what its jobs say of that. */

/* Make the computation's clock, as of `now`, with its ledger.  Usage begins with the last reset, or
 * with what the source says of a later instant. */
int reach_begin(struct computation *computation, uint64_t now, struct error *err);
/* Rows that ended at this instant or before are not read. */
uint64_t reach_cutoff(const struct computation *computation);
/* The oldest end of all rows, UINT64_MAX where none has ended; it stays as it is where all rows are
 * read anyway, so that it is among what is seen. */
int reach_oldest_end(const struct computation *computation, uint64_t *oldest_end,
                     struct error *err);
/* What the jobs' times are for the run's record. */
void reach_note_seen(struct computation *computation, const struct jobs_seen *seen);

#endif

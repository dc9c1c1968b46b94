/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_H
#define FAIRMILL_COMPUTE_H

#include "compute/computation.h"

struct prior;
struct seal_plan;

/* Read the cluster of a computation, made by computation_of(), in one snapshot, which ends with its
 * last row.  `prior` NULL: nothing is known.  With a plan (else NULL) only what it needs is read,
 * and its sums are still to be folded in.  -1 leaves nothing to be freed. */
int compute_read(struct computation *computation, const struct prior *prior, struct seal_plan *plan,
                 struct error *err);
/* Then compute every value, by the settings of computation->source.  -1 leaves the computation to
 * be freed. */
int compute_values(struct computation *computation, const struct seal_plan *plan,
                   struct error *err);

/* R_H: what the cluster could have delivered in the time that usage is compared with, as of an
 * instant, its last reset (0: none) and the first second that counts (UINT64_MAX: none, so it is
 * since the cluster was created); NAN if it is unknown. */
double compute_capacity(const struct settings *settings, const struct accounting *accounting,
                        uint64_t half_life_s, uint64_t now, uint64_t reset, uint64_t first_charge);

/* Both, without a plan; -1 leaves nothing to be freed. */
int compute_cluster(struct computation *computation, const struct prior *prior, struct error *err);

#endif

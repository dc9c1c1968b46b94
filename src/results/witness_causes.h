/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_WITNESS_CAUSES_H
#define FAIRMILL_RESULTS_WITNESS_CAUSES_H

#include <stdbool.h>

struct error;
struct witness;

/* Once all rows are compared: say why they differ, by the hashes that runs stored, and note the
 * hashes that do not fit.  `seal_damaged`: the seal's rows were found not to be what was stored. */
int witness_explain(struct witness *witness, bool seal_damaged, struct error *err);

#endif

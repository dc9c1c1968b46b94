/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_PBS_VIEW_H
#define FAIRMILL_COMMAND_DIFF_DIFF_PBS_VIEW_H

#include <stdbool.h>

#include "compute/computation.h"
#include "report/pbs_forms.h"

struct error;
struct published_cluster;
struct source;

/* Fairmill's side of a comparison with pbsfs's output: a tree with its values, and the possible
 * errors of its usage. */

struct pbs_view {
    struct computation computation; /* set if `computed`; otherwise, the published tree is used */
    bool computed;
    bool has_ledger; /* the ledger has entries */
    struct pbs_tree pbs;
    /* Indexed by node: usage of ended jobs (`behind`) and of running jobs that the scheduler might
     * not have seen. */
    double *behind, *running;
};

/* Computes the cluster from its jobs for the source's time, with or without fairmill's ledger.  The
 * scheduler's cycles are at most `period` seconds apart.  Returns -1 on error. */
int pbs_view_compute(struct pbs_view *view, const struct source *source, uint64_t period,
                     bool with_ledger, struct error *err);
/* Uses the published values, without possible errors.  Keeps pointers to `cluster`. */
void pbs_view_publish(struct pbs_view *view, const struct published_cluster *cluster);
void pbs_view_free(struct pbs_view *view);

#endif

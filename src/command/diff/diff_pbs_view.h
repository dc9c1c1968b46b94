/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_PBS_VIEW_H
#define FAIRMILL_COMMAND_DIFF_DIFF_PBS_VIEW_H

#include <stdbool.h>

#include "compute/computation.h"
#include "report/pbs_forms.h"

struct error;
struct published_cluster;
struct source;

/* Our side of a comparison with a print of pbsfs: a tree with its values, and how far its usage may
 * be off. */

struct pbs_view {
    struct computation computation; /* without jobs it is not there, and the tree is published */
    bool computed;
    bool has_ledger; /* there are entries in it */
    struct pbs_tree pbs;
    /* By node: how much of its usage the scheduler may not have seen, of jobs that ended, and of
     * jobs that run. */
    double *behind, *running;
};

/* Compute the cluster from its jobs, as of the source's instant, with our ledger or without.  The
 * scheduler's cycles are at most `period` seconds apart. */
int pbs_view_compute(struct pbs_view *view, const struct source *source, uint64_t period,
                     bool with_ledger, struct error *err);
/* Take what is published, of which nothing is known to be off.  The cluster must stay. */
void pbs_view_publish(struct pbs_view *view, const struct published_cluster *cluster);
void pbs_view_free(struct pbs_view *view);

#endif

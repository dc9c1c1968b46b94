/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_BUDGETS_H
#define FAIRMILL_RESULTS_PUBLISHED_BUDGETS_H

#include <stdbool.h>

struct budget_rows;
struct error;
struct published;
struct published_cluster;

/*
 * The published limits (fairmill_budget) that apply to the NAMEs of the filter.  A NAME is a QOS,
 * or an association as in report/selection.h.  The limits of an association are its own, and those
 * of the associations above and below it.
 *
 * If the cluster's usage is private, a user sees the limits of QOS and those that apply to the user
 * or to an account that the user coordinates.
 */

/*
 * Adds the limits of a cluster to `list`.  Without NAMEs, adds all.  Sets `met[i]` if NAME number
 * `i` exists on the cluster and the requesting user may know it.  Returns -1 on error.
 */
int published_budgets_read(struct published *published, const struct published_cluster *cluster,
                           bool *met, struct budget_rows *list, struct error *err);

/*
 * Sets `*enforced` to whether slurm.conf enforced limits at the run, or to -1 if the run had no
 * slurm.conf.  Returns -1 on error.
 */
int published_enforcement_read(const struct published *published,
                               const struct published_cluster *cluster, int *enforced,
                               struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_LIMITS_H
#define FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_LIMITS_H

struct error;
struct prio_row;
struct published;
struct published_cluster;
struct text;

/*
 * Appends a sentence if a GrpTRESMins limit of the job's user, or of an account above, is used up.
 * Appends nothing if slurm.conf does not enforce limits.  Returns -1 on error.
 */
int explain_limits_add(struct text *text, struct published *published,
                       const struct published_cluster *cluster, const struct prio_row *job,
                       struct error *err);

#endif

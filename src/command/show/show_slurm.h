/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHOW_SHOW_SLURM_H
#define FAIRMILL_COMMAND_SHOW_SHOW_SLURM_H

struct command_context;
struct error;
struct published;
struct published_cluster;
struct row_ids;
struct share_list;

/* `show --json=slurm`: the output of sshare --json. */

/* Sets the TRES of `list`, whose rows have these ids (NULL: all) in ascending order, and their
 * usage.  Returns -1 on error. */
int show_slurm_read_tres(const struct published *published, const struct published_cluster *cluster,
                         const struct row_ids *ids, struct share_list *list, struct error *err);

/* Adds the shown rows of a sorted list to the answer of the command, with a warning if the results
 * are stale.  Returns -1 on error. */
int show_slurm_answer(const struct command_context *context,
                      const struct published_cluster *cluster, const struct share_list *list,
                      struct error *err);

#endif

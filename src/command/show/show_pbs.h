/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHOW_PBS_H
#define FAIRMILL_COMMAND_SHOW_PBS_H

#include <stdbool.h>

struct error;
struct name_list;
struct published;
struct published_cluster;
struct settings;
struct share_list;
struct text;

/* Print one entity as pbsfs does, or with a second name who of both is more deserving. */
int show_pbs(const struct settings *settings, const struct name_list *clusters,
             const char *const names[2], struct error *err);

/* Add what pbsfs prints of the nodes of a cluster that are shown: its tree; or its list, with usage
 * decayed by a factor, which may be 1. */
int show_pbs_cluster(struct text *text, struct published *published,
                     struct published_cluster *cluster, const struct share_list *shares,
                     const double *decay, struct error *err);

#endif

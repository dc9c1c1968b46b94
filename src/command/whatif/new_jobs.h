/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NEW_JOBS_H
#define FAIRMILL_COMMAND_NEW_JOBS_H

struct prio_list;
struct published;
struct published_cluster;
struct settings;

/* Add to a cluster's published jobs those that came since its run: "new jobs are immediately
 * assigned a priority" (seed 001).  Their priorities hold for the instant of the run, as all others
 * do, and are made from the factors that it published and from today's settings.  Where the
 * accounting database cannot be read just now or by this user, nothing is added. */
void new_jobs_add(struct prio_list *list, const struct settings *settings,
                  struct published *published, const struct published_cluster *cluster);

#endif

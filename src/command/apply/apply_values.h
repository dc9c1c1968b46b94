/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_APPLY_APPLY_VALUES_H
#define FAIRMILL_COMMAND_APPLY_APPLY_VALUES_H

#include <stdint.h>

struct error;
struct published;
struct published_cluster;
struct text;

/*
 * The site factors of users' associations, for jobs that are not submitted yet.  A file has a line
 * `user TAB account TAB partition TAB factor` for each association of a user.  The partition is
 * empty if the association applies to all partitions.
 */

/* Appends the content of the file.  `weight` is the weight of fairshare.  Omits associations that
 * the requesting user may not see.  Returns -1 on error. */
int apply_values_add(struct text *text, struct published *published,
                     const struct published_cluster *cluster, uint64_t weight, struct error *err);

/*
 * Appends a job_submit.lua for slurmctld that gives new jobs their site factors from the file.
 * Fails with ERROR_USAGE if `path` is not an absolute path.
 */
int apply_values_add_lua(struct text *text, const char *path, struct error *err);

#endif

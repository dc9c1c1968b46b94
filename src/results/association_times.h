/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ASSOCIATION_TIMES_H
#define FAIRMILL_RESULTS_ASSOCIATION_TIMES_H

#include <stdint.h>

struct association_times;
struct error;
struct published;
struct published_cluster;

/* Read all that is known of a cluster's associations over time (core/insight/statement.h), with
 * names in UTF-8: what runs noted of them, those that had gone before runs noted any, and where
 * none did what is published.  What changed between two runs did so when the source touched the
 * association last, or by the later run where that is not known.  *known_from is the first run that
 * noted them, before which they are taken to have been as it saw them; INT64_MAX where none did. */
int association_times_read(struct published *published, const struct published_cluster *cluster,
                           struct association_times *times, int64_t *known_from, struct error *err);

#endif

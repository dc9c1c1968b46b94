/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_WHATIF_SOURCE_H
#define FAIRMILL_COMMAND_WHATIF_SOURCE_H

#include <stdint.h>

struct error;
struct settings;
struct whatif;
struct whatif_changes;

/* Compute the cluster before and after the changes from the accounting database as of an instant,
 * as a run with these settings does, and the priorities of the jobs that wait. */
int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err);

#endif

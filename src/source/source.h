/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_SOURCE_H
#define FAIRMILL_SOURCE_SOURCE_H

#include "source/layout.h"

/* The available layouts. */

/* Returns the layout that the settings name. */
const struct layout *layout_of(const struct settings *settings);

/*
 * Returns a source for a cluster of `db`, which is read as of now.  Sets `ordered` if the settings'
 * conformance needs the order of slurmctld's ties.
 */
struct source source_of(const struct settings *settings, struct db *db, const char *cluster);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CLUSTERS_H
#define FAIRMILL_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>

struct cluster;
struct db;
struct error;
struct settings;

/* Which clusters a command is about. */

/* The live clusters that the settings, or else `asked`, name; their names are to be freed with the
 * array.  ERROR_USAGE for an asked one that is not there, ERROR_DATA where none is left.  One that
 * the settings name and that is not there, or whose name cannot be published, is complained of. */
int clusters_wanted(const struct settings *settings, struct db *source, char *const *asked,
                    size_t asked_count, void (*complain)(const struct error *err), char ***clusters,
                    size_t *count, struct error *err);
void cluster_names_free(char **clusters, size_t count);

bool cluster_is_live(const struct cluster *clusters, size_t count, const char *name);

#endif

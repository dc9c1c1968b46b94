/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CLUSTERS_H
#define FAIRMILL_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>

struct cluster_list;
struct db;
struct error;
struct settings;

/* Which clusters a command is about. */

struct cluster_names {
    char **names;
    size_t count;
};
void cluster_names_free(struct cluster_names *clusters);

/* The live clusters that the settings, or else `asked` (NULL: nobody), name.  ERROR_USAGE for an
 * asked one that is not there, ERROR_DATA where none is left.  One that the settings name and that
 * is not there, or whose name cannot be published, is complained of. */
int clusters_wanted(const struct settings *settings, struct db *source,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);

bool cluster_is_live(const struct cluster_list *list, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_CLUSTERS_H
#define FAIRMILL_RUN_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>

struct cluster;
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

void cluster_names_add(struct cluster_names *clusters, const char *name);
bool cluster_is_listed(const struct cluster_names *list, const char *name);

/* The live clusters that the settings, or else `asked` (NULL: nobody), name.  ERROR_USAGE for an
 * asked one that is not there, ERROR_DATA where none is left.  One that the settings name and that
 * is not there, or whose name cannot be published, is complained of. */
int clusters_wanted(const struct settings *settings, struct db *source,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);

/* The only one of these, to be freed; ERROR_USAGE where there are several. */
int clusters_wanted_one(const struct settings *settings, struct db *source,
                        const struct cluster_names *asked,
                        void (*complain)(const struct error *err), char **name, struct error *err);

/* The same of clusters that were read.  What the settings name and is not there is another
 * matter: */
int clusters_choose(const struct settings *settings, const struct cluster_list *all,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);
void clusters_missing(const struct settings *settings, const struct cluster_list *all,
                      struct cluster_names *missing);
void cluster_fail_missing(const char *name, struct error *err);

/* NULL: the list has none of this name. */
const struct cluster *cluster_named(const struct cluster_list *list, const char *name);

#endif

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

/* A list of cluster names. */

struct cluster_names {
    char **names;
    size_t count;
};
void cluster_names_free(struct cluster_names *clusters);

/* Appends a copy of `name`. */
void cluster_names_add(struct cluster_names *clusters, const char *name);
bool cluster_is_listed(const struct cluster_names *list, const char *name);

/*
 * Lists the clusters to process: the clusters of the settings that are in `asked`.  If `asked` is
 * NULL or empty, lists all clusters of the settings.  Omits clusters that are marked as deleted.
 *
 * Returns -1 with ERROR_USAGE if a cluster in `asked` does not exist or is not in the settings.
 * Returns -1 with ERROR_DATA if there is no cluster to process.  Calls `complain` for each cluster
 * whose name cannot be published.  If `asked` is NULL or empty, also calls it for each cluster of
 * the settings that is missing in the database.  The caller frees `clusters`.
 */
int clusters_wanted(const struct settings *settings, struct db *source,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);

/*
 * Sets `*name` to the only cluster that clusters_wanted() would list.  The caller frees it.
 * Returns -1 with ERROR_USAGE if there are several clusters.
 */
int clusters_wanted_one(const struct settings *settings, struct db *source,
                        const struct cluster_names *asked,
                        void (*complain)(const struct error *err), char **name, struct error *err);

/*
 * Does the same as clusters_wanted() for a list of clusters that was already read.  Does not report
 * missing clusters of the settings; clusters_missing() lists the missing clusters.
 */
int clusters_choose(const struct settings *settings, const struct cluster_list *all,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);
void clusters_missing(const struct settings *settings, const struct cluster_list *all,
                      struct cluster_names *missing);
void cluster_fail_missing(const char *name, struct error *err);

/* Returns the cluster of this name, or NULL. */
const struct cluster *cluster_named(const struct cluster_list *list, const char *name);

#endif

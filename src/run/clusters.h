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
 * Lists the clusters to process: the settings' clusters that are in `asked`, or all of them if it
 * is NULL or empty.  Omits clusters that are marked as deleted.
 *
 * Returns -1 with ERROR_USAGE if a cluster in `asked` does not exist or is not in the settings, or
 * with ERROR_DATA if no cluster is left.  Calls `complain` for each name that cannot be published
 * and, unless `asked` has names, for each missing cluster of the settings.  The caller frees
 * `clusters`.
 */
int clusters_wanted(const struct settings *settings, struct db *source,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err);

/*
 * Returns the name of the only such cluster in `*name`, which the caller frees.  Returns -1 with
 * ERROR_USAGE if there are several.
 */
int clusters_wanted_one(const struct settings *settings, struct db *source,
                        const struct cluster_names *asked,
                        void (*complain)(const struct error *err), char **name, struct error *err);

/*
 * Does the same as clusters_wanted() for a list of clusters that was already read.  Does not report
 * missing clusters of the settings; clusters_missing() lists these.
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

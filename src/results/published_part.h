/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_PART_H
#define FAIRMILL_RESULTS_PUBLISHED_PART_H

#include "report/selection.h"
#include "results/published.h"
#include "results/rows.h"

/*
 * Parts of the published associations, found by name with the indexes of fairmill_tree.  The time
 * that a search takes depends on the part, not on the number of associations of the cluster.
 * Functions that return int return -1 on error.
 */

/* The associations that a search adds to those with the requested names. */
enum part_extent {
    PART_NAMED, /* none */
    PART_ABOVE, /* all above them */
    PART_BELOW, /* all above and below them */
    /* All above them, and all members of the levels of these and of the requested associations. */
    PART_LEVELS,
};

struct published_part {
    /* The names have too many candidates, or the part has too many accounts to read them by key. */
    bool all;
    struct row_ids ids; /* in ascending order; used if `all` is false */
};

/*
 * Finds the associations that the names can mean, and the extent.  Frees the part of an earlier
 * call.  The caller frees the part with published_part_free(), even on failure.
 */
int published_part_find(struct published_part *part, const struct published *published,
                        const char *cluster, const struct name_list lists[SELECTION_KINDS],
                        enum part_extent extent, struct error *err);
void published_part_free(struct published_part *part);

/* Returns the ids for a function that reads rows of some ids; NULL means all. */
const struct row_ids *published_part_ids(const struct published_part *part);

/*
 * Checks the names of the filter, for callers that do not need all rows.  Fails with ERROR_USAGE if
 * a NAME, account or user of the filter does not exist.
 */
int published_look_for_names(struct published *published, struct error *err);

/*
 * Works as published_read_tree() for the associations with these names and the extent.  Reads the
 * complete tree if that is necessary.  If no association of the cluster has such a name,
 * cluster->tree remains NULL.
 */
int published_read_part(struct published *published, struct published_cluster *cluster,
                        const struct name_list lists[SELECTION_KINDS], enum part_extent extent,
                        struct error *err);

/*
 * Works as published_read_tree() for the associations with these names and PART_LEVELS.  The tree
 * lacks everything below the other members of these levels, but has the cluster's number of users.
 * Sets `*enough` to false, and leaves cluster->tree NULL, if the caller must read the complete
 * tree.
 */
int published_read_levels(struct published *published, struct published_cluster *cluster,
                          const struct name_list *names, bool *enough, struct error *err);

#endif

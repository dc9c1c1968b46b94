/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_STANDING_H
#define FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_STANDING_H

#include <stdint.h>

#include "report/standing.h"

struct error;
struct published;
struct published_cluster;

/* The days of the outlook in a user's sentences. */
#define EXPLAIN_DAYS 14

/* In a cluster with more associations, the outlook is left out, because it needs the usage of all
 * users. */
#define EXPLAIN_OUTLOOK_ASSOCIATIONS 5000

struct explain_standing {
    struct standing_facts facts;
    struct standings *standings;
    uint32_t places[EXPLAIN_DAYS + 1];
};

/*
 * Reads the facts for the sentences about a node.  If a part of the tree was read,
 * standings_part_has() must be true for the node.  Leaves the forecast and the budget out if
 * `published` is closed, or if anything of the cluster is hidden from the requesting user.  Call
 * explain_standing_free() even if this fails.
 */
int explain_standing_read(struct explain_standing *standing, const struct published *published,
                          const struct published_cluster *cluster, uint32_t node,
                          struct error *err);
void explain_standing_free(struct explain_standing *standing);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SNAPSHOT_H
#define FAIRMILL_RESULTS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"

struct db;
struct error;
struct names;

/* What is published of a cluster, as the core has it: to be asked about, and to be computed again
 * with something changed.
 *
 * Usage is as published, a double of decayed TRES-seconds, so it is exact where that is: mostly
 * where nothing decays. */

struct snapshot {
    char *cluster;
    const struct algorithm *algorithm;
    int64_t as_of;
    uint64_t half_life;               /* seconds; 0: no decay */
    struct fairshare_options options; /* of the run */
    struct clock *clock;
    struct names *names;   /* UTF-8 */
    struct tree *tree;     /* NULL before snapshot_read(); usage is rolled up */
    struct values *values; /* by node, as published */
};

struct snapshots {
    struct snapshot *clusters;
    size_t count;
    char *login; /* who may be told of, besides accounts; NULL: everybody */
};

/* Which clusters are published, and how they were computed.  Call within one transaction with the
 * following. */
int snapshots_read(struct db *db, struct snapshots *snapshots, struct error *err);
/* The tree and its values of one of them. */
int snapshot_read(struct db *db, struct snapshot *snapshot, struct error *err);
void snapshots_free(struct snapshots *snapshots);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_ALGORITHM_H
#define FAIRMILL_CORE_ALGORITHM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tree/tree.h"

struct clock;

/* What an algorithm is.  Each one is a file of this folder, and a line in the table of fairshare.c.
 */

enum conformance {
    CONFORMANCE_DOCUMENTS, /* the text of the four documents */
    CONFORMANCE_SLURMCTLD, /* what `sshare -l` of a running Slurm prints */
};

/* An association's values; NAN is NULL, an infinite level_fs is INFINITY. */
struct values {
    double shares_norm;    /* product of shares / level's shares along the path; pbs_target too */
    double usage_raw;      /* decayed TRES-seconds, all below included */
    double usage_norm;     /* usage / the root's */
    double capacity_usage; /* usage / what the cluster could deliver */
    double level_shares_norm; /* Fair Tree's S: shares / level's shares */
    double level_usage;       /* Fair Tree's U: usage / level's usage */
    double classic_usage, classic_factor;
    double linear_usage, linear_factor;
    double depth_oblivious_ratio, depth_oblivious_factor;
    double level_fs; /* S / U */
    double fair_tree_factor;
    double pbs_tree_usage, pbs_factor;
    uint32_t fair_tree_rank; /* 0 is NULL; the best is the number of user associations */
};

struct fairshare_options {
    enum conformance conformance;
    double dampening;
    double pbs_minimum_usage; /* TRES-seconds */
    double capacity;          /* R_H: TRES-seconds the cluster could deliver; NAN if unknown */
    const struct clock *clock;
};

/* What an algorithm reads, and where its values go: values[i] belong to tree->nodes[i]. */
struct fairshare {
    const struct tree *tree;
    const struct fairshare_options *options;
    struct values *values;
};

struct algorithm {
    const char *name;
    /* Compute this algorithm's values; the common ones (shares_norm to level_usage) are there. */
    void (*compute)(struct fairshare *fairshare);
    /* What is published as `fairshare`, and what sshare has as NormShares and EffectvUsage.  NAN is
     * NULL. */
    double (*factor)(const struct values *values);
    double (*norm_shares)(const struct values *values);
    double (*effective_usage)(const struct values *values);
};

/* What several algorithms need. */

/* The list that a node (not the root) is a member of. */
const struct level *level_of(const struct tree *tree, const struct node *node);
/* The sum of its shares as the conformance has it: slurmctld's is of 32 bits. */
uint64_t level_shares(const struct fairshare *fairshare, const struct node *node);
/* The usage that Fair Tree's U is a part of. */
const struct wide *level_usage(const struct fairshare *fairshare, const struct node *node);
/* How a value comes down the tree in classic, linear and PBS: own usage, and of the parent's
 * effective usage above it the part that is the association's share of its level. */
double effective_usage(const struct fairshare *fairshare, uint32_t i, double own, double parents);
/* 2^-(usage / shares / dampening), 0 without shares. */
double factor_of(double usage, double shares, double dampening);
double values_shares_norm(const struct values *values);

#endif

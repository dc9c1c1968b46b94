/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_H
#define FAIRMILL_CORE_FAIRSHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tree/tree.h"

struct clock;

/* Every fairshare value of every association (SPEC 4).  Each algorithm is one file and one line
 * in the table of fairshare.c; all of them are computed in every run. */

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

/* What an algorithm may read, and where its values go: values[i] belong to tree->nodes[i]. */
struct fairshare {
    const struct tree *tree;
    const struct fairshare_options *options;
    struct values *values;
};

struct algorithm {
    const char *name;
    /* Compute this algorithm's values; the common ones (shares_norm to level_usage) are there. */
    void (*compute)(struct fairshare *fairshare);
    /* What is published as `fairshare`, and what sshare's columns NormShares and EffectvUsage
     * show.  NAN is NULL. */
    double (*factor)(const struct values *values);
    double (*norm_shares)(const struct values *values);
    double (*effective_usage)(const struct values *values);
};

/* All of them, ended by NULL; and the one of a name (NULL if none). */
extern const struct algorithm *const algorithms[];
const struct algorithm *algorithm_named(const char *name);

/* Compute every value of a tree whose usage was rolled up.  `values` has room for tree->count. */
void fairshare_compute(const struct tree *tree, const struct fairshare_options *options,
                       struct values *values);
/* Likewise, of one algorithm only and the values that all of them read. */
void fairshare_compute_one(const struct tree *tree, const struct fairshare_options *options,
                           const struct algorithm *algorithm, struct values *values);

/* For the algorithms. */

extern const struct algorithm classic, depth_oblivious, fair_tree, linear, pbs;

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

/* rl and k of seed 000; both parents' ratio and rl must be above 0 for k. */
double depth_oblivious_local(const struct fairshare *fairshare, const struct node *node);
double depth_oblivious_k(double parents, double local);

/* Every node's usage as pbsfs counts it, to be freed; NULL where there is no minimum. */
struct wide *pbs_counted_usage(const struct fairshare *fairshare);
/* usage / target as pbsfs has it: -1 where there is no target. */
double pbs_quotient(double usage, double target);
/* Below 0, 0 or above it, as pbsfs has `one` more, equally or less deserving than `other`: by the
 * quotients at the first members of their ways from the root that differ.  Who has no target loses.
 * `usage` is of every node. */
int pbs_compare(const struct fairshare *fairshare, const struct wide *usage, uint32_t one,
                uint32_t other);

/* Ranks of users as slurmctld gives them: fair_tree_slurmctld.c. */
void fair_tree_rank_as_slurmctld(struct fairshare *fairshare);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_ALGORITHM_H
#define FAIRMILL_CORE_FAIRSHARE_ALGORITHM_H

#include <stdint.h>

#include "core/tree/tree.h"

struct release;
struct text;

/* The interface of the fairshare algorithms.  Each algorithm has its own file in this directory and
 * an entry in the table of fairshare.c. */

enum conformance {
    CONFORMANCE_DOCUMENTS, /* as the four original documents define the values */
    CONFORMANCE_SLURMCTLD, /* as a running slurmctld computes them and `sshare -l` shows them */
};

/* The values of one association.  NAN means NULL, and INFINITY means an infinite level_fs. */
struct values {
    double shares_norm;    /* product, along the path, of shares divided by the level's shares; also
                              pbs_target */
    double usage_raw;      /* decayed TRES-seconds, including all descendants */
    double usage_norm;     /* usage divided by the root's usage */
    double capacity_usage; /* usage divided by the cluster's capacity */
    double level_shares_norm; /* Fair Tree's S: shares divided by the level's shares */
    double level_usage;       /* Fair Tree's U: usage divided by the level's usage */
    double classic_usage, classic_factor;
    double linear_usage, linear_factor;
    double depth_oblivious_ratio, depth_oblivious_factor;
    double depth_oblivious_usage; /* the effective usage that sshare shows */
    double level_fs;              /* S divided by U */
    double fair_tree_factor;
    double pbs_tree_usage, pbs_factor;
    uint32_t fair_tree_rank; /* 0 means NULL; the best rank is the number of user associations */
};

struct fairshare_options {
    enum conformance conformance;
    double dampening;
    double pbs_minimum_usage; /* TRES-seconds */
    /* The cluster's capacity R_H in TRES-seconds, or NAN if unknown. */
    double capacity;
    const struct decay_table *decay;
    const struct release *release; /* release of the slurmctld to conform to; NULL for the oldest */
};

/* The input and output of an algorithm.  values[i] contains the values of tree->nodes[i]. */
struct fairshare {
    const struct tree *tree;
    const struct fairshare_options *options;
    struct values *values;
    /* The ratio UE / S, indexed by node, or NULL if it was not computed.  PBS reuses the ratios of
     * classic. */
    double *ratios;
};

/* `explain` shows the parts of a value in a table with one row for each node on the path. */
struct explain_context {
    const struct fairshare *fairshare;
    const struct algorithm *algorithm;
    /* Usage as the algorithm computes it, indexed by node, or NULL if the algorithm uses the tree's
     * usage. */
    const struct wide *counted_usage;
    int digits; /* significant digits of intermediate values */
};
#define EXPLAIN_COLUMNS_AT_MOST 6
struct explain_column {
    const char *heading;
    void (*add)(struct text *text, const struct explain_context *context, uint32_t node);
};

/* A callback of find_one().  It sets the usage of `node` and the usage of the node's level. */
struct usage_setter {
    void (*set_usage)(const void *context, uint32_t node);
    const void *context;
};

struct algorithm {
    const char *name;
    const char *short_name; /* for narrow columns */
    /* Computes this algorithm's values.  The common values, from shares_norm to level_usage, are
     * already set. */
    void (*compute)(struct fairshare *fairshare);
    /* Sets order[node] to 1 + the number of associations that rank higher.  Tied associations get
     * the same number.  Leaves entries of nodes without a factor unchanged.  All values must be
     * set. */
    void (*decide)(const struct fairshare *fairshare, uint32_t *order);
    /* Computes this algorithm's values of one node, including its rank and level_fs, from the usage
     * of only a few other nodes.  Leaves the common values unchanged.  Calls set_usage() for each
     * node before it reads the usage of that node or of its level, and for the node itself.
     * Returns false if compute() must be used.  find_one is NULL if the algorithm does not rank
     * users. */
    bool (*find_one)(struct fairshare *fairshare, uint32_t node, const struct usage_setter *setter);
    /* The value published as `fairshare`, and the values that sshare shows as NormShares and
     * EffectvUsage.  NAN means NULL. */
    double (*factor)(const struct values *values);
    double (*norm_shares)(const struct values *values);
    double (*effective_usage)(const struct values *values);
    /* True if users are ranked by level_fs, one level of the tree after the other.  The factor then
     * comes from the rank, and accounts do not have one. */
    bool ranks_users;
    /* True if the factor comes from effective usage divided by shares. */
    bool of_ratio;
    /* True if the rules of the configured Slurm release apply. */
    bool by_rules;

    /* The following members are for `explain`.  Intermediate values have enough digits for the
     * reader to compute the displayed result from them. */
    const struct explain_column *columns; /* ends with an entry without a heading */
    int digits;
    const char *formulas; /* one per line; `%` is replaced by the dampening factor */
    /* The following members may be NULL. */
    /* Adds a line about the settings that affect the values. */
    void (*add_note)(struct text *text, const struct fairshare_options *options);
    /* Returns true if the displayed results of a node follow from the displayed inputs. */
    bool (*follows)(const struct explain_context *context, uint32_t node);
    /* Returns every node's usage as this algorithm computes it, or NULL if the algorithm uses the
     * tree's usage.  The caller frees the array. */
    struct wide *(*counted_usage)(const struct fairshare *fairshare);
};

/* Helpers that several algorithms share. */

/* Returns the level of `node`: the sums over all children of its fairshare parent (tree.h).  `node`
 * must not be the root. */
const struct level *level_of(const struct tree *tree, const struct node *node);
/* Returns the sum of the shares of the node's level.  With CONFORMANCE_SLURMCTLD the sum is
 * truncated to 32 bits, as in slurmctld. */
uint64_t level_shares(const struct fairshare *fairshare, const struct node *node);
/* Returns the sum of the shares of the level below `account`, truncated as in level_shares(). */
uint64_t list_shares(const struct fairshare *fairshare, uint32_t account);
/* Returns the usage of the node's level: the denominator of Fair Tree's U. */
const struct wide *level_usage(const struct fairshare *fairshare, const struct node *node);
/* Returns the effective usage of node `i` in classic, linear and PBS: own + (parents - own) * (the
 * node's share of the level).  `own` is the node's usage, and `parents` is the effective usage of
 * its parent.  The result is `own` directly below the root, and `parents` with `parent` shares or
 * in a level without shares. */
double effective_usage(const struct fairshare *fairshare, uint32_t i, double own, double parents);
double values_shares_norm(const struct values *values);
/* Defines values_FIELD(), which returns a field of struct values. */
#define VALUES_FIELD(field)                                   \
    static double values_##field(const struct values *values) \
    {                                                         \
        return values->field;                                 \
    }

/* Returns the release whose rules apply.  With CONFORMANCE_DOCUMENTS this is the oldest release, to
 * which no later rule applies. */
const struct release *rules_of(const struct fairshare_options *options);
/* Returns true if `node` has `parent` shares and its fairshare parent is the root. */
bool is_led_to_root(const struct node *node);
/* Returns true if `node` has the root's factor.  The root has the ratio 1. */
bool has_roots_factor(const struct fairshare_options *options, const struct node *node);
/* Returns true if the release gives `node` no factor. */
bool has_no_factor(const struct fairshare_options *options, const struct node *node);
/* Clears the position of every node for which has_no_factor() is true. */
void leave_out_by_rules(const struct fairshare *fairshare, uint32_t *order);

/* Columns of struct explain_column that several algorithms share.  If there is no value, the cell
 * is left empty. */

/* Significant digits of final results and of settings. */
#define RESULT_DIGITS 6
#define SETTING_DIGITS 15

typedef void explain_cell(struct text *text, const struct explain_context *context, uint32_t node);

explain_cell explain_add_shares;      /* `shares/level's shares` */
explain_cell explain_add_shares_norm; /* product of these quotients along the path */
explain_cell explain_add_usage;       /* TRES-seconds */
explain_cell explain_add_usage_norm;
explain_cell explain_add_effective_usage;
explain_cell explain_add_factor;

/* Appends `usage` in TRES-seconds, with two digits more than other numbers. */
void explain_add_usage_figure(struct text *text, const struct explain_context *context,
                              const struct wide *usage);

const struct node *context_node(const struct explain_context *context, uint32_t node);
const struct values *context_values(const struct explain_context *context, uint32_t node);

/* Returns the order of all associations as `algorithm` decides it (ratio.h).  The entry of a node
 * is 1 + the number of associations that rank higher, or 0 if it has no factor.  In Fair Tree only
 * users have a factor.  All values must be set.  The caller frees the array. */
uint32_t *order_of_all(const struct tree *tree, const struct fairshare_options *options,
                       const struct algorithm *algorithm, const struct values *values);
/* Compares two nodes that both have a factor.  Returns a negative number if the first node ranks
 * higher, 0 if they are tied, or a positive number if the second node ranks higher.  Computes the
 * exact order only if the factors are equal as doubles. */
int order_of_pair(const struct tree *tree, const struct fairshare_options *options,
                  const struct algorithm *algorithm, const struct values *values,
                  const uint32_t pair[2]);

/* Converts an order into the ranks of users, numbered as in Fair Tree.  The best of N users has
 * rank N, and tied users share a rank.  A user that ranks lower than m other users has rank N - m.
 * For Fair Tree itself the result is fair_tree_rank.  The entry of an account or of a user without
 * a factor is 0.  The caller frees the array. */
uint32_t *user_ranks(const struct tree *tree, const uint32_t *order);

/* Returns the place that is displayed for a rank among `users` users: 1 is next, and 0 means no
 * rank. */
static inline uint32_t place_of_rank(uint32_t rank, uint32_t users)
{
    return rank ? users - rank + 1 : 0;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_ALGORITHM_H
#define FAIRMILL_CORE_FAIRSHARE_ALGORITHM_H

#include <stdint.h>

#include "core/tree/tree.h"

struct release;
struct text;

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
    double depth_oblivious_usage; /* what sshare has for effective usage */
    double level_fs;              /* S / U */
    double fair_tree_factor;
    double pbs_tree_usage, pbs_factor;
    uint32_t fair_tree_rank; /* 0 is NULL; the best is the number of user associations */
};

struct fairshare_options {
    enum conformance conformance;
    double dampening;
    double pbs_minimum_usage; /* TRES-seconds */
    double capacity;          /* R_H: TRES-seconds the cluster could deliver; NAN if unknown */
    const struct decay_table *decay;
    const struct release *release; /* of the slurmctld to conform to; NULL: the oldest */
};

/* What an algorithm reads, and where its values go: values[i] belong to tree->nodes[i]. */
struct fairshare {
    const struct tree *tree;
    const struct fairshare_options *options;
    struct values *values;
    double *ratios; /* UE / S by node, which PBS takes from classic; NULL: that was not computed */
};

/* `explain` shows what a value is made of in a table, with a row for each node on the path. */
struct explain_context {
    const struct fairshare *fairshare;
    const struct algorithm *algorithm;
    const struct wide *counted_usage; /* what the algorithm counts as usage; NULL: as it is */
    int digits;                       /* of numbers that others are computed from */
};
#define EXPLAIN_COLUMNS_AT_MOST 6
struct explain_column {
    const char *heading;
    void (*add)(struct text *text, const struct explain_context *context, uint32_t node);
};

/* Who sets usage of nodes, and of the levels that they are in, when it is asked for. */
struct usage_setter {
    void (*set_usage)(const void *context, uint32_t node);
    const void *context;
};

struct algorithm {
    const char *name;
    const char *short_name; /* where a column is narrow */
    /* Compute this algorithm's values; the common ones (shares_norm to level_usage) are there. */
    void (*compute)(struct fairshare *fairshare);
    /* Decide who is ahead and who is equal, once values are there: order[node] is 1 + how many are
     * ahead.  It is left alone where there is no factor. */
    void (*decide)(const struct fairshare *fairshare, uint32_t *order);
    /* Compute this algorithm's values of one node, its rank and level_fs among them, from the usage
     * of few others; the common values are left alone.  It calls set_usage() for each node before
     * it looks at the usage of that node or of its level, and for the node itself.  False: all
     * values must be computed.  NULL where the algorithm does not rank users. */
    bool (*find_one)(struct fairshare *fairshare, uint32_t node, const struct usage_setter *setter);
    /* What is published as `fairshare`, and what sshare has as NormShares and EffectvUsage.  NAN is
     * NULL. */
    double (*factor)(const struct values *values);
    double (*norm_shares)(const struct values *values);
    double (*effective_usage)(const struct values *values);
    /* Whether users are ranked, list by list of level_fs.  Then the factor is made of the rank, and
     * accounts have none. */
    bool ranks_users;
    /* Whether the factor is made of effective usage / shares. */
    bool of_ratio;
    /* Whether it is as the rules of Slurm's release have it. */
    bool by_rules;

    /* What follows is for `explain`.  Printed numbers have as many digits as it takes to compute
     * the printed result from them by hand. */
    const struct explain_column *columns; /* ended by one without a heading */
    int digits;
    const char *formulas; /* lines; a `%` stands for the dampening */
    /* The rest may be NULL. */
    /* Add a line on the settings that the values depend on. */
    void (*add_note)(struct text *text, const struct fairshare_options *options);
    /* Whether the results printed for a node follow from the numbers printed beside them. */
    bool (*follows)(const struct explain_context *context, uint32_t node);
    /* Every node's usage as this algorithm counts it, to be freed; NULL: as it is. */
    struct wide *(*counted_usage)(const struct fairshare *fairshare);
};

/* What several algorithms need. */

/* The list that a node (not the root) is a member of. */
const struct level *level_of(const struct tree *tree, const struct node *node);
/* The sum of its shares as the conformance has it: slurmctld's is of 32 bits; and that of the list
 * below an account. */
uint64_t level_shares(const struct fairshare *fairshare, const struct node *node);
uint64_t list_shares(const struct fairshare *fairshare, uint32_t account);
/* The usage that Fair Tree's U is a part of. */
const struct wide *level_usage(const struct fairshare *fairshare, const struct node *node);
/* How a value comes down the tree in classic, linear and PBS: own usage, and of the parent's
 * effective usage above it the part that is the association's share of its level. */
double effective_usage(const struct fairshare *fairshare, uint32_t i, double own, double parents);
double values_shares_norm(const struct values *values);
/* Defines values_FIELD(), the function for a field of struct values. */
#define VALUES_FIELD(field)                                   \
    static double values_##field(const struct values *values) \
    {                                                         \
        return values->field;                                 \
    }

/* The release whose rules count; under `documents` the oldest, which has none of its own. */
const struct release *rules_of(const struct fairshare_options *options);
/* Whether `parent' shares lead a node to the root. */
bool is_led_to_root(const struct node *node);
/* Whether a node has the factor of the root, whose ratio is 1; and whether it has none at all. */
bool has_roots_factor(const struct fairshare_options *options, const struct node *node);
bool has_no_factor(const struct fairshare_options *options, const struct node *node);
/* Take the place of every node that has none from an order. */
void leave_out_by_rules(const struct fairshare *fairshare, uint32_t *order);

/* The columns that several algorithms have in their explanations (struct explain_column).  A cell
 * without a value stays empty. */

/* Digits of results, which nothing else is computed from, and of settings. */
#define RESULT_DIGITS 6
#define SETTING_DIGITS 15

typedef void explain_cell(struct text *text, const struct explain_context *context, uint32_t node);

explain_cell explain_add_shares;      /* `shares/level's shares` */
explain_cell explain_add_shares_norm; /* the product of these along the path */
explain_cell explain_add_usage;       /* TRES-seconds */
explain_cell explain_add_usage_norm;
explain_cell explain_add_effective_usage;
explain_cell explain_add_factor;

/* An amount of usage, with two digits more than other numbers have. */
void explain_add_usage_figure(struct text *text, const struct explain_context *context,
                              const struct wide *usage);

const struct node *context_node(const struct explain_context *context, uint32_t node);
const struct values *context_values(const struct explain_context *context, uint32_t node);

/* Who is ahead of whom, and who is equal, as the algorithm decides it (ratio.h): by node 1 + how
 * many associations are ahead, 0 for those without a factor, which Fair Tree has for users only;
 * to be freed.  All values are there. */
uint32_t *order_of_all(const struct tree *tree, const struct fairshare_options *options,
                       const struct algorithm *algorithm, const struct values *values);
/* Below 0, 0 or above it, as the first of two that have a factor is ahead of the second, equal to
 * it or behind.  Their doubles tell nearly always. */
int order_of_pair(const struct tree *tree, const struct fairshare_options *options,
                  const struct algorithm *algorithm, const struct values *values,
                  const uint32_t pair[2]);

/* The places of users by such an order, as Fair Tree counts them: the best of N has rank N, equal
 * ones share a rank, and who has m better ones has rank N - m.  Of Fair Tree itself these are its
 * ranks.  By node, 0 for accounts and for who has no factor; to be freed. */
uint32_t *user_ranks(const struct tree *tree, const uint32_t *order);

/* The place that people read for such a rank among so many users: 1 is next; 0 for no rank. */
static inline uint32_t place_of_rank(uint32_t rank, uint32_t users)
{
    return rank ? users - rank + 1 : 0;
}

#endif

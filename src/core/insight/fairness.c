/* SPDX-License-Identifier: MIT */
#include "core/insight/fairness.h"

#include <math.h>

#include "core/fairshare/algorithm.h"

const char *fairness_scope_name(enum fairness_scope scope)
{
    return scope == FAIRNESS_OF_ACCOUNTS ? "accounts" : "users";
}

static bool is_member(const struct tree *tree, const struct values *values, uint32_t i,
                      enum fairness_scope scope)
{
    const struct node *node = &tree->nodes[i];
    if (!i || node_has_parent_shares(node) || !(values[i].shares_norm > 0))
        return false;
    return scope == FAIRNESS_OF_USERS ? node->is_user
                                      : !node->is_user && node->fairshare_parent == 0;
}

/* The sums of Jain's index.  Each x is divided by the largest x, because the square of a large x
 * could overflow. */
struct fairness_ratios {
    double most, sum, squares;
};

static void fairness_add_ratio(struct fairness_ratios *ratios, double ratio)
{
    ratio /= ratios->most;
    ratios->sum += ratio;
    ratios->squares += ratio * ratio;
}

static void add_parts(struct fairness *fairness, double use, double share)
{
    if (use > share) {
        fairness->use_over += use;
        fairness->share_over += share;
    } else if (use < share) {
        fairness->use_under += use;
        fairness->share_under += share;
    }
}

struct fairness fairness_of(const struct tree *tree, const struct values *values,
                            enum fairness_scope scope)
{
    struct fairness fairness = { 0 };
    struct fairness_ratios ratios = { 0 };
    for (uint32_t i = 0; i < tree->count; i++)
        if (is_member(tree, values, i, scope)) {
            fairness.members++;
            ratios.most = fmax(ratios.most, values[i].usage_norm / values[i].shares_norm);
        }
    if (!(ratios.most > 0 && isfinite(ratios.most)))
        return (struct fairness){ fairness.members, NAN, NAN, NAN, NAN, NAN };
    for (uint32_t place = 0; place < tree->count; place++) {
        uint32_t i = tree->by_id[place];
        if (!is_member(tree, values, i, scope))
            continue;
        fairness_add_ratio(&ratios, values[i].usage_norm / values[i].shares_norm);
        add_parts(&fairness, values[i].usage_norm, values[i].shares_norm);
    }
    fairness.jain = ratios.sum * ratios.sum / (fairness.members * ratios.squares);
    return fairness;
}

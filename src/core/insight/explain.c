/* SPDX-License-Identifier: MIT */
#include "core/insight/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "util/memory.h"

/* explain() finds the point at which two paths diverge, and then the smallest change of each kind
 * that reverses the order.  reversal_find() searches for the amount.  It starts from an estimate,
 * moves away from the estimate in growing steps until the order changes, and then bisects the last
 * step.  Each amount is evaluated on a candidate, which is a copy of the tree with that change. */

/* Exceeds the usage of a cluster with a billion TRES in a century. */
#define MOST_USAGE ((uint64_t)1 << 62)
/* A double has 53 bits; rounding several times loses a few. */
#define ROUNDED_BITS 49

/* The best and the last rank of a user, or of the users below an account.  Each is 0 if there are
 * no ranked users. */
struct explain_ranks {
    uint32_t best, last;
};

static struct explain_ranks ranks_of(const struct tree *tree, const struct values *values,
                                     uint32_t node)
{
    uint32_t rank = values[node].fair_tree_rank;
    struct explain_ranks ranks = { rank, rank };
    if (tree->nodes[node].is_user)
        return ranks;
    bool *below = memory_zeroed(tree->count, sizeof *below);
    below[node] = true;
    for (uint32_t i = node + 1; i < tree->count; i++) {
        below[i] = below[tree->nodes[i].fairshare_parent];
        rank = values[i].fair_tree_rank;
        if (!rank || !below[i])
            continue;
        if (rank > ranks.best)
            ranks.best = rank;
        if (!ranks.last || rank < ranks.last)
            ranks.last = rank;
    }
    free(below);
    return ranks;
}

enum order order_of(const struct explain_input *input, uint32_t one, uint32_t other)
{
    if (!input->algorithm->ranks_users) {
        uint32_t first = input->order[one], second = input->order[other];
        if (!first || !second)
            return ORDER_NONE;
        return first < second ? ORDER_AHEAD : first > second ? ORDER_BEHIND : ORDER_TIED;
    }
    struct explain_ranks first = ranks_of(input->tree, input->values, one);
    struct explain_ranks second = ranks_of(input->tree, input->values, other);
    if (!first.best || !second.best)
        return ORDER_NONE;
    if (first.last > second.best)
        return ORDER_AHEAD;
    return first.best < second.last ? ORDER_BEHIND : ORDER_TIED;
}

/* Returns the value by which a member is ranked in its list: higher is better, and infinite for
 * users with `parent` shares. */
static double explain_place_of(const struct explain_input *input, uint32_t node)
{
    return node_has_parent_shares(&input->tree->nodes[node]) ? INFINITY
                                                             : input->values[node].level_fs;
}

bool are_equals(const struct explain_input *input, uint32_t one, uint32_t other)
{
    return input->algorithm->ranks_users &&
           explain_place_of(input, one) == explain_place_of(input, other);
}

/* Sets `divergence` to the point at which two paths diverge.  Returns false if one node is an
 * ancestor of the other node or both nodes are the same. */
static bool divergence_find(const struct explain_input *input, uint32_t one, uint32_t other,
                            struct divergence *divergence)
{
    struct path first = path_to(input->tree, one, true), second = path_to(input->tree, other, true);
    uint32_t at = 0;
    while (at < first.count && at < second.count && first.nodes[at] == second.nodes[at])
        at++;
    bool apart = at < first.count && at < second.count;
    if (apart) {
        *divergence = (struct divergence){ .ancestor = first.nodes[at - 1],
                                           .one = first.nodes[at],
                                           .other = second.nodes[at] };
        /* slurmctld does not merge lists. */
        while (input->options->conformance == CONFORMANCE_DOCUMENTS &&
               are_equals(input, first.nodes[at], second.nodes[at]) && at + 1 < first.count &&
               at + 1 < second.count) {
            at++;
            divergence->merged++;
        }
        divergence->decides_one = first.nodes[at];
        divergence->decides_other = second.nodes[at];
    }
    path_free(&first);
    path_free(&second);
    return apart;
}

/* A copy of the tree with one change, and its values. */
struct explain_candidate {
    const struct explain_input *input;
    uint32_t behind, ahead;
    /* The member whose place in its list determines the rank of `behind` under Fair Tree. */
    uint32_t decides;
    bool one_list; /* `ahead` is ranked in the same list */
    struct tree tree;
    struct values *values;
};

static void candidate_start(struct explain_candidate *candidate, const struct explain_input *input)
{
    const struct tree *tree = input->tree;
    *candidate = (struct explain_candidate){ .input = input, .tree = *tree };
    candidate->tree.nodes = memory_zeroed(tree->count, sizeof *tree->nodes);
    candidate->tree.levels = memory_zeroed(tree->level_count, sizeof *tree->levels);
    candidate->values = memory_zeroed(tree->count, sizeof *candidate->values);
    memcpy(candidate->tree.levels, tree->levels, tree->level_count * sizeof *tree->levels);
    memcpy(candidate->tree.nodes, tree->nodes, tree->count * sizeof *tree->nodes);
}

static void candidate_end(struct explain_candidate *candidate)
{
    free(candidate->tree.nodes);
    free(candidate->tree.levels);
    free(candidate->values);
}

static void explain_change_shares(struct explain_candidate *candidate, uint32_t i, uint64_t amount,
                                  bool more)
{
    const struct tree *tree = candidate->input->tree;
    uint32_t list = tree->nodes[tree->nodes[i].fairshare_parent].level;
    int32_t change = (int32_t)amount;
    candidate->tree.nodes[i].shares = tree->nodes[i].shares + (more ? change : -change);
    candidate->tree.levels[list].shares =
        more ? tree->levels[list].shares + amount : tree->levels[list].shares - amount;
}

/* Sets *sum to the units of `amount` TRES-seconds.  Returns false if they exceed the range of the
 * integers. */
static bool explain_sum_of(const struct decay_table *decay, uint64_t amount, struct wide *sum)
{
    if (!decay_table_sum_of(decay, 1, sum))
        return false;
    struct natural natural = natural_of_wide(sum);
    natural = natural_times(&natural, amount);
    if (natural_bits(&natural) >= 250)
        return false;
    *sum = wide_of_natural(&natural);
    return true;
}

/* Returns false if the usage leaves the range of the integers. */
static bool change_usage(struct explain_candidate *candidate, uint32_t i, uint64_t amount,
                         bool more)
{
    struct wide change;
    if (!explain_sum_of(candidate->input->options->decay, amount, &change))
        return false;
    for (uint32_t at = i; at != NO_NODE; at = candidate->tree.nodes[at].parent) {
        struct wide *usage = &candidate->tree.nodes[at].usage;
        if (!(more ? wide_add(usage, &change) : wide_subtract(usage, &change)))
            return false;
    }
    return tree_sum_levels(&candidate->tree);
}

/* Returns true if two numbers are equal within the precision of a double. */
static bool is_near(const struct natural *a, const struct natural *b)
{
    bool less = natural_compare(a, b) < 0;
    struct natural difference = less ? natural_difference(b, a) : natural_difference(a, b);
    difference = natural_shifted(&difference, ROUNDED_BITS);
    return natural_compare(&difference, a) <= 0;
}

/* Rounded usage hides ties.  Members of the deciding list therefore get exactly the same usage per
 * share if their usage per share is equal within the precision of a double.  The change is far
 * smaller than the rounding error. */
static void restore_ties(struct explain_candidate *candidate)
{
    const struct node *decides = &candidate->tree.nodes[candidate->decides];
    const struct node *above = &candidate->tree.nodes[decides->fairshare_parent];
    if (node_has_parent_shares(decides) || !decides->shares || wide_is_zero(&decides->usage))
        return;
    struct natural usage = natural_of_wide(&decides->usage), of_share = usage;
    uint64_t shares = (uint64_t)decides->shares;
    natural_divide(&of_share, shares);
    for (uint32_t i = 0; i < above->child_count; i++) {
        struct node *node =
            &candidate->tree.nodes[candidate->tree.children[above->first_child + i]];
        if (node_has_parent_shares(node) || !node->shares || wide_is_zero(&node->usage))
            continue;
        struct natural mine = natural_times(&usage, (uint64_t)node->shares);
        struct natural its = natural_of_wide(&node->usage);
        its = natural_times(&its, shares);
        if (is_near(&mine, &its)) {
            its = natural_times(&of_share, (uint64_t)node->shares);
            node->usage = wide_of_natural(&its);
        }
    }
}

/* Members of different lists are never exactly tied after usage was rounded.  The member that is to
 * rank higher gets slightly more usage, so that a change that only makes the two members tied is
 * not sufficient. */
static void add_margin(struct explain_candidate *candidate)
{
    struct node *node = &candidate->tree.nodes[candidate->decides];
    struct natural usage = natural_of_wide(&node->usage);
    natural_divide(&usage, (uint64_t)1 << ROUNDED_BITS);
    struct wide little = wide_of_natural(&usage);
    wide_add(&node->usage, &little);
}

static bool is_ahead(const struct explain_candidate *candidate)
{
    struct explain_input changed = *candidate->input;
    changed.tree = &candidate->tree;
    changed.values = candidate->values;
    if (changed.algorithm->ranks_users)
        return order_of(&changed, candidate->behind, candidate->ahead) == ORDER_AHEAD;
    const uint32_t pair[] = { candidate->behind, candidate->ahead };
    return order_of_pair(changed.tree, changed.options, changed.algorithm, changed.values, pair) <
           0;
}

/* Returns true if this amount reverses the order. */
static bool reverses(struct explain_candidate *candidate, const struct reversal *reversal,
                     uint64_t amount)
{
    bool more = reversal->change == MORE_SHARES || reversal->change == MORE_USAGE;
    bool shares = reversal->change == MORE_SHARES || reversal->change == FEWER_SHARES;
    const struct tree *tree = candidate->input->tree;
    memcpy(candidate->tree.nodes, tree->nodes, tree->count * sizeof *tree->nodes);
    if (shares)
        explain_change_shares(candidate, reversal->node, amount, more);
    else if (!change_usage(candidate, reversal->node, amount, more))
        return false;
    /* Changes of usage need no margin: a whole number of TRES-seconds cannot make decayed usage
     * equal. */
    if (shares && candidate->input->rounded && candidate->input->algorithm->ranks_users)
        (candidate->one_list ? restore_ties : add_margin)(candidate);
    fairshare_compute_one(&candidate->tree, candidate->input->options, candidate->input->algorithm,
                          candidate->values);
    return is_ahead(candidate);
}

static uint64_t most_of(const struct explain_input *input, const struct reversal *reversal)
{
    const struct node *node = &input->tree->nodes[reversal->node];
    switch (reversal->change) {
    case MORE_SHARES:
        return (uint64_t)(SHARES_PARENT - 1 - node->shares);
    case FEWER_SHARES:
        return (uint64_t)node->shares;
    case MORE_USAGE:
        return MOST_USAGE;
    case LESS_USAGE:
        break;
    }
    double usage = floor(decay_table_usage(input->options->decay, &node->usage));
    return usage < (double)MOST_USAGE ? (uint64_t)usage : MOST_USAGE;
}

/* Returns an estimate of the amount under Fair Tree, so that few candidates are needed, or 1 if it
 * cannot be estimated.  The result does not depend on the estimate. */
static uint64_t guess_of(const struct explain_input *input, const struct divergence *divergence,
                         const struct reversal *reversal)
{
    const struct decay_table *decay = input->options->decay;
    const struct node *behind = &input->tree->nodes[divergence->decides_one];
    const struct node *ahead = &input->tree->nodes[divergence->decides_other];
    double lead = explain_place_of(input, divergence->decides_other) /
                  explain_place_of(input, divergence->decides_one);
    double amount = 1;
    if (!input->algorithm->ranks_users || !(lead > 1))
        return 1;
    switch (reversal->change) {
    case MORE_SHARES:
        amount = behind->shares * (lead - 1);
        break;
    case FEWER_SHARES:
        amount = ahead->shares * (1 - 1 / lead);
        break;
    case MORE_USAGE:
        amount = decay_table_usage(decay, &ahead->usage) * (lead - 1);
        break;
    case LESS_USAGE:
        amount = decay_table_usage(decay, &behind->usage) * (1 - 1 / lead);
        break;
    }
    if (!(amount >= 1) || isinf(lead))
        return 1;
    return amount < (double)reversal->most ? (uint64_t)amount : reversal->most;
}

struct bounds {
    uint64_t too_little, enough;
};

/* Moves up or down from the guess in growing steps until the order changes.  Returns false if no
 * amount reverses the order. */
static bool find_bounds(struct explain_candidate *candidate, const struct reversal *reversal,
                        uint64_t guess, struct bounds *bounds)
{
    uint64_t step = 1;
    *bounds = (struct bounds){ 0, guess };
    if (reverses(candidate, reversal, guess)) {
        bounds->too_little = guess - 1;
        while (bounds->too_little && reverses(candidate, reversal, bounds->too_little)) {
            bounds->enough = bounds->too_little;
            step *= 2;
            bounds->too_little = bounds->enough > step ? bounds->enough - step : 0;
        }
        return true;
    }
    while (bounds->enough < reversal->most) {
        bounds->too_little = bounds->enough;
        bounds->enough =
            reversal->most - bounds->too_little > step ? bounds->too_little + step : reversal->most;
        step *= 2;
        if (reverses(candidate, reversal, bounds->enough))
            return true;
    }
    return false;
}

/* Sets reversal->amount to the smallest amount that reverses the order, or to 0 if no amount is
 * sufficient.  Sets reversal->most, too.  The caller has set the kind and the node of the
 * change. */
static void reversal_find(const struct explain_input *input, uint32_t behind, uint32_t ahead,
                          struct reversal *reversal)
{
    struct explain_candidate candidate;
    struct bounds bounds;
    struct divergence divergence;
    reversal->amount = 0;
    reversal->most = most_of(input, reversal);
    if (!reversal->most || !divergence_find(input, behind, ahead, &divergence))
        return;
    candidate_start(&candidate, input);
    candidate.behind = behind;
    candidate.ahead = ahead;
    candidate.decides = divergence.decides_one;
    candidate.one_list = !divergence.merged;
    /* Between the bounds the order reverses exactly once. */
    if (find_bounds(&candidate, reversal, guess_of(input, &divergence, reversal), &bounds)) {
        while (bounds.enough - bounds.too_little > 1) {
            uint64_t middle = bounds.too_little + (bounds.enough - bounds.too_little) / 2;
            if (reverses(&candidate, reversal, middle))
                bounds.enough = middle;
            else
                bounds.too_little = middle;
        }
        reversal->amount = bounds.enough;
    }
    candidate_end(&candidate);
}

static void explain_ask(const struct explain_input *input, struct explanation *explanation,
                        enum reversal_kind change, uint32_t node)
{
    bool shares = change == MORE_SHARES || change == FEWER_SHARES;
    if (explanation->reversal_count == REVERSALS_AT_MOST ||
        (shares && node_has_parent_shares(&input->tree->nodes[node])))
        return;
    struct reversal *reversal = &explanation->reversals[explanation->reversal_count++];
    *reversal = (struct reversal){ .change = change, .node = node };
    reversal_find(input, explanation->behind, explanation->ahead, reversal);
}

/* Under Fair Tree, one list decides the order.  In the other algorithms shares matter at every
 * depth. */
static void ask_for_shares(const struct explain_input *input, struct explanation *explanation)
{
    const struct divergence *divergence = &explanation->divergence;
    bool first = explanation->behind == explanation->one;
    uint32_t decides = first ? divergence->decides_one : divergence->decides_other;
    uint32_t against = first ? divergence->decides_other : divergence->decides_one;
    if (input->algorithm->ranks_users) {
        explain_ask(input, explanation, MORE_SHARES, decides);
    } else {
        struct path path = path_to(input->tree, explanation->behind, true);
        uint32_t from = 0;
        while (path.nodes[from] != decides)
            from++;
        for (uint32_t i = path.count; i-- > from;)
            explain_ask(input, explanation, MORE_SHARES, path.nodes[i]);
        path_free(&path);
    }
    explain_ask(input, explanation, FEWER_SHARES, against);
}

static void ask_for_usage(const struct explain_input *input, struct explanation *explanation)
{
    const struct divergence *divergence = &explanation->divergence;
    uint32_t behind = explanation->behind;
    uint32_t decides =
        behind == explanation->one ? divergence->decides_one : divergence->decides_other;
    explain_ask(input, explanation, MORE_USAGE, explanation->ahead);
    explain_ask(input, explanation, LESS_USAGE, behind);
    if (!explanation->reversals[explanation->reversal_count - 1].amount && decides != behind)
        explain_ask(input, explanation, LESS_USAGE, decides);
}

bool explain(const struct explain_input *input, uint32_t one, uint32_t other,
             struct explanation *explanation)
{
    *explanation = (struct explanation){ .one = one, .other = other, .order = ORDER_NONE };
    if (other == NO_NODE)
        return true;
    if (!divergence_find(input, one, other, &explanation->divergence))
        return false;
    explanation->order = order_of(input, one, other);
    bool ahead = explanation->order == ORDER_AHEAD;
    explanation->behind = ahead ? other : one;
    explanation->ahead = ahead ? one : other;
    if (explanation->order == ORDER_NONE)
        return true;
    ask_for_shares(input, explanation);
    ask_for_usage(input, explanation);
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/insight/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/clock.h"
#include "util/memory.h"

/* More than a cluster of a billion TRES uses in a century. */
#define MOST_USAGE ((uint64_t)1 << 62)
/* A double has 53; a few roundings on the way. */
#define ROUNDED_BITS 49

struct way way_to(const struct tree *tree, uint32_t node, bool fairshare)
{
    struct way way = { 0 };
    for (uint32_t at = node; at != NO_NODE;
         at = fairshare ? tree->nodes[at].fairshare_parent : tree->nodes[at].parent)
        way.count++;
    way.nodes = memory_zeroed(way.count, sizeof *way.nodes);
    for (uint32_t at = node, i = way.count; i-- > 0;) {
        way.nodes[i] = at;
        at = fairshare ? tree->nodes[at].fairshare_parent : tree->nodes[at].parent;
    }
    return way;
}

void way_free(struct way *way)
{
    free(way->nodes);
}

/* The best and the last rank of a user, or of those below an account; 0 where there are none. */
struct ranks {
    uint32_t best, last;
};

static struct ranks ranks_of(const struct tree *tree, const struct values *values, uint32_t node)
{
    uint32_t rank = values[node].fair_tree_rank;
    struct ranks ranks = { rank, rank };
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

static enum order order_in(const struct case_file *file, const struct values *values, uint32_t one,
                           uint32_t other)
{
    if (file->algorithm != &fair_tree) {
        double first = file->algorithm->factor(&values[one]);
        double second = file->algorithm->factor(&values[other]);
        if (isnan(first) || isnan(second))
            return ORDER_NONE;
        return first > second ? ORDER_AHEAD : first < second ? ORDER_BEHIND : ORDER_TIED;
    }
    struct ranks first = ranks_of(file->tree, values, one);
    struct ranks second = ranks_of(file->tree, values, other);
    if (!first.best || !second.best)
        return ORDER_NONE;
    if (first.last > second.best)
        return ORDER_AHEAD;
    return first.best < second.last ? ORDER_BEHIND : ORDER_TIED;
}

enum order order_of(const struct case_file *file, uint32_t one, uint32_t other)
{
    return order_in(file, file->values, one, other);
}

/* Where a member stands in its list: above 0 the higher the better, infinite for `parent` users. */
static double place_of(const struct case_file *file, uint32_t node)
{
    return node_has_parent_shares(&file->tree->nodes[node]) ? INFINITY
                                                            : file->values[node].level_fs;
}

bool are_equals(const struct case_file *file, uint32_t one, uint32_t other)
{
    return file->algorithm == &fair_tree && place_of(file, one) == place_of(file, other);
}

bool find_parting(const struct case_file *file, uint32_t one, uint32_t other,
                  struct parting *parting)
{
    struct way first = way_to(file->tree, one, true), second = way_to(file->tree, other, true);
    uint32_t at = 0;
    while (at < first.count && at < second.count && first.nodes[at] == second.nodes[at])
        at++;
    bool apart = at < first.count && at < second.count;
    if (apart) {
        *parting = (struct parting){ .ancestor = first.nodes[at - 1],
                                     .one = first.nodes[at],
                                     .other = second.nodes[at] };
        /* slurmctld merges nothing. */
        while (file->options->conformance == CONFORMANCE_DOCUMENTS &&
               are_equals(file, first.nodes[at], second.nodes[at]) && at + 1 < first.count &&
               at + 1 < second.count) {
            at++;
            parting->merged++;
        }
        parting->decides_one = first.nodes[at];
        parting->decides_other = second.nodes[at];
    }
    way_free(&first);
    way_free(&second);
    return apart;
}

/* A copy of the tree in which one thing is changed, and its values. */
struct trial {
    const struct case_file *file;
    uint32_t decides; /* the member of a list by which Fair Tree ranks who is behind */
    bool one_list;    /* whoever is ahead is in the same list */
    struct tree tree;
    struct values *values;
};

static void trial_start(struct trial *trial, const struct case_file *file)
{
    const struct tree *tree = file->tree;
    *trial = (struct trial){ .file = file, .tree = *tree };
    trial->tree.nodes = memory_zeroed(tree->count, sizeof *tree->nodes);
    trial->tree.levels = memory_zeroed(tree->level_count, sizeof *tree->levels);
    trial->values = memory_zeroed(tree->count, sizeof *trial->values);
    memcpy(trial->tree.levels, tree->levels, tree->level_count * sizeof *tree->levels);
    memcpy(trial->tree.nodes, tree->nodes, tree->count * sizeof *tree->nodes);
}

static void trial_end(struct trial *trial)
{
    free(trial->tree.nodes);
    free(trial->tree.levels);
    free(trial->values);
}

static void change_shares(struct trial *trial, uint32_t i, uint64_t amount, bool more)
{
    const struct tree *tree = trial->file->tree;
    uint32_t list = tree->nodes[tree->nodes[i].fairshare_parent].level;
    int32_t change = (int32_t)amount;
    trial->tree.nodes[i].shares = tree->nodes[i].shares + (more ? change : -change);
    trial->tree.levels[list].shares =
        more ? tree->levels[list].shares + amount : tree->levels[list].shares - amount;
}

static struct wide wide_of(const struct natural *natural)
{
    struct wide wide = { { 0 } };
    for (unsigned i = 0; i < natural->length && i < 4; i++)
        wide.word[i] = natural->word[i];
    return wide;
}

/* The sum that so many TRES-seconds are worth; false where it is beyond the integers' range. */
static bool sum_of(const struct clock *clock, uint64_t amount, struct wide *sum)
{
    if (!clock_sum_of(clock, 1, sum))
        return false;
    struct natural natural = natural_of_wide(sum);
    natural = natural_times(&natural, amount);
    *sum = wide_of(&natural);
    return natural_bits(&natural) < 250;
}

/* False where the usage leaves the integers' range. */
static bool change_usage(struct trial *trial, uint32_t i, uint64_t amount, bool more)
{
    struct wide change;
    if (!sum_of(trial->file->options->clock, amount, &change))
        return false;
    for (uint32_t at = i; at != NO_NODE; at = trial->tree.nodes[at].parent) {
        struct wide *usage = &trial->tree.nodes[at].usage;
        if (!(more ? wide_add(usage, &change) : wide_subtract(usage, &change)))
            return false;
    }
    return tree_sum_levels(&trial->tree);
}

/* Whether two numbers are the same to a double. */
static bool is_near(const struct natural *a, const struct natural *b)
{
    bool less = natural_compare(a, b) < 0;
    struct natural difference = less ? natural_difference(b, a) : natural_difference(a, b);
    difference = natural_shifted(&difference, ROUNDED_BITS);
    return natural_compare(&difference, a) <= 0;
}

/* Where usage was rounded, those in the list of the member that decides who used their shares alike
 * to a double are taken to have done so exactly: then a tie is one.  What this changes is far less
 * than the rounding. */
static void even_out(struct trial *trial)
{
    const struct node *decides = &trial->tree.nodes[trial->decides];
    const struct node *above = &trial->tree.nodes[decides->fairshare_parent];
    if (node_has_parent_shares(decides) || !decides->shares || wide_is_zero(&decides->usage))
        return;
    struct natural usage = natural_of_wide(&decides->usage), of_share = usage;
    uint64_t shares = (uint64_t)decides->shares;
    natural_divide(&of_share, shares);
    for (uint32_t i = 0; i < above->child_count; i++) {
        struct node *node = &trial->tree.nodes[trial->tree.children[above->first_child + i]];
        if (node_has_parent_shares(node) || !node->shares || wide_is_zero(&node->usage))
            continue;
        struct natural mine = natural_times(&usage, (uint64_t)node->shares);
        struct natural its = natural_of_wide(&node->usage);
        its = natural_times(&its, shares);
        if (is_near(&mine, &its)) {
            its = natural_times(&of_share, (uint64_t)node->shares);
            node->usage = wide_of(&its);
        }
    }
}

/* Of members of different lists no usage is exactly alike.  There who is to get ahead must do so
 * even with a little more usage, and not where both would be equal. */
static void weigh_down(struct trial *trial)
{
    struct node *node = &trial->tree.nodes[trial->decides];
    struct natural usage = natural_of_wide(&node->usage);
    natural_divide(&usage, (uint64_t)1 << ROUNDED_BITS);
    struct wide little = wide_of(&usage);
    wide_add(&node->usage, &little);
}

/* Whether so much turns it. */
static bool turns(struct trial *trial, const struct turn *turn, uint32_t behind, uint32_t ahead,
                  uint64_t amount)
{
    bool more = turn->change == MORE_SHARES || turn->change == MORE_USAGE;
    bool shares = turn->change == MORE_SHARES || turn->change == FEWER_SHARES;
    const struct tree *tree = trial->file->tree;
    memcpy(trial->tree.nodes, tree->nodes, tree->count * sizeof *tree->nodes);
    if (shares)
        change_shares(trial, turn->node, amount, more);
    else if (!change_usage(trial, turn->node, amount, more))
        return false;
    /* No whole number of TRES-seconds makes what has decayed equal. */
    if (shares && trial->file->rounded && trial->file->algorithm == &fair_tree)
        (trial->one_list ? even_out : weigh_down)(trial);
    fairshare_compute_one(&trial->tree, trial->file->options, trial->file->algorithm,
                          trial->values);
    struct case_file changed = *trial->file;
    changed.tree = &trial->tree;
    return order_in(&changed, trial->values, behind, ahead) == ORDER_AHEAD;
}

static uint64_t most_of(const struct case_file *file, const struct turn *turn)
{
    const struct node *node = &file->tree->nodes[turn->node];
    switch (turn->change) {
    case MORE_SHARES:
        return (uint64_t)(SHARES_PARENT - 1 - node->shares);
    case FEWER_SHARES:
        return (uint64_t)node->shares;
    case MORE_USAGE:
        return MOST_USAGE;
    case LESS_USAGE:
        break;
    }
    double usage = floor(clock_usage(file->options->clock, &node->usage));
    return usage < (double)MOST_USAGE ? (uint64_t)usage : MOST_USAGE;
}

/* About how much it may take under Fair Tree, so that few trials are needed; 1 where there is no
 * telling.  What is found does not depend on it. */
static uint64_t guess_of(const struct case_file *file, const struct parting *parting,
                         const struct turn *turn)
{
    const struct clock *clock = file->options->clock;
    const struct node *behind = &file->tree->nodes[parting->decides_one];
    const struct node *ahead = &file->tree->nodes[parting->decides_other];
    double lead = place_of(file, parting->decides_other) / place_of(file, parting->decides_one);
    double amount = 1;
    if (file->algorithm != &fair_tree || !(lead > 1))
        return 1;
    switch (turn->change) {
    case MORE_SHARES:
        amount = behind->shares * (lead - 1);
        break;
    case FEWER_SHARES:
        amount = ahead->shares * (1 - 1 / lead);
        break;
    case MORE_USAGE:
        amount = clock_usage(clock, &ahead->usage) * (lead - 1);
        break;
    case LESS_USAGE:
        amount = clock_usage(clock, &behind->usage) * (1 - 1 / lead);
        break;
    }
    if (!(amount >= 1) || isinf(lead))
        return 1;
    return amount < (double)turn->most ? (uint64_t)amount : turn->most;
}

void find_turn(const struct case_file *file, uint32_t behind, uint32_t ahead, struct turn *turn)
{
    struct trial trial;
    struct parting parting;
    turn->amount = 0;
    turn->most = most_of(file, turn);
    if (!turn->most || !find_parting(file, behind, ahead, &parting))
        return;
    trial_start(&trial, file);
    trial.decides = parting.decides_one;
    trial.one_list = !parting.merged;
    /* In growing steps up or down from the guess, then halved in between: who is ahead turns once
     * on the way. */
    uint64_t too_little = 0, enough = guess_of(file, &parting, turn), step = 1;
    bool turned = turns(&trial, turn, behind, ahead, enough);
    if (turned) {
        too_little = enough - 1;
        while (too_little && turns(&trial, turn, behind, ahead, too_little)) {
            enough = too_little;
            step *= 2;
            too_little = enough > step ? enough - step : 0;
        }
    }
    while (!turned && enough < turn->most) {
        too_little = enough;
        enough = turn->most - too_little > step ? too_little + step : turn->most;
        step *= 2;
        turned = turns(&trial, turn, behind, ahead, enough);
    }
    while (turned && enough - too_little > 1) {
        uint64_t middle = too_little + (enough - too_little) / 2;
        if (turns(&trial, turn, behind, ahead, middle))
            enough = middle;
        else
            too_little = middle;
    }
    turn->amount = turned ? enough : 0;
    trial_end(&trial);
}

static void ask(const struct case_file *file, struct explanation *explanation, enum turning change,
                uint32_t node)
{
    bool shares = change == MORE_SHARES || change == FEWER_SHARES;
    if (explanation->turn_count == TURNS_AT_MOST ||
        (shares && node_has_parent_shares(&file->tree->nodes[node])))
        return;
    struct turn *turn = &explanation->turns[explanation->turn_count++];
    *turn = (struct turn){ .change = change, .node = node };
    find_turn(file, explanation->behind, explanation->ahead, turn);
}

/* Under Fair Tree it is decided in one list.  Elsewhere shares matter all the way down. */
static void ask_for_shares(const struct case_file *file, struct explanation *explanation)
{
    const struct parting *parting = &explanation->parting;
    bool first = explanation->behind == explanation->one;
    uint32_t decides = first ? parting->decides_one : parting->decides_other;
    uint32_t against = first ? parting->decides_other : parting->decides_one;
    if (file->algorithm == &fair_tree) {
        ask(file, explanation, MORE_SHARES, decides);
    } else {
        struct way way = way_to(file->tree, explanation->behind, true);
        uint32_t from = 0;
        while (way.nodes[from] != decides)
            from++;
        for (uint32_t i = way.count; i-- > from;)
            ask(file, explanation, MORE_SHARES, way.nodes[i]);
        way_free(&way);
    }
    ask(file, explanation, FEWER_SHARES, against);
}

static void ask_for_usage(const struct case_file *file, struct explanation *explanation)
{
    const struct parting *parting = &explanation->parting;
    uint32_t behind = explanation->behind;
    uint32_t decides = behind == explanation->one ? parting->decides_one : parting->decides_other;
    ask(file, explanation, MORE_USAGE, explanation->ahead);
    ask(file, explanation, LESS_USAGE, behind);
    if (!explanation->turns[explanation->turn_count - 1].amount && decides != behind)
        ask(file, explanation, LESS_USAGE, decides);
}

bool explain(const struct case_file *file, uint32_t one, uint32_t other,
             struct explanation *explanation)
{
    *explanation = (struct explanation){ .one = one, .other = other, .order = ORDER_NONE };
    if (other == NO_NODE)
        return true;
    if (!find_parting(file, one, other, &explanation->parting))
        return false;
    explanation->order = order_of(file, one, other);
    bool ahead = explanation->order == ORDER_AHEAD;
    explanation->behind = ahead ? other : one;
    explanation->ahead = ahead ? one : other;
    if (explanation->order == ORDER_NONE)
        return true;
    ask_for_shares(file, explanation);
    ask_for_usage(file, explanation);
    return true;
}

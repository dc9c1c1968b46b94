/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/release.h"
#include "core/number/figure.h"
#include "core/tree/tree.h"
#include "report/answer.h"
#include "report/explained.h"
#include "report/standing.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/text.h"
#include "util/times.h"

/*
 * Fair Tree ranks associations list by list.  A list contains the children of one account, which
 * are its members.  Users below an account with `parent` shares are members of the list that
 * contains this account.  If accounts of a list are tied, their members form one merged list.  The
 * order of two associations is decided in the list of their lowest common ancestor or in a list
 * that was merged below it.
 */

#define SECONDS_AN_HOUR 3600.0

static const struct node *explanation_node_of(const struct explained *explained, uint32_t i)
{
    return &explained->input->tree->nodes[i];
}

static const struct values *explanation_values_of(const struct explained *explained, uint32_t i)
{
    return &explained->input->values[i];
}

/* Adds a name that no other association has: `user 'u' of account 'a'`, `account 'a'`. */
static void explanation_add_who(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct node *node = explanation_node_of(explained, i);
    const char *partition = names_text(explained->names, node->partition);
    if (node->is_user)
        text_format_printable(text, "%s '%s' of ", explained->terms->user,
                              names_text(explained->names, node->user));
    text_format_printable(text, "%s '%s'", explained->terms->account,
                          names_text(explained->names, node->account));
    if (*partition)
        text_format_printable(text, " in partition '%s'", partition);
}

/* Adds the user's name only, if it is not the name of both explained associations. */
static void add_short(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct explanation *explanation = explained->explanation;
    const struct node *node = explanation_node_of(explained, i);
    if (!node->is_user || (explanation->other != NO_NODE &&
                           explanation_node_of(explained, explanation->one)->user ==
                               explanation_node_of(explained, explanation->other)->user))
        explanation_add_who(text, explained, i);
    else
        text_format_printable(text, "'%s'", names_text(explained->names, node->user));
}

static void capitalise(struct text *text)
{
    if (text->bytes[0] >= 'a' && text->bytes[0] <= 'z')
        text->bytes[0] = (char)(text->bytes[0] - 'a' + 'A');
}

/* Adds the ratio of effective usage to the share, if the factor is computed from it. */
static void add_excess(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct algorithm *algorithm = explained->input->algorithm;
    const struct values *values = explanation_values_of(explained, i);
    double shares = algorithm->norm_shares(values);
    if (algorithm->by_rules &&
        has_roots_factor(explained->input->options, explanation_node_of(explained, i)))
        text_add(text, " (the root's)");
    else if (!algorithm->of_ratio || !(shares > 0))
        text_add(text, shares > 0 ? "" : " (no share)");
    else {
        text_format(text, " (effective usage %s times its share)",
                    figure_text(algorithm->effective_usage(values) / shares, 3).bytes);
    }
}

/* Adds the factor of an association that is not ranked by Fair Tree. */
static void add_result(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct explain_input *input = explained->input;
    const struct values *values = explanation_values_of(explained, i);
    if (input->algorithm->by_rules &&
        has_no_factor(input->options, explanation_node_of(explained, i))) {
        text_format(text, " has no fairshare value: in Slurm %s only users have one",
                    rules_of(input->options)->name);
        return;
    }
    double factor = input->algorithm->factor(values);
    if (isnan(factor)) {
        text_add(text, " has no fairshare value");
        return;
    }
    text_format(text, " has fairshare %s", figure_text(factor, 6).bytes);
    add_excess(text, explained, i);
}

/* Explains the position of a member in its list. */
static void add_reason(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct values *values = explanation_values_of(explained, i);
    add_short(text, explained, i);
    if (node_has_parent_shares(explanation_node_of(explained, i))) {
        text_add(text, " has `parent` shares and ranks like a member without usage");
    } else if (values->level_fs == 0) {
        text_add(text, " has no shares and ranks last (LevelFS 0)");
    } else if (isinf(values->level_fs)) {
        text_add(text, " has no usage and ranks first (LevelFS inf)");
    } else {
        text_format(text, " has LevelFS %s (usage %s times its share)",
                    figure_text(values->level_fs, 6).bytes,
                    figure_text(values->level_usage / values->level_shares_norm, 3).bytes);
    }
}

/* Adds the sentences that begin the page of a single association. */
static void explanation_add_sentences(struct text *text, const struct explained *explained)
{
    struct text paragraph = { 0 };
    if (!explained->standing || !explained->explanation->one)
        return;
    standing_add_sentences(&paragraph, explained->standing, explained->explanation->one);
    terminal_add_wrapped(text, paragraph.bytes, 0);
    text_add(text, "\n");
    text_free(&paragraph);
}

/* Adds one line for each level of the path to a single association. */
static void explanation_add_levels(struct text *text, const struct explained *explained)
{
    uint32_t one = explained->explanation->one;
    bool user = explanation_node_of(explained, one)->is_user;
    struct standing standing;
    standing_find(explained->standing->standings, one, &standing);
    struct text heading = { 0 };
    text_format(&heading, user ? "%s ahead on each level:\n" : "Position on each level:\n",
                explained->terms->users);
    capitalise(&heading);
    text_add(text, standing.count ? heading.bytes : "");
    text_free(&heading);
    for (size_t i = 0; i < standing.count; i++) {
        const struct standing_step *step = &standing.steps[i];
        struct text line = { 0 };
        if (user)
            text_format(&line, "- %" PRIu32 ": ", step->ahead);
        else if (step->position)
            text_format(&line, "- %" PRIu32 " of %" PRIu32 ": ", step->position, step->members);
        else
            text_add(&line, "- ");
        standing_add_step(&line, explained->standing, step);
        terminal_add_wrapped(text, line.bytes, 2);
        text_free(&line);
    }
    standing_free(&standing);
}

/* Explains a single association under Fair Tree. */
static void explanation_add_ranked(struct text *text, const struct explained *explained)
{
    uint32_t one = explained->explanation->one, users = explained->input->tree->user_count;
    const struct values *values = explanation_values_of(explained, one);
    if (!isnan(values->fair_tree_factor))
        text_format(text, "Fairshare = (%" PRIu32 " + 1 - place) / %" PRIu32 " = %s\n", users,
                    users, figure_text(values->fair_tree_factor, 6).bytes);
    text_add(text, "\n");
    explanation_add_levels(text, explained);
}

/* Explains a single association under another algorithm. */
static void add_one(struct text *text, const struct explained *explained)
{
    struct text paragraph = { 0 };
    explanation_add_who(&paragraph, explained, explained->explanation->one);
    capitalise(&paragraph);
    add_result(&paragraph, explained, explained->explanation->one);
    text_add(&paragraph, ".");
    text_add(text, "\n");
    terminal_add_wrapped(text, paragraph.bytes, 0);
    text_free(&paragraph);
}

/*
 * Explains why Fair Tree has no rank for one or both associations.  Users below an account with
 * `parent` shares are members of the list that contains the account.
 */
static void add_rankless(struct text *text, const struct explained *explained)
{
    const uint32_t both[] = { explained->explanation->one, explained->explanation->other };
    for (size_t i = 0; i < 2; i++) {
        const struct node *node = explanation_node_of(explained, both[i]);
        struct text sentence = { 0 };
        if (node->is_user || node->users_below)
            continue;
        explanation_add_who(&sentence, explained, both[i]);
        capitalise(&sentence);
        if (node_has_parent_shares(node)) {
            text_add(&sentence,
                     " has `parent` shares: the users below it are ranked as members of ");
            explanation_add_who(&sentence, explained, node->fairshare_parent);
            text_add(&sentence, ".");
        } else
            text_add(&sentence, " does not contain users, and Fair Tree ranks only users.");
        text_format(text, "%s%s", text->length ? " " : "", sentence.bytes);
        text_free(&sentence);
    }
}

/* Compares the places or factors of the two associations. */
static void add_standing(struct text *text, const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    uint32_t behind = explanation->behind, ahead = explanation->ahead;
    bool ranks = explained->input->algorithm->ranks_users;
    if (explanation->order == ORDER_NONE && ranks) {
        add_rankless(text, explained);
        return;
    }
    explanation_add_who(text, explained, behind);
    capitalise(text);
    if (explanation->order == ORDER_NONE) {
        text_add(text, " and ");
        explanation_add_who(text, explained, ahead);
        text_add(text, " do not both have a fairshare value.");
        return;
    }
    bool tied = explanation->order == ORDER_TIED;
    text_add(text, tied ? " and " : " ranks lower than ");
    explanation_add_who(text, explained, ahead);
    text_add(text, tied ? " are tied" : "");
    bool users = explanation_node_of(explained, behind)->is_user &&
                 explanation_node_of(explained, ahead)->is_user;
    if (!ranks) {
        const struct algorithm *algorithm = explained->input->algorithm;
        double later = algorithm->factor(explanation_values_of(explained, behind)),
               earlier = algorithm->factor(explanation_values_of(explained, ahead));
        text_format(text, ": fairshare %s", figure_text(later, 6).bytes);
        add_excess(text, explained, behind);
        text_format(text, " versus %s", figure_text(earlier, 6).bytes);
        add_excess(text, explained, ahead);
    } else if (users) {
        uint32_t count = explained->input->tree->user_count;
        text_format(text, ": place %" PRIu32 " versus %" PRIu32 " of %" PRIu32,
                    place_of_rank(explanation_values_of(explained, behind)->fair_tree_rank, count),
                    place_of_rank(explanation_values_of(explained, ahead)->fair_tree_rank, count),
                    count);
    } else {
        text_add(text, tied ? ": the places of their users overlap"
                            : ": all its users have later places");
    }
    text_add(text, ".");
}

/* Explains how Fair Tree ranks two tied members of a list. */
static void add_equality(struct text *text, const struct explained *explained)
{
    const struct divergence *divergence = &explained->explanation->divergence;
    bool first = explanation_node_of(explained, divergence->decides_one)->is_user;
    bool second = explanation_node_of(explained, divergence->decides_other)->is_user;
    if (explained->input->options->conformance == CONFORMANCE_SLURMCTLD)
        text_add(text, "; slurmctld ranks tied accounts one after another");
    else if (first && second)
        text_add(text, "; tied users share a place");
    else if (first || second)
        text_add(text, "; the user gets the place of the first user below the tied account");
    else
        text_add(text, "; the users of tied accounts are ranked in one list");
}

/* Explains the list in which Fair Tree decides the order. */
static void add_decision(struct text *text, const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    const struct divergence *divergence = &explanation->divergence;
    bool first = explanation->behind == explanation->one;
    uint32_t behind = first ? divergence->decides_one : divergence->decides_other;
    uint32_t ahead = first ? divergence->decides_other : divergence->decides_one;
    text_add(text, "Their lowest common ancestor is ");
    explanation_add_who(text, explained, divergence->ancestor);
    if (divergence->merged) {
        text_add(text, ". Below it, ");
        add_short(text, explained, divergence->one);
        text_add(text, " and ");
        add_short(text, explained, divergence->other);
        text_add(text, " are tied, so that their members form one list");
        if (divergence->merged > 1)
            text_format(text, ", and so on for %" PRIu32 " lists", divergence->merged);
        text_add(text, ". In this list, ");
    } else {
        text_add(text, ". Below it, ");
    }
    add_reason(text, explained, behind);
    text_add(text, ", and ");
    add_reason(text, explained, ahead);
    if (are_equals(explained->input, behind, ahead))
        add_equality(text, explained);
    text_add(text, ".");
}

/* For the other algorithms, names the ancestor below which the numbers differ. */
static void explanation_add_difference(struct text *text, const struct explained *explained)
{
    const struct divergence *divergence = &explained->explanation->divergence;
    text_add(text, "Their lowest common ancestor is ");
    explanation_add_who(text, explained, divergence->ancestor);
    text_add(text, "; the numbers down to it are the same for both.");
}

static void add_usage_amount(struct text *text, const struct explained *explained, uint64_t amount)
{
    if (explained->unit) { /* the form of pbsfs */
        text_format_printable(text, "%" PRIu64 " (%s)", amount, explained->unit);
        return;
    }
    text_format(text, "%" PRIu64 " %.*s (%s %s)", amount,
                (int)strlen(explained->usage->seconds) - (amount == 1), explained->usage->seconds,
                figure_text((double)amount / SECONDS_AN_HOUR, 6).bytes, explained->usage->hours);
}

static void add_reversal(struct text *text, const struct explained *explained,
                         const struct reversal *reversal)
{
    bool more = reversal->change == MORE_SHARES || reversal->change == MORE_USAGE;
    if (reversal->change == MORE_USAGE || reversal->change == LESS_USAGE) {
        add_usage_amount(text, explained, reversal->amount);
        text_add(text, more ? " more usage of " : " less usage of ");
        add_short(text, explained, reversal->node);
        return;
    }
    int64_t shares = explanation_node_of(explained, reversal->node)->shares,
            amount = (int64_t)reversal->amount;
    text_format(text, "%" PRId64 " %s share%s of ", amount, more ? "more" : "fewer",
                amount == 1 ? "" : "s");
    add_short(text, explained, reversal->node);
    text_format(text, ", %" PRId64 " instead of %" PRId64, more ? shares + amount : shares - amount,
                shares);
}

/* Adds the kinds of change for which no amount is sufficient, and returns their number. */
static uint32_t add_futile(struct text *text, const struct explained *explained)
{
    static const char *const changes[] = {
        [MORE_SHARES] = "more shares of ",
        [FEWER_SHARES] = "fewer shares of ",
        [MORE_USAGE] = "more usage of ",
        [LESS_USAGE] = "less usage of ",
    };
    const struct explanation *explanation = explained->explanation;
    uint32_t count = 0;
    for (uint32_t i = 0; i < explanation->reversal_count; i++) {
        const struct reversal *reversal = &explanation->reversals[i];
        if (reversal->amount)
            continue;
        text_add(text, count++ ? ", " : "");
        text_add(text, changes[reversal->change]);
        add_short(text, explained, reversal->node);
    }
    return count;
}

static void explanation_add_reversals(struct text *text, const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    struct text line = { 0 }, futile = { 0 };
    bool has_usage = false;
    text_add(&futile, "Not sufficient in any amount: ");
    uint32_t futile_count = add_futile(&futile, explained);
    text_add(&futile, ".");
    add_short(&line, explained, explanation->behind);
    capitalise(&line);
    bool any = futile_count < explanation->reversal_count;
    text_add(&line, any ? " would rank higher than " : " cannot rank higher than ");
    add_short(&line, explained, explanation->ahead);
    text_add(&line, any ? " with any one of these changes, other things being equal:"
                        : " through a single change.");
    terminal_add_wrapped(text, line.bytes, 0);
    for (uint32_t i = 0; i < explanation->reversal_count; i++) {
        if (!explanation->reversals[i].amount)
            continue;
        line.length = 0;
        text_add(&line, "- ");
        add_reversal(&line, explained, &explanation->reversals[i]);
        has_usage |= explanation->reversals[i].change == MORE_USAGE ||
                     explanation->reversals[i].change == LESS_USAGE;
        terminal_add_wrapped(text, line.bytes, 2);
    }
    if (futile_count)
        terminal_add_wrapped(text, futile.bytes, 0);
    if (has_usage && !explained->unit && explained->usage->definition)
        terminal_add_wrapped(text, explained->usage->definition, 0);
    text_free(&futile);
    text_free(&line);
}

/* Explains the order of two associations. */
static void explanation_add_pair(struct text *text, const struct explained *explained)
{
    struct text paragraph = { 0 };
    add_standing(&paragraph, explained);
    text_add(&paragraph, " ");
    if (explained->input->algorithm->ranks_users)
        add_decision(&paragraph, explained);
    else
        explanation_add_difference(&paragraph, explained);
    text_add(text, "\n");
    terminal_add_wrapped(text, paragraph.bytes, 0);
    text_free(&paragraph);
}

/* Adds the first line: the association, if only one is explained. */
static void explanation_add_heading(struct answer *answer, const struct explained *explained)
{
    struct text who = { 0 };
    if (explained->explanation->other == NO_NODE) {
        explanation_add_who(&who, explained, explained->explanation->one);
        capitalise(&who);
        answer_say(answer, "%s\n", who.bytes);
        text_free(&who);
    }
    answer_say(answer, "Cluster %s, %s, as of %s\n\n", explained->cluster,
               explained->input->algorithm->name, time_text(explained->as_of).bytes);
}

static void explanation_add_page(struct answer *answer, const struct explained *explained,
                                 const struct weights *weights)
{
    const struct explanation *explanation = explained->explanation;
    struct text *text = answer_text(answer);
    answer_cluster(answer, &(struct table_cluster){ .name = explained->cluster });
    explanation_add_heading(answer, explained);
    explanation_add_sentences(text, explained);
    explanation_add_table(answer, explained);
    if (explanation->other != NO_NODE)
        explanation_add_pair(text, explained);
    else if (explained->input->algorithm->ranks_users)
        explanation_add_ranked(text, explained);
    else
        add_one(text, explained);
    if (explanation->reversal_count) {
        text_add(text, "\n");
        explanation_add_reversals(text, explained);
    }
    if (weights)
        weights_add_page(text, explained, weights);
}

void explanation_answer(const struct explained *explained, const struct weights *weights,
                        struct answer *answer)
{
    if (answer_wants_page(answer))
        explanation_add_page(answer, explained, weights);
    else
        explanation_add_rows(explained, weights, answer);
}

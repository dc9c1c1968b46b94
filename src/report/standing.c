/* SPDX-License-Identifier: MIT */
#include "report/standing.h"

#include <math.h>

#include "core/fairshare/algorithm.h"
#include "report/amounts.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/text.h"

#define DAY_S 86400

static const struct node *standing_node(const struct standing_facts *facts, uint32_t node)
{
    return &facts->standings->tree->nodes[node];
}

/* Adds `anders`, `anders (gpu)` if the association has a partition, or `physics`. */
static void standing_add_name(struct text *text, const struct standing_facts *facts, uint32_t node)
{
    const struct node *named = standing_node(facts, node);
    const char *partition = names_text(facts->names, named->partition);
    text_add_printable(text,
                       names_text(facts->names, named->is_user ? named->user : named->account));
    if (*partition)
        text_format_printable(text, " (%s)", partition);
}

static void standing_add_owner(struct text *text, const struct standing_facts *facts, uint32_t node)
{
    if (node)
        standing_add_name(text, facts, node);
    else
        text_add(text, "the cluster");
}

static const char *standing_whose(const struct standing_facts *facts, uint32_t node)
{
    return standing_node(facts, node)->is_user ? "their" : "its";
}

void standing_add_step(struct text *text, const struct standing_facts *facts,
                       const struct standing_step *step)
{
    standing_add_name(text, facts, step->member);
    if (isnan(step->ratio)) {
        text_add(text, " has no share of its own");
    } else if (isinf(step->ratio)) {
        text_add(text, " has no shares of ");
        standing_add_owner(text, facts, step->owner);
    } else {
        text_add(text, " has used ");
        amount_add_ratio(text, step->ratio);
        text_format(text, " times %s share of ", standing_whose(facts, step->member));
        standing_add_owner(text, facts, step->owner);
    }
}

/* ---- users ---- */

/* Returns the ratio as it is displayed. */
static double standing_shown_ratio(const struct standing_step *step)
{
    return isinf(step->ratio) ? step->ratio : amount_ratio(step->ratio);
}

/*
 * Returns the step with most users ahead.  If several steps have as many, returns the step with the
 * largest ratio, or else the first.  Compares ratios as they are displayed, because the script
 * knows no others.
 */
static const struct standing_step *standing_decisive(const struct standing *standing)
{
    const struct standing_step *most = &standing->steps[0];
    for (size_t i = 1; i < standing->count; i++) {
        const struct standing_step *step = &standing->steps[i];
        if (step->ahead > most->ahead ||
            (step->ahead == most->ahead && standing_shown_ratio(step) > standing_shown_ratio(most)))
            most = step;
    }
    return most;
}

/* Adds the users ahead: `14 of the 20 users ahead come first because `. */
static void standing_add_ahead(struct text *text, const struct standing_facts *facts,
                               uint32_t ahead, uint32_t all)
{
    if (all == 1) {
        text_format(text, "The %s ahead comes first because ", facts->terms->user);
        return;
    }
    if (ahead == all) {
        text_add(text, "All ");
    } else {
        amount_add_whole(text, ahead);
        text_add(text, " of the ");
    }
    amount_add_whole(text, all);
    text_format(text, " %s ahead come first because ", facts->terms->users);
}

static void standing_add_reason(struct text *text, const struct standing_facts *facts,
                                uint32_t node, uint32_t place)
{
    if (place == 1) {
        text_format(text, " No %s is ahead.", facts->terms->user);
        return;
    }
    struct standing standing;
    standing_find(facts->standings, node, &standing);
    const struct standing_step *step = standing_decisive(&standing);
    text_add(text, " ");
    standing_add_ahead(text, facts, step->ahead, place - 1);
    if (standing_shown_ratio(step) > 1) {
        standing_add_step(text, facts, step);
    } else {
        text_add(text, "they or their groups have used even less of their shares than ");
        standing_add_name(text, facts, step->member);
        if (!isnan(step->ratio)) {
            text_add(text, " (");
            amount_add_ratio(text, step->ratio);
            text_add(text, " times)");
        }
    }
    text_add(text, ".");
    standing_free(&standing);
}

static void standing_add_day(struct text *text, const struct standing_facts *facts, size_t day)
{
    amount_add_date(text, facts->as_of + (int64_t)day * DAY_S, 0);
}

/* Adds that no day is better than today. */
static void standing_add_no_help(struct text *text, const struct standing_facts *facts,
                                 uint32_t place)
{
    size_t worst = 0;
    for (size_t day = 0; day <= facts->days; day++)
        worst = facts->pausing[day] > facts->pausing[worst] ? day : worst;
    bool falls = facts->pausing[worst] > place;
    text_format(text, " Pausing does not help within %zu days: the place %s ", facts->days,
                falls ? "falls to" : "stays");
    amount_add_whole(text, facts->pausing[worst]);
    text_add(text, falls ? " by " : ", as the groups above decide it");
    if (falls)
        standing_add_day(text, facts, worst);
    text_add(text, ".");
}

/* Adds the sentence about pausing, unless the user is first or the forecast is unknown. */
static void standing_add_outlook(struct text *text, const struct standing_facts *facts,
                                 uint32_t node, uint32_t place)
{
    const uint32_t *places = facts->pausing;
    size_t first = facts->days, best = 0;
    if (!places || place == 1 || !places[0])
        return;
    for (size_t day = 0; day <= facts->days; day++) {
        first = day < first && places[day] < place ? day : first;
        best = places[day] < places[best] ? day : best;
    }
    if (places[best] >= place) {
        standing_add_no_help(text, facts, place);
        return;
    }
    text_format_printable(text, " If %s runs nothing and the others continue, the place improves",
                          names_text(facts->names, standing_node(facts, node)->user));
    text_add(text, " from ");
    amount_add_whole(text, place);
    if (first != best) {
        text_add(text, " to ");
        amount_add_whole(text, places[first]);
        text_add(text, " on ");
        standing_add_day(text, facts, first);
        text_add(text, " and");
    }
    text_add(text, " to ");
    amount_add_whole(text, places[best]);
    text_add(text, first == best ? " on " : " by ");
    standing_add_day(text, facts, best);
    text_add(text, ".");
}

/* Returns usage divided by share, both of the cluster. */
static double standing_cluster_ratio(const struct standing_facts *facts, uint32_t node)
{
    const struct values *values = &facts->values[node];
    if (node_has_parent_shares(standing_node(facts, node)))
        return NAN;
    return values->shares_norm > 0 ? values->usage_norm / values->shares_norm : INFINITY;
}

/* Adds ` has used 1.43 times their share`. */
static void standing_add_used(struct text *text, const struct standing_facts *facts, uint32_t node)
{
    double ratio = standing_cluster_ratio(facts, node);
    if (isnan(ratio)) {
        text_add(text, " has no share of its own");
    } else if (isinf(ratio)) {
        text_add(text, " has no shares");
    } else {
        text_add(text, " has used ");
        amount_add_ratio(text, ratio);
        text_format(text, " times %s share", standing_whose(facts, node));
    }
}

static void standing_add_user(struct text *text, const struct standing_facts *facts, uint32_t node)
{
    uint32_t place = standing_place(facts->standings, node);
    standing_add_name(text, facts, node);
    if (!place) {
        text_add(text, " has no place.");
        return;
    }
    text_add(text, " is at place ");
    amount_add_whole(text, place);
    text_add(text, " of ");
    amount_add_whole(text, facts->standings->users);
    if (facts->standings->by_level) {
        text_add(text, ".");
        standing_add_reason(text, facts, node, place);
    } else {
        text_add(text, ": ");
        standing_add_name(text, facts, node);
        standing_add_used(text, facts, node);
        text_format(text, "; factor %.4f.", facts->algorithm->factor(&facts->values[node]));
    }
    standing_add_outlook(text, facts, node, place);
}

/* ---- groups ---- */

static void standing_add_group_usage(struct text *text, const struct standing_facts *facts,
                                     uint32_t node)
{
    const struct values *values = &facts->values[node];
    double ratio = standing_cluster_ratio(facts, node);
    if (!isnan(ratio) && !(facts->values[0].usage_raw > 0)) {
        text_add(text, "No usage counts yet. Places follow the shares alone.");
        return;
    }
    standing_add_name(text, facts, node);
    if (isnan(ratio)) {
        text_format(text, " has no share of its own: its %s count as members of the level above.",
                    facts->terms->users);
        return;
    }
    if (isinf(ratio)) {
        text_add(text, " has no shares, and ");
    } else {
        text_add(text, " has used ");
        amount_add_ratio(text, ratio);
        text_add(text, " times its share: ");
    }
    amount_add_percent(text, values->usage_norm);
    text_add(text, " of the cluster's recent usage");
    if (!isinf(ratio)) {
        text_add(text, " for a share of ");
        amount_add_percent(text, values->shares_norm);
    }
    text_add(text, ".");
}

static void standing_add_budget(struct text *text, const struct standing_facts *facts)
{
    if (facts->budget_used_up) {
        text_add(text, " Its budget is used up.");
    } else if (facts->budget_ends) {
        text_add(text, " Its budget ends on ");
        amount_add_date(text, facts->budget_ends, 1);
        text_add(text, " at last week's rate.");
    }
}

static void standing_add_members(struct text *text, const struct standing_facts *facts,
                                 uint32_t node)
{
    const struct standings *standings = facts->standings;
    uint32_t users = standings->below[node].users;
    uint32_t first = standings->below[node].first;
    uint32_t last = standings->below[node].last;
    if (!users)
        return;
    text_add(text, " Its ");
    if (users > 1)
        amount_add_whole(text, users);
    text_format(text, users > 1 ? " %s are at place" : "%s is at place",
                users > 1 ? facts->terms->users : facts->terms->user);
    text_add(text, first < last ? "s " : " ");
    amount_add_whole(text, first);
    if (first < last) {
        text_add(text, " to ");
        amount_add_whole(text, last);
    }
    text_add(text, " of ");
    amount_add_whole(text, standings->users);
    text_add(text, ".");
}

void standing_add_sentences(struct text *text, const struct standing_facts *facts, uint32_t node)
{
    if (standing_node(facts, node)->is_user) {
        standing_add_user(text, facts, node);
        return;
    }
    standing_add_group_usage(text, facts, node);
    standing_add_budget(text, facts);
    standing_add_members(text, facts, node);
}

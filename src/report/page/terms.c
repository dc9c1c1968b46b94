/* SPDX-License-Identifier: MIT */
#include "report/page/terms.h"

#include <stdbool.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/page/cluster.h"
#include "settings/scheduler.h"
#include "util/text.h"
#include "util/times.h"

/* A sentence in which %s is the word for a user, or for an account where `of_account`. */
struct report_page_term {
    const char *key, *name, *sentence;
};

static const struct report_page_term terms[PAGE_TERMS] = {
    [TERM_SHARES] = { "shares", "Shares",
                      "What it was given; `parent': it has those of the level above." },
    [TERM_LEVEL_SHARE] = { "levelShare", "Share of its level",
                           "Its shares as a part of those of all beside it." },
    [TERM_LEVEL_USED] = { "levelUsed", "Used of its level",
                          "Its decayed use as a part of that of all beside it." },
    [TERM_WHOLE_SHARE] = { "wholeShare", "Share of the whole",
                           "The parts of the levels from the top down to it, multiplied." },
    [TERM_WHOLE_USED] = { "wholeUsed", "Used of the whole",
                          "Its decayed use as a part of that of all." },
    [TERM_SHARE] = { "share", NULL, NULL },
    [TERM_USED] = { "used", NULL,
                    "What counts as its use: its own, with a part of that of all beside it." },
    [TERM_USAGE] = { "usage", "Decayed use", NULL },
    [TERM_SPENT] = { "spent", "Used in these days", NULL },
    [TERM_LEVEL_FS] = { "levelFs", "Level FS",
                        "The share of its level by what it used of it: above 1 it used less than "
                        "that." },
    [TERM_FACTOR] = { "factor", "Fairshare factor", NULL },
    [TERM_PLACE] = { "place", "Place", "1 is next, as far as fairshare decides." },
};

/* What the factor of an algorithm means. */
static const struct {
    const char *algorithm, *name, *sentence;
} factors[] = {
    { "fair_tree", "Fair Tree",
      "Who is ahead has the higher one: 1 is the first of all, near 0 the last." },
    { "classic", "classic",
      "1 without any use, 0.5 where it used just its share, near 0 far above it." },
    { "depth_oblivious", "depth-oblivious",
      "1 without any use, 0.5 where it used just its share, near 0 far above it." },
    { "linear", "linear", "Half of 1 + share - use: above 0.5 it used less than its share." },
    { "pbs", "PBS", "1 without any use, 0.5 where it used just its part, near 0 far above it." },
};

static size_t page_terms_factor_of(const struct page_cluster *cluster)
{
    size_t i = 0;
    while (i + 1 < sizeof factors / sizeof *factors &&
           strcmp(factors[i].algorithm, cluster->algorithm->name) != 0)
        i++;
    return i;
}

const char *page_algorithm(const struct page_cluster *cluster)
{
    return factors[page_terms_factor_of(cluster)].name;
}

const char *page_unit(const struct page_cluster *cluster)
{
    return cluster->unit ? cluster->unit : "TRES-hours";
}

double page_unit_size(const struct page_cluster *cluster)
{
    return cluster->unit ? 1 : 3600;
}

const char *page_term_key(enum page_term term)
{
    return terms[term].key;
}

const char *page_term_name(const struct page_cluster *cluster, enum page_term term)
{
    bool ranks = cluster->algorithm->ranks_users;
    switch (term) {
    case TERM_SHARE:
        return cluster->terms->share;
    case TERM_WHOLE_SHARE:
        return cluster->terms->share ? NULL : terms[term].name;
    case TERM_USED:
        return ranks ? NULL : cluster->terms->effective_usage;
    case TERM_LEVEL_FS:
        return ranks ? terms[term].name : NULL;
    case TERM_FACTOR:
        return ranks && cluster->accounts_only ? NULL : terms[term].name;
    case TERM_PLACE:
        return cluster->accounts_only ? NULL : terms[term].name;
    default:
        return terms[term].name;
    }
}

static void page_terms_add_span(struct text *text, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
    size_t i = 0;
    while (seconds < units[i].seconds)
        i++;
    double count = (double)seconds / (double)units[i].seconds;
    text_format(text, "%.4g %s%s", count, units[i].name, count == 1 ? "" : "s");
}

void page_term_explain(struct text *text, const struct page_cluster *cluster, enum page_term term)
{
    switch (term) {
    case TERM_SHARE:
        text_add(text, "Its part of the whole, by shares from the top down to it.");
        return;
    case TERM_USAGE:
        text_add(text, "All it used");
        if (cluster->half_life > 0) {
            text_add(text, ", which counts half after ");
            page_terms_add_span(text, cluster->half_life);
        }
        text_add(text, ".");
        return;
    case TERM_SPENT:
        text_add(text, "Undecayed, from ");
        time_add_day(text, cluster->from);
        text_add(text, " to ");
        time_add_day(text, cluster->to);
        text_add(text, ".");
        return;
    case TERM_FACTOR:
        text_add(text, factors[page_terms_factor_of(cluster)].sentence);
        return;
    default:
        text_add(text, terms[term].sentence);
    }
}

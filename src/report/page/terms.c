/* SPDX-License-Identifier: MIT */
#include "report/page/terms.h"

#include <stdbool.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/page/cluster.h"
#include "settings/scheduler.h"
#include "util/text.h"
#include "util/times.h"

/* A number of the page.  `name` or `sentence` is NULL if it depends on the cluster. */
struct report_page_term {
    const char *key, *name, *sentence;
};

static const struct report_page_term terms[PAGE_TERMS] = {
    [TERM_SHARES] = { "shares", "Shares",
                      "The shares assigned to it; `parent' means the shares of the level above." },
    [TERM_LEVEL_SHARE] = { "levelShare", "Share of level",
                           "Its shares divided by the sum over itself and its siblings." },
    [TERM_LEVEL_USED] = { "levelUsed", "Share of level usage",
                          "Its decayed usage divided by the sum over itself and its siblings." },
    [TERM_WHOLE_SHARE] = { "wholeShare", "Share of cluster",
                           "The product of the shares of level from the top down to it." },
    [TERM_WHOLE_USED] = { "wholeUsed", "Share of total usage",
                          "Its decayed usage divided by the decayed usage of the cluster." },
    [TERM_SHARE] = { "share", NULL, NULL },
    [TERM_USED] = { "used", NULL,
                    "The usage that counts for it: its own and a part of its siblings' usage." },
    [TERM_USAGE] = { "usage", "Decayed usage", NULL },
    [TERM_SPENT] = { "spent", "Usage in this period", NULL },
    [TERM_LEVEL_FS] = { "levelFs", "Level FS",
                        "Share of level divided by share of level usage. Above 1, it has used less "
                        "than its share." },
    [TERM_FACTOR] = { "factor", "Fairshare factor", NULL },
    [TERM_PLACE] = { "place", "Place", "1 is next, if only fairshare counts." },
};

/* The name of each algorithm and the meaning of its factor. */
static const struct {
    const char *algorithm, *name, *sentence;
} factors[] = {
    { "fair_tree", "Fair Tree",
      "A higher factor ranks higher: the first place has 1, the last is near 0." },
    { "classic", "classic",
      "1 without usage, 0.5 if usage equals the share, near 0 if it is far above." },
    { "depth_oblivious", "depth-oblivious",
      "1 without usage, 0.5 if usage equals the share, near 0 if it is far above." },
    { "linear", "linear",
      "Half of 1 + share - usage. Above 0.5, it has used less than its share." },
    { "pbs", "PBS",
      "1 without usage, 0.5 if usage equals the percentage, near 0 if it is far above." },
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
        text_add(text, "Its part of the cluster, by the shares from the top down to it.");
        return;
    case TERM_USAGE:
        text_add(text, "Its total usage");
        if (cluster->half_life > 0) {
            text_add(text, ", of which half still counts after ");
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

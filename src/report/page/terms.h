/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_TERMS_H
#define FAIRMILL_REPORT_PAGE_TERMS_H

struct page_cluster;
struct text;

/* What a page's numbers are called and mean, in the words of the cluster's world and by its
 * algorithm: the one place that both the script and what is seen without it take them from. */
enum page_term {
    TERM_SHARES,
    TERM_LEVEL_SHARE,
    TERM_LEVEL_USED,
    TERM_WHOLE_SHARE,
    TERM_WHOLE_USED,
    TERM_SHARE, /* as the algorithm has it, where that is neither of its level nor of the whole */
    TERM_USED,
    TERM_USAGE,
    TERM_SPENT,
    TERM_LEVEL_FS,
    TERM_FACTOR,
    TERM_PLACE,
    PAGE_TERMS,
};
/* The word for it in the JSON. */
const char *page_term_key(enum page_term term);
/* NULL: the page of this cluster has no such number. */
const char *page_term_name(const struct page_cluster *cluster, enum page_term term);
/* Add the sentence, as text. */
void page_term_explain(struct text *text, const struct page_cluster *cluster, enum page_term term);
/* What usage is counted in, as the page shows it, and how many of the published units that is. */
const char *page_unit(const struct page_cluster *cluster);
double page_unit_size(const struct page_cluster *cluster);
const char *page_algorithm(const struct page_cluster *cluster);

#endif

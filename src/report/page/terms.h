/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_TERMS_H
#define FAIRMILL_REPORT_PAGE_TERMS_H

struct page_cluster;
struct text;

/*
 * The names of a page's numbers and the sentences that explain them, in the scheduler's terminology
 * and for the cluster's algorithm.  The script and the page without scripts both use them.
 */
enum page_term {
    TERM_SHARES,
    TERM_LEVEL_SHARE,
    TERM_LEVEL_USED,
    TERM_WHOLE_SHARE,
    TERM_WHOLE_USED,
    TERM_SHARE, /* by the algorithm's definition, if it is neither of the two above */
    TERM_USED,
    TERM_USAGE,
    TERM_SPENT,
    TERM_LEVEL_FS,
    TERM_FACTOR,
    TERM_PLACE,
    PAGE_TERMS,
};
/* Returns the key of the term in the page's JSON. */
const char *page_term_key(enum page_term term);
/* Returns the name of the number, or NULL if the page of this cluster does not have this number. */
const char *page_term_name(const struct page_cluster *cluster, enum page_term term);
/* Adds the sentence that explains the number, as plain text. */
void page_term_explain(struct text *text, const struct page_cluster *cluster, enum page_term term);
/* Return the name of the unit of usage on the page, and the number of published units in it, such
 * as 3600 TRES-seconds in a TRES-hour. */
const char *page_unit(const struct page_cluster *cluster);
double page_unit_size(const struct page_cluster *cluster);
/* Returns the name that the page shows for the cluster's algorithm. */
const char *page_algorithm(const struct page_cluster *cluster);

#endif

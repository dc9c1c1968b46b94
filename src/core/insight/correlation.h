/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_CORRELATION_H
#define FAIRMILL_CORE_INSIGHT_CORRELATION_H

#include <stddef.h>
#include <stdint.h>

/* Rank correlation: the similarity of two orders of the same members.  Equal values are ties, and
 * tied members share a rank. */

/* The order of members by rank.  An ordering is sorted once and can be compared with many other
 * orderings. */
struct ordering {
    uint32_t *members; /* ascending by rank */
    /* Indexed by member: twice its mean rank, which is a whole number.  Tied members have the same
     * mean rank. */
    uint32_t *means;
    size_t count; /* below 2^31 */
};
/* Returns the ordering of `count` members by their ranks.  The caller frees it with
 * ordering_free(). */
struct ordering ordering_of(const uint32_t *ranks, size_t count);
void ordering_free(struct ordering *ordering);

/* Return a value from -1 (reversed order) to 1 (the same order), or NAN if all values of one
 * ordering are equal.  Both orderings must have the same number of members.  Spearman's coefficient
 * is Pearson's coefficient of the mean ranks (Kendall, Rank Correlation Methods, 3.8).  Kendall's
 * tau-b is (concordant - discordant) / sqrt(pairs untied in a * pairs untied in b). */
double spearman_of(const struct ordering *a, const struct ordering *b);
double kendall_of(const struct ordering *a, const struct ordering *b);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_CORRELATION_H
#define FAIRMILL_CORE_INSIGHT_CORRELATION_H

#include <stddef.h>
#include <stdint.h>

/* How alike two orders of the same members are.  Equal values are ties, and tied members share. */

/* Members by their ranks: sorted once, compared with many. */
struct ordering {
    uint32_t *members; /* ascending */
    uint32_t *means;   /* by member: twice its mean rank, a whole number; tied members share it */
    size_t count;      /* below 2^31 */
};
struct ordering ordering_of(const uint32_t *ranks, size_t count);
void ordering_free(struct ordering *ordering);

/* From -1 (turned round) to 1 (the same order); NAN where all values of one order are equal.
 * Spearman's is Pearson's, of the mean ranks (Kendall, Rank Correlation Methods, 3.8); tau-b is
 * (concordant - discordant) / sqrt(pairs untied in a x in b). */
double spearman_of(const struct ordering *a, const struct ordering *b);
double kendall_of(const struct ordering *a, const struct ordering *b);

#endif

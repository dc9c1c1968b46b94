/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_CORRELATION_H
#define FAIRMILL_CORE_CORRELATION_H

#include <stddef.h>
#include <stdint.h>

/* How alike two orders of the same members are.  Equal values are ties, and tied members share. */

/* Ranks as Fair Tree gives them: the highest value has `count`, equal ones have the same, and after
 * m of them the next is lower by m. */
void ranks_of(const double *values, size_t count, uint32_t *ranks);

/* From -1 (turned round) to 1 (the same order); NAN where all values of one order are equal. */
struct correlation {
    double spearman; /* Pearson's, of the mean ranks (Kendall, Rank Correlation Methods, 3.8) */
    double kendall;  /* tau-b: (concordant - discordant) / sqrt(pairs untied in a x in b) */
};
struct correlation correlation_of(const double *a, const double *b, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_LIST_H
#define FAIRMILL_RESULTS_DAY_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct day_sums;

/* Sums of one day by id, and the first that day_list_next_pair() has not returned yet. */
struct day_list {
    const struct day_sum *rows;
    size_t count, next;
};

/* A list of all sums, which holds until sums are added. */
struct day_list day_list_of(struct day_sums *sums);
/* The next pair of sums with the same id; either may be NULL.  False at the end. */
bool day_list_next_pair(struct day_list *old, struct day_list *new, const struct day_sum **one,
                        const struct day_sum **other);
/* Whether a sum has a row in the tables: it is above 0.  NULL has none. */
bool day_sum_has_row(const struct day_sum *sum);
/* Whether both are there and have the same sum. */
bool day_list_is_same(const struct day_sum *one, const struct day_sum *other);
/* Whether so few rows stay as they are, as on days with jobs that run, that it is cheaper to write
 * all of them again. */
bool day_list_most_differ(struct day_list old, struct day_list new);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_LIST_H
#define FAIRMILL_RESULTS_DAY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/usage/day_sums.h"
#include "results/kept.h"

/* Sums of one day by id, which hold until sums are added, and the first that day_list_next_pair()
 * has not returned yet. */
struct day_list {
    const struct day_sum *rows;
    size_t count, next;
};

struct day_list day_list_of(struct day_sums *sums);
/* The next pair of sums with the same id; either may be NULL.  False at the end. */
bool day_list_next_pair(struct day_list *old, struct day_list *new, const struct day_sum **one,
                        const struct day_sum **other);
/* Whether so few rows stay as they are, as on days with jobs that run, that it is cheaper to write
 * all of them again. */
bool day_lists_mostly_differ(struct day_list old, struct day_list new);

/* Whether both sums are there, and equal. */
bool day_sum_is_same(const struct day_sum *one, const struct day_sum *other);
/* Whether a sum has a row in the tables: it is above 0.  NULL has none. */
bool day_sum_has_row(const struct day_sum *sum);
/* A sum as TRES-seconds, which readers get. */
double day_tres_seconds(const struct wide *sum);

/* Add a row to what is kept of a day, and what is kept of all rows of a list. */
void day_sum_keep(struct kept_rows *kept, uint64_t id, const struct wide *sum);
struct kept_rows day_list_kept(const struct day_list *list);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_LIST_H
#define FAIRMILL_RESULTS_DAY_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct day_sum;
struct day_sums;

/* Sums of one day in order, and how far they were looked at. */
struct day_list {
    const struct day_sum *rows;
    size_t count, next;
};

/* All of them, which hold until sums are added. */
struct day_list day_list_of(struct day_sums *sums);
/* The next pair of sums with the same id; either may be NULL.  False at the end. */
bool day_list_next_pair(struct day_list *old, struct day_list *new, const struct day_sum **one,
                        const struct day_sum **other);
/* Whether both are there and have the same sum. */
bool day_list_is_same(const struct day_sum *one, const struct day_sum *other);
/* Where hardly a row stays as it is, as of days with jobs that run, all are better written anew. */
bool day_list_most_differ(struct day_list old, struct day_list new);

#endif

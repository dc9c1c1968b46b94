/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_ASSOCIATION_TIMES_H
#define FAIRMILL_CORE_TREE_ASSOCIATION_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "core/tree/association.h"

struct names;
struct association_history;

/*
 * The state of an association from a time on.  `row.deleted` is set if the association does not
 * exist from that time on.  Each row has the id of its parent.
 */
struct association_since {
    int64_t at; /* epoch seconds, or SINCE_EVER */
    struct association row;
};
#define SINCE_EVER INT64_MIN

/*
 * The states of all associations, in any order.  Each state of an association has a different time.
 */
struct association_times {
    struct names *names;
    uint32_t empty_name;
    struct association_since *rows;
    size_t count;
};

/* Appends a copy of `*row`. */
void association_times_add(struct association_times *times, const struct association_since *row);
/* Frees the rows, but not the names, which the caller owns.  Accepts zeroed `times`. */
void association_times_free(struct association_times *times);

/*
 * Appends each state that the evidence shows between the two runs of `history` and before `until`.
 * If there is no earlier run, the first state applies from SINCE_EVER on.  `associations` are the
 * current rows; names are numbers in their `names`.
 */
void association_times_of_past(const struct association_history *history, int64_t until,
                               const struct associations *associations,
                               struct association_times *times);

#endif

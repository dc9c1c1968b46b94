/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_STATEMENT_H
#define FAIRMILL_CORE_INSIGHT_STATEMENT_H

#include <stdint.h>

#include "core/fairshare/algorithm.h"
#include "core/tree/association_times.h"

struct error;

/*
 * Usage statements: entitlement and undecayed usage of each association in several periods.
 * Statements use the shares, parents and associations that existed at each time.
 *
 * Time is cut into slices: at the end of each period, and when shares or parents change or an
 * association is created or removed.  In each slice, an association's entitlement is its normalized
 * share of the delivered usage, or of the cluster's capacity.  Usage of an interval that overlaps
 * several slices is spread evenly over the interval.
 */

/* A finished period, or the total of all periods. */
struct statement_period {
    int64_t from, to;
    bool is_total;
    /* The tree of the last slice.  Also contains associations that no longer exist or do not exist
     * yet. */
    const struct tree *tree;
    /* Entitlement and usage in TRES-seconds, including descendants, indexed by node.  `due` is NAN
     * if neither the node nor a descendant had shares of its own in the period. */
    const double *due, *used;
};
typedef void statement_taker(void *context, const struct statement_period *period);

struct statement_options {
    const struct association_times *times;
    const struct fairshare_options *fairshare;
    /* Capacity in TRES.  If NAN, entitlement is a share of the delivered usage. */
    double capacity;
    int64_t from, to;
    int64_t (*end_of)(int64_t time); /* returns the end of the period that contains `time` */
    statement_taker *take; /* called for each period, and last for the total if there are several */
    void *context;
};

/* Starts a statement.  The data that `options` points to must outlive it.  The caller frees it with
 * statement_destroy(), which accepts NULL. */
struct statement *statement_create(const struct statement_options *options);
void statement_destroy(struct statement *statement);
/* Adds an association's usage between two times, in TRES-seconds.  Intervals must be added in
 * ascending order and must be equal or not overlap.  Usage outside the periods is ignored.  Usage
 * of an unknown association is added to the root.  Returns -1 on error. */
int statement_add(struct statement *statement, uint64_t association, int64_t from, int64_t to,
                  double used, struct error *err);
/* Finishes the statement after the last usage.  Returns -1 on error. */
int statement_end(struct statement *statement, struct error *err);

#endif

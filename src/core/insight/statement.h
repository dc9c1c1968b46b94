/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_STATEMENT_H
#define FAIRMILL_CORE_INSIGHT_STATEMENT_H

#include <stdint.h>

#include "core/fairshare/algorithm.h"
#include "core/tree/association_times.h"

struct error;

/* What was due to each association in each of some periods, and what it got: undecayed, with the
 * shares, parents and associations that there were meanwhile.
 *
 * Time is cut where a period ends, and where a share, a parent or the life of an association
 * changed.  In each slice what is due to an association is its normalized share of what all got in
 * that slice, or of what the cluster could deliver.  Use that reaches over several slices is spread
 * evenly over its time. */

/* A period that is over, or all of them together. */
struct statement_period {
    int64_t from, to;
    bool is_total;
    const struct tree *tree; /* of its last slice; who is gone, or not there yet, is in it too */
    /* By node, with all below.  `due` is NAN of those that never had shares of their own in the
     * period, and have nobody below who had. */
    const double *due, *used;
};
typedef void statement_taker(void *context, const struct statement_period *period);

struct statement_options {
    const struct association_times *times;
    const struct fairshare_options *fairshare;
    double capacity; /* TRES that could be delivered; NAN: what is due is of what was delivered */
    int64_t from, to;
    int64_t (*end_of)(int64_t time); /* where the period ends that an instant is in */
    statement_taker *take;           /* gets each period, the total last if there are several */
    void *context;
};

struct statement *statement_create(const struct statement_options *options);
void statement_destroy(struct statement *statement);
/* What an association used between two instants, in TRES-seconds.  No use begins before one that
 * was added earlier ends, unless both are of the same two instants.  What is outside of the periods
 * is left out.  Use of an association that is not known is the root's. */
int statement_add(struct statement *statement, uint64_t association, int64_t from, int64_t to,
                  double used, struct error *err);
/* Behind the last use. */
int statement_end(struct statement *statement, struct error *err);

#endif

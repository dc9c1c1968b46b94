/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_STATEMENT_H
#define FAIRMILL_REPORT_STATEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct answer;
struct names;
struct association_selection;
struct statement_period;
struct table_layout;
struct permissions;
struct terminology;

/* What `fairmill statement` prints of a cluster. */

struct statement_view {
    const char *cluster;
    int64_t from, to;
    const char *by;                                /* `month`, `week`, `day` */
    const struct names *names;                     /* of the periods' trees, UTF-8 */
    const struct permissions *permissions;         /* who is told */
    const struct association_selection *selection; /* of whom */
    const struct terminology *terms;
    const char *tres;    /* of sreport's; NULL: use is as fairshare was charged */
    bool of_capacity;    /* what is due; else it is of what was delivered */
    double scale;        /* what amounts are divided by */
    const char *unit;    /* in which they are then */
    int64_t shares_from; /* the first run that noted shares; INT64_MAX: none did */
    bool earlier_shares; /* whether the accounting database told of earlier ones */
    int64_t days_from;   /* the oldest day that is known; INT64_MAX: none is */
};

extern const struct table_layout statement_layout;
/* Begin the answer of a cluster. */
void statement_open(const struct statement_view *view, struct answer *answer);
/* Add the rows of a period. */
void statement_add_period(const struct statement_view *view, const struct statement_period *period,
                          struct answer *answer);

#endif

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

/* The output of `fairmill statement` for a cluster. */

struct statement_view {
    const char *cluster;
    int64_t from, to;                              /* epoch seconds */
    const char *by;                                /* `month`, `week`, `day` */
    const struct names *names;                     /* names in the periods' trees, UTF-8 */
    const struct permissions *permissions;         /* permissions of the requesting user */
    const struct association_selection *selection; /* associations to show */
    const struct terminology *terms;
    const char *tres;      /* the TRES whose usage is shown; NULL: the usage that was charged */
    bool of_capacity;      /* entitlement is a share of the capacity, not of delivered usage */
    double scale;          /* amounts are divided by it */
    const char *unit;      /* unit of the divided amounts, for JSON */
    const char *unit_text; /* unit of the divided amounts, for text output */
    const char *unit_definition; /* a sentence, or NULL */
    int64_t shares_from;         /* time of the first run that recorded shares; INT64_MAX: none */
    bool earlier_shares;         /* the accounting database had earlier shares */
    int64_t days_from;           /* the oldest day with usage; INT64_MAX: none */
};

extern const struct table_layout statement_layout;
/* Begins the output of a cluster with its title and facts. */
void statement_open(const struct statement_view *view, struct answer *answer);
/* Adds the rows of a period.  Only text output has the total of all periods. */
void statement_add_period(const struct statement_view *view, const struct statement_period *period,
                          struct answer *answer);

#endif

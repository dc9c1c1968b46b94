/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_STATEMENT_STATEMENT_DATA_H
#define FAIRMILL_COMMAND_STATEMENT_STATEMENT_DATA_H

#include "core/insight/statement.h"
#include "report/statement.h"
#include "results/association_times.h"
#include "results/usage_days.h"

struct published;
struct published_cluster;

/* The data of a cluster's statement.  Functions that return int return -1 on error. */
struct statement_data {
    struct published_cluster *cluster;
    struct usage_days days;
    struct association_times times;
    struct association_times_known known;
    int64_t days_from, from, to; /* from == to if there is no usage */
};

/* Request for a period: since = INT64_MIN is the start of the year in which the statement ends, and
 * until = INT64_MAX is the end of the recorded usage. */
struct statement_range {
    int64_t since, until;
    const char *tres; /* the stored name; NULL: the usage that was charged */
};

/* The caller calls statement_data_free() even on error. */
int statement_data_read(struct statement_data *data, struct published *published,
                        struct published_cluster *cluster, const struct statement_range *range,
                        struct error *err);
void statement_data_free(struct statement_data *data);

/* Computes the statement and calls `take` for each period; `end_of` and `capacity` are members of
 * struct statement_options. */
int statement_data_compute(const struct statement_data *data, double capacity,
                           int64_t (*end_of)(int64_t time), statement_taker *take, void *context,
                           struct error *err);

/* A unit of amounts. */
struct amount_unit {
    const char *name, *of_tres, *suffix;
    double seconds;
};
/* The units, hours first; ends with a NULL name. */
extern const struct amount_unit amount_units[];

/* Returns a view with everything except `by`, `permissions`, `selection` and `of_capacity`.
 * OpenPBS's charged usage is in a unit of its own.  `tres` and its unit are NULL for charged
 * usage. */
struct statement_view statement_data_view(const struct statement_data *data,
                                          const struct amount_unit *unit, const char *tres,
                                          const char *tres_unit);

#endif

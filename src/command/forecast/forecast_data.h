/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H
#define FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H

#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/insight/forecast.h"
#include "results/published.h"

/* What a forecast is made from, read from the accounting database: what was used until now, and
 * what was charged in the last week. */

/* The days that tell how it goes on. */
#define FORECAST_RATE_DAYS 7

struct forecast_data {
    const struct settings *settings;
    struct recorded_state recorded;
    struct computation present; /* where the accounting database is read; else */
    struct tree *own_tree;      /* the published one */
    struct forecast forecast;   /* without its entity and job */
};

/* Read it, for a forecast of so many seconds. */
int forecast_data_read(struct forecast_data *data, const struct source *source, uint64_t duration_s,
                       struct error *err);
/* Make it from published values, the usage of days and the ledger, where the accounting database is
 * not read.  Values are those of the run, to the last digits of a double; old usage that a later
 * run would leave out, far below these digits, stays.  ERROR_OTHER where no usage of days is kept.
 */
int forecast_data_published(struct forecast_data *data, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err);
/* Whose values are asked for: a node of its tree. */
void forecast_data_choose(struct forecast_data *data, uint32_t entity);
void forecast_data_free(struct forecast_data *data);

#endif

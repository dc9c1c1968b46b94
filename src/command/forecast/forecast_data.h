/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H
#define FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H

#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/insight/forecast.h"
#include "results/published.h"

/* The data for a forecast: the usage up to now, and the rates of the last week. */

/* The rates are means of this number of days. */
#define FORECAST_RATE_DAYS 7

struct forecast_data {
    const struct settings *settings;
    struct recorded_state recorded;
    struct computation present; /* set only if the accounting database is read */
    struct tree *own_tree;      /* built from the published tree, if `present` is not set */
    struct forecast forecast;   /* a forecast whose entity and job are not set */
};

/* Reads the data from the accounting database, for a forecast of `duration_s` seconds.  Returns -1
 * on error. */
int forecast_data_read(struct forecast_data *data, const struct source *source, uint64_t duration_s,
                       struct error *err);
/* Like forecast_data_read(), but uses the published values, daily usage and the ledger.  The values
 * equal the values of the run up to a double's last digits.  Old usage that a later run would omit
 * is kept, but is far below these digits.  Returns -1 with ERROR_OTHER if no daily usage is stored.
 */
int forecast_data_published(struct forecast_data *data, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err);
/* Selects the association to forecast, a node of the forecast's tree. */
void forecast_data_choose(struct forecast_data *data, uint32_t entity);
void forecast_data_free(struct forecast_data *data);

#endif

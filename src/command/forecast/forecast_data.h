/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FORECAST_DATA_H
#define FAIRMILL_COMMAND_FORECAST_DATA_H

#include "compute/prior.h"
#include "compute/compute.h"
#include "core/insight/forecast.h"

/* What a forecast is made from, read from the accounting database: what was used until now, and
 * what was charged in the last week. */

/* The days that tell how it goes on. */
#define FORECAST_RATE_DAYS 7

struct forecast_data {
    const struct settings *settings;
    struct prior prior;
    struct computation present;
    struct forecast forecast; /* without its entity and job */
};

/* Read it, for a forecast of so many seconds. */
int forecast_data_read(struct forecast_data *data, const struct source *source, uint64_t span_s,
                       struct error *err);
/* Whose values are asked for: a node of its tree. */
void forecast_data_choose(struct forecast_data *data, uint32_t entity);
void forecast_data_free(struct forecast_data *data);

#endif

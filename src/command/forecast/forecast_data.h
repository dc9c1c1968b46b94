/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H
#define FAIRMILL_COMMAND_FORECAST_FORECAST_DATA_H

#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/insight/forecast.h"

/* The data for a forecast from the accounting database: the usage up to now, and the rates of the
 * last FORECAST_RATE_DAYS days. */

struct forecast_data {
    const struct settings *settings;
    struct recorded_state recorded;
    struct computation present;
    struct forecast forecast; /* a forecast whose entity and job are not set */
};

/* Reads the data for a forecast of `duration_s` seconds.  Returns -1 on error. */
int forecast_data_read(struct forecast_data *data, const struct source *source, uint64_t duration_s,
                       struct error *err);
void forecast_data_free(struct forecast_data *data);

#endif

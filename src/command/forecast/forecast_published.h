/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FORECAST_PUBLISHED_H
#define FAIRMILL_COMMAND_FORECAST_PUBLISHED_H

#include "command/forecast/forecast_data.h"
#include "results/published.h"

/* What a forecast is made from where the accounting database is not read: published values, the
 * usage of days and the ledger.  Values are those of the run, to the last digits of a double; old
 * usage that a later run would leave out, far below these digits, stays.  ERROR_OTHER where no
 * usage of days is kept. */
int forecast_data_published(struct forecast_data *data, const struct published *published,
                            const struct published_cluster *cluster, uint64_t span_s,
                            struct error *err);

#endif

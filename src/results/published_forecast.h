/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_FORECAST_H
#define FAIRMILL_RESULTS_PUBLISHED_FORECAST_H

#include <stddef.h>
#include <stdint.h>

#include "core/insight/forecast.h"

struct error;
struct published;
struct published_cluster;

/*
 * A forecast from the published values, the stored daily usage and the ledger.  The rates are means
 * of the last FORECAST_RATE_DAYS days.
 */
#define FORECAST_RATE_DAYS 7

struct published_forecast; /* read for one cluster */

/* Reads the data for a forecast of `duration_s` seconds.  Sets `*forecast` to NULL if no daily usage
 * is stored.  Returns -1 on error. */
int published_forecast_read(struct published_forecast **forecast, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err);
void published_forecast_free(struct published_forecast *forecast);

/*
 * Computes the places of users at the end of each of `days` days, and now.  `nodes` are users of the
 * published tree.  Sets places[i * (days + 1) + day] for nodes[i]; 0: none.  With
 * PROJECTION_OTHERS, each user alone runs nothing.  Returns -1 on error.
 */
int published_forecast_places(struct published_forecast *forecast, enum projection projection,
                              const uint32_t *nodes, size_t count, size_t days, uint32_t *places,
                              struct error *err);

#endif

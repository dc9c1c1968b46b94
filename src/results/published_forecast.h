/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_FORECAST_H
#define FAIRMILL_RESULTS_PUBLISHED_FORECAST_H

#include <stddef.h>
#include <stdint.h>

#include "core/insight/forecast_places.h"

struct error;
struct published;
struct published_cluster;

/*
 * A forecast from the published values, the stored daily usage and the ledger.  The rates are means
 * of the last FORECAST_RATE_DAYS days.
 *
 * The values equal the values of the run up to a double's last digits.  Old usage that a later run
 * would omit is kept, but is far below these digits.
 */

struct published_forecast; /* read for one cluster */

/* Reads the data for a forecast of `duration_s` seconds.  Sets `*forecast` to NULL if no daily
 * usage is stored.  Returns -1 on error.  The cluster's tree must have been read, and `cluster`
 * must outlive the forecast. */
int published_forecast_read(struct published_forecast **forecast, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err);
/* Accepts NULL. */
void published_forecast_free(struct published_forecast *forecast);

/* Returns the forecast, whose entity and job are not set.  It has its own tree. */
struct forecast *published_forecast_get(struct published_forecast *forecast);

/* Computes the places of users on the next days (forecast_places()).  users->nodes are users of the
 * published tree.  Returns -1 on error. */
int published_forecast_places(struct published_forecast *forecast, enum projection projection,
                              const struct forecast_users *users, struct error *err);

#endif

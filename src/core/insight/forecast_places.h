/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_FORECAST_PLACES_H
#define FAIRMILL_CORE_INSIGHT_FORECAST_PLACES_H

#include "core/insight/forecast.h"

/* The places of many users on each of the next days.  The results are the same as from one forecast
 * for each user. */

#define FORECAST_WORK 5000000u
struct forecast_users {
    const uint32_t *nodes; /* users of the forecast's tree */
    size_t count, days;
    /* If the places are not found in the fast way (ties, other algorithms), at most about this
     * number of nodes is computed: about a million in a second.  0: FORECAST_WORK. */
    uint64_t work;
    /* Place of nodes[i] at the end of each day: places[i * (days + 1) + day]; day 0 is now.  0: no
     * place.  All places of a user are 0 if the computation would take too long. */
    uint32_t *places;
};

/* Sets users->places.  With PROJECTION_OTHERS, each of the users alone runs nothing.  Accepts only
 * this projection and PROJECTION_ALL.  Returns -1 on error. */
int forecast_places(struct forecast *forecast, enum projection projection,
                    const struct forecast_users *users, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#include "core/insight/forecast_places.h"

#include <stdlib.h>

#include "core/fairshare/level_order.h"
#include "core/tree/tree.h"
#include "util/memory.h"

#define DAY_S 86400u
/* For so few users of Fair Tree, their own forecasts are faster than sorting all levels. */
#define FEW_USERS 3

static uint32_t *forecast_place(const struct forecast_users *users, size_t user, size_t day)
{
    return &users->places[user * (users->days + 1) + day];
}

static int forecast_places_of_all(const struct forecast *forecast,
                                  const struct forecast_users *users, struct error *err)
{
    struct projected *projected = projected_begin(forecast, PROJECTION_ALL);
    int result = 0;
    for (size_t day = 0; !result && day <= users->days; day++) {
        uint32_t *places = NULL;
        result = projected_places(projected, forecast->now + day * DAY_S, &places, err);
        for (size_t i = 0; !result && i < users->count; i++)
            *forecast_place(users, i, day) = places[users->nodes[i]];
        free(places);
    }
    projected_end(projected);
    return result;
}

/* Finds the places of each user alone pausing, unless ties or other algorithms need more. */
static void forecast_places_find(const struct forecast *forecast,
                                 const struct forecast_users *users)
{
    struct projected *projected = projected_begin(forecast, PROJECTION_ALL);
    uint128 weight;
    for (size_t day = 0; day <= users->days; day++) {
        if (!projected_set_usage(projected, forecast->now + day * DAY_S, &weight))
            break;
        struct level_orders *orders = level_orders_create(forecast->tree, &forecast->options);
        for (size_t i = 0; i < users->count; i++) {
            struct wide less = { { 0 } };
            if (wide_add_product(&less, forecast->rates[users->nodes[i]], weight, false))
                *forecast_place(users, i, day) = level_orders_place(orders, users->nodes[i], &less);
        }
        level_orders_destroy(orders);
    }
    projected_end(projected);
}

/* Computes the places of one user that were not found yet. */
static int forecast_places_compute(struct forecast *forecast, const struct forecast_users *users,
                                   size_t user, struct error *err)
{
    uint32_t node = users->nodes[user];
    struct projected *projected = NULL;
    int result = 0;
    for (size_t day = 0; !result && day <= users->days; day++) {
        struct forecast_point point;
        uint32_t *place = forecast_place(users, user, day);
        if (*place)
            continue;
        if (!projected) {
            forecast_choose(forecast, node);
            projected = projected_begin(forecast, PROJECTION_OTHERS);
        }
        result = projected_at(projected, forecast->now + day * DAY_S, &point, err);
        if (!result)
            *place = place_of_rank(point.rank, forecast->tree->user_count);
    }
    if (projected)
        projected_end(projected);
    return result;
}

/* Returns the number of days for which the place of a user was not found. */
static size_t forecast_places_missing(const struct forecast_users *users, size_t user)
{
    size_t missing = 0;
    for (size_t day = 0; day <= users->days; day++)
        missing += !*forecast_place(users, user, day);
    return missing;
}

int forecast_places(struct forecast *forecast, enum projection projection,
                    const struct forecast_users *users, struct error *err)
{
    uint64_t work = 0, limit = users->work ? users->work : FORECAST_WORK;
    bool few = users->count <= FEW_USERS && forecast->options.conformance == CONFORMANCE_DOCUMENTS;
    if (projection == PROJECTION_ALL)
        return forecast_places_of_all(forecast, users, err);
    for (size_t i = 0; i < users->count * (users->days + 1); i++)
        users->places[i] = 0;
    if (forecast->algorithm->ranks_users && !few)
        forecast_places_find(forecast, users);
    for (size_t i = 0; i < users->count; i++) {
        work += forecast_places_missing(users, i) * forecast->tree->count;
        if (work <= limit || (few && forecast->algorithm->find_one)) {
            if (forecast_places_compute(forecast, users, i, err))
                return -1;
        } else if (forecast_places_missing(users, i)) {
            for (size_t day = 0; day <= users->days; day++)
                *forecast_place(users, i, day) = 0;
        }
    }
    return 0;
}

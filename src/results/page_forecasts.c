/* SPDX-License-Identifier: MIT */
#include "results/page_forecasts.h"

#include <stdlib.h>
#include <string.h>

#include "report/page/cluster.h"
#include "results/published_forecast.h"
#include "util/memory.h"

static int page_forecasts_by_row(const void *a, const void *b)
{
    const struct page_forecast *one = a, *other = b;
    return (one->row > other->row) - (one->row < other->row);
}

static void page_forecasts_sort(struct page_cluster *page)
{
    size_t kept = 0;
    for (size_t i = 0; i < page->forecast_count; i++)
        if (page->forecasts[i].pausing[0] && page->forecasts[i].continuing[0])
            page->forecasts[kept++] = page->forecasts[i];
    page->forecast_count = kept;
    if (kept)
        qsort(page->forecasts, kept, sizeof *page->forecasts, page_forecasts_by_row);
}

int page_forecasts_read(struct page_cluster *page, const uint32_t *nodes,
                        const struct published *published, const struct published_cluster *cluster,
                        struct error *err)
{
    static const enum projection projections[] = { PROJECTION_OTHERS, PROJECTION_ALL };
    struct published_forecast *forecast = NULL;
    size_t count = page->forecast_count, days = PAGE_DAYS + 1;
    uint32_t *places = memory_zeroed(count * days + 1, sizeof *places);
    const struct forecast_users users = {
        .nodes = nodes, .count = count, .days = PAGE_DAYS, .places = places
    };
    int result =
        published_forecast_read(&forecast, published, cluster, PAGE_DAYS * UINT64_C(86400), err);
    for (size_t k = 0; !result && forecast && k < 2; k++) {
        result = published_forecast_places(forecast, projections[k], &users, err);
        for (size_t i = 0; !result && i < count; i++)
            memcpy(k ? page->forecasts[i].continuing : page->forecasts[i].pausing,
                   &places[i * days], days * sizeof *places);
    }
    page_forecasts_sort(page);
    published_forecast_free(forecast);
    free(places);
    return result;
}

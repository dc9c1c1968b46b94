/* SPDX-License-Identifier: MIT */
#include "report/page/cluster.h"

const struct page_forecast *page_forecast_of(const struct page_cluster *cluster, uint32_t row)
{
    size_t low = 0, high = cluster->forecast_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cluster->forecasts[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cluster->forecast_count && cluster->forecasts[low].row == row
               ? &cluster->forecasts[low]
               : NULL;
}

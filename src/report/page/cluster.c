/* SPDX-License-Identifier: MIT */
#include "report/page/cluster.h"

/* Both lists are in ascending order of row. */

const struct page_budget *page_budgets_of(const struct page_cluster *cluster, uint32_t row,
                                          size_t *count)
{
    size_t first = 0;
    while (first < cluster->budget_count && cluster->budgets[first].row < row)
        first++;
    *count = 0;
    while (first + *count < cluster->budget_count && cluster->budgets[first + *count].row == row)
        ++*count;
    return *count ? &cluster->budgets[first] : NULL;
}

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

/* SPDX-License-Identifier: MIT */
#include "command/metrics/wait_samples.h"

#include <math.h>

#include "command/metrics/samples.h"
#include "report/waits.h"
#include "results/published.h"
#include "results/published_waits.h"
#include "util/calendar.h"

#define WAIT_DAYS 7

static double metrics_waits_quantile(const struct waits_row *row, double quantile)
{
    double seconds = wait_quantile(&row->counts, quantile);
    return isinf(seconds) ? WAIT_LONGEST_S : seconds;
}

static void metrics_waits_add_row(struct metrics *metrics, const char *cluster,
                                  const struct waits_row *row)
{
    const struct metric_labels labels = { .cluster = cluster,
                                          .partition = row->partition,
                                          .qos = row->qos };
    metrics_add(metrics, METRIC_STARTED_JOBS, &labels, (double)wait_counts_sum(&row->counts));
    metrics_add(metrics, METRIC_WAIT_MEDIAN, &labels, metrics_waits_quantile(row, 0.5));
    metrics_add(metrics, METRIC_WAIT_P90, &labels, metrics_waits_quantile(row, 0.9));
}

int metrics_waits_add(struct metrics *metrics, struct published *published,
                      const struct published_cluster *cluster, struct error *err)
{
    const struct waits_request request = {
        .from = calendar_start(CALENDAR_DAY, cluster->as_of, -(WAIT_DAYS - 1)),
        .to = calendar_end_of_day(cluster->as_of),
        .by = WAITS_BY_PARTITION | WAITS_BY_QOS,
        .without_correlation = true,
    };
    struct waits_list list = { 0 };
    int result = published_waits_read(published, cluster, &request, &list, err);
    for (size_t i = 0; !result && i < list.count; i++)
        metrics_waits_add_row(metrics, cluster->name, &list.rows[i]);
    waits_list_free(&list);
    return result;
}

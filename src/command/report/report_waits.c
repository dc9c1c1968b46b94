/* SPDX-License-Identifier: MIT */
#include "command/report/report_waits.h"

#include "core/usage/calendar.h"
#include "report/page/cluster.h"
#include "report/page/waits.h"
#include "results/published_waits.h"

static int64_t report_waits_end_of_week(int64_t time)
{
    return (int64_t)calendar_next_week((uint64_t)time);
}

int report_waits_read(struct page_waits *waits, struct published *published,
                      const struct published_cluster *cluster, struct page_cluster *page,
                      struct error *err)
{
    const struct waits_request partitions = {
        .from = page->from,
        .to = (int64_t)calendar_next_day((uint64_t)page->to),
        .by = WAITS_BY_PARTITION,
    };
    struct waits_request accounts = partitions, weeks = partitions;
    accounts.by = WAITS_BY_ACCOUNT;
    weeks.by = 0;
    weeks.end_of = report_waits_end_of_week;
    accounts.without_correlation = weeks.without_correlation = true;
    page->waits = waits;
    return published_waits_read(published, cluster, &partitions, &waits->partitions, err) ||
                   published_waits_read(published, cluster, &accounts, &waits->accounts, err) ||
                   published_waits_read(published, cluster, &weeks, &waits->weeks, err)
               ? -1
               : 0;
}

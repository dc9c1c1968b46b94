/* SPDX-License-Identifier: MIT */
#include "command/report/report_data.h"

#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"
#include "report/page/view.h"
#include "report/priorities.h"
#include "results/page_budgets.h"
#include "results/page_changes.h"
#include "results/page_fairness.h"
#include "results/page_forecasts.h"
#include "results/page_queue.h"
#include "results/page_units.h"
#include "results/page_usage.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

/* ---- The request ---- */

/* Finds the rows of the selected accounts, each of them once. */
static void find_tops(struct report_data *data, const struct name_list *accounts)
{
    const struct page_cluster *page = &data->page;
    data->tops = memory_zeroed(page->row_count, sizeof *data->tops);
    for (uint32_t i = 0; i < page->row_count; i++)
        if (accounts->count
                ? !*page->rows[i].user && name_list_wants(accounts, page->rows[i].account)
                : !i)
            data->tops[data->top_count++] = i;
}

static char *report_data_period_words(const struct page_cluster *page,
                                      const struct report_request *request)
{
    struct text words = { 0 };
    if (request->since != INT64_MIN || request->until != INT64_MAX) {
        amount_add_date(&words, page->from, 1);
        text_add(&words, " to ");
        amount_add_date(&words, page->to - 1, 1);
    } else if (request->days == 1) {
        text_add(&words, "last day");
    } else {
        text_format(&words, "last %d days", (int)request->days);
    }
    return words.bytes;
}

static int set_span(struct page_cluster *page, const struct report_request *request,
                    struct error *err)
{
    page->to = request->until < page->as_of ? request->until : page->as_of;
    page->from = request->since == INT64_MIN
                     ? calendar_start(CALENDAR_DAY, page->to, -(int)request->days)
                     : calendar_start(CALENDAR_DAY, request->since, 0);
    page->period = report_data_period_words(page, request);
    return page->from < page->to
               ? 0
               : fail(err, ERROR_USAGE,
                      "report: --since must be before the end of the shown period");
}

/* ---- Forecasts ---- */

/* Reads the forecasts of the users that a page lists: those with the most usage come first, because
 * the time for forecasts is limited. */
static int report_data_read_forecasts(struct report_data *data, const struct published *published,
                                      const struct published_cluster *cluster, bool each,
                                      struct error *err)
{
    struct page_cluster *page = &data->page;
    struct page_view view;
    page_view_make(&view, page, data->tops, data->top_count);
    size_t count =
        each || view.user_count < PAGE_USERS_LISTED ? view.user_count : PAGE_USERS_LISTED;
    uint32_t *nodes = memory_zeroed(count + 1, sizeof *nodes);
    page->forecasts = memory_zeroed(count + 1, sizeof *page->forecasts);
    page->forecast_count = count;
    for (size_t i = 0; i < count; i++) {
        page->forecasts[i].row = view.users[i];
        nodes[i] = data->nodes.nodes[view.users[i]];
    }
    int result = page_forecasts_read(page, nodes, published, cluster, err);
    page_view_free(&view);
    free(nodes);
    return result;
}

/* ---- All ---- */

static int report_data_read_all(struct report_data *data, struct published *published,
                                const struct published_cluster *cluster,
                                const struct report_request *request, struct error *err)
{
    struct page_cluster *page = &data->page;
    return set_span(page, request, err) ||
                   page_budgets_read(page, published, cluster, data->nodes.rows, err) ||
                   page_units_read(page, published->db, cluster, request->tres, err) ||
                   page_queue_read(page, data->queue, published, cluster, data->permissions, err) ||
                   page_usage_read(page, published, cluster, data->nodes.rows, err) ||
                   page_fairness_read(published->db, page, err) ||
                   page_changes_read(published->db, page, err) ||
                   (!page->hides_users &&
                    report_data_read_forecasts(data, published, cluster, request->each, err))
               ? -1
               : 0;
}

/* A page on a site with private data may be published, so it names no user.  Only a user with
 * limited permissions gets a page with what this user may see. */
static void report_data_set_privacy(struct report_data *data, const struct published *published)
{
    const struct permissions *permissions = &published->permissions;
    struct page_cluster *page = &data->page;
    bool is_private = published_private(published) != 0;
    bool limited = permissions_are_limited_on(permissions, page->name, PRIVATE_ALL);
    page->hides_users = page->hides_jobs = is_private;
    data->permissions = is_private && limited ? permissions : NULL;
}

int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, const struct report_request *request,
                     struct error *err)
{
    *data = (struct report_data){
        .page = { .name = cluster->name,
                  .algorithm = cluster->algorithm,
                  .time_zone = cluster->time_zone,
                  .problems = "",
                  .as_of = cluster->as_of,
                  .terms = terminology_of(cluster->settings),
                  .half_life = (int64_t)cluster->half_life },
        .queue = published_job_list(cluster),
    };
    data->page.by_formula = data->queue->of_formula;
    report_data_set_privacy(data, published);
    if (published_read_tree(published, cluster, err))
        return -1;
    report_rows_add(&data->page, &data->nodes, cluster, data->permissions);
    find_tops(data, request->accounts);
    return data->top_count ? report_data_read_all(data, published, cluster, request, err) : 0;
}

void report_data_free(struct report_data *data)
{
    struct page_cluster *page = &data->page;
    prio_list_destroy(data->queue);
    report_nodes_free(&data->nodes);
    page_queue_free(page);
    page_units_free(page);
    page_usage_free(page);
    page_budgets_free(page);
    for (size_t i = 0; i < page->change_count; i++)
        free(page->changes[i].words);
    free(page->period);
    free(page->forecasts);
    free(page->changes);
    free(page->rows);
    free(data->tops);
}

/* SPDX-License-Identifier: MIT */
#include "command/report/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/usage/calendar.h"
#include "report/amounts.h"
#include "report/page/view.h"
#include "report/priorities.h"
#include "report/usage_unit.h"
#include "results/page_budgets.h"
#include "results/page_changes.h"
#include "results/page_fairness.h"
#include "results/page_forecasts.h"
#include "results/page_queue.h"
#include "results/page_usage.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "results/published_waits.h"
#include "results/tres_names.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

/* ---- The request ---- */

static void report_data_add_top(struct report_data *data, uint32_t row)
{
    for (size_t i = 0; i < data->top_count; i++)
        if (data->tops[i] == row)
            return;
    *memory_append(&data->tops, &data->top_count) = row;
}

static void find_tops(struct report_data *data, const struct name_list *accounts)
{
    if (!accounts->count)
        report_data_add_top(data, 0);
    for (size_t i = 0; i < accounts->count; i++) {
        uint32_t row = report_row_of_account(&data->page, accounts->values[i]);
        if (row != INDEX_NONE)
            report_data_add_top(data, row);
    }
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
    page->from = request->since == INT64_MIN ? waits_day_before(page->to, (int64_t)request->days)
                                             : (int64_t)calendar_day((uint64_t)request->since);
    page->period = report_data_period_words(page, request);
    return page->from < page->to
               ? 0
               : fail(err, ERROR_USAGE,
                      "report: --since must be before the end of the shown period");
}

/* ---- Units and amounts ---- */

static void report_data_add_unit(struct page_cluster *page, const struct page_unit *unit)
{
    *memory_append(&page->units, &page->unit_count) = *unit;
}

static void report_data_add_charged_unit(struct report_data *data,
                                         const struct published_cluster *cluster)
{
    const char *pbs = published_unit(cluster);
    const char *hours = pbs ? pbs : usage_unit_page_hours(cluster->settings);
    report_data_add_unit(&data->page, &(struct page_unit){ .name = memory_text(""),
                                                           .hours = memory_text(hours),
                                                           .scale = pbs ? 1 : 1.0 / 3600 });
    if (!pbs)
        usage_unit_add_definition(&data->unit_definition, cluster->settings);
    data->page.unit_definition = data->unit_definition.bytes;
}

/* Adds the TRES whose usage is kept. */
static int report_data_add_units(struct report_data *data, struct db *db,
                                 const struct published_cluster *cluster, const char *chosen,
                                 struct error *err)
{
    struct page_cluster *page = &data->page;
    struct tres_numbers numbers = { 0 };
    report_data_add_charged_unit(data, cluster);
    int result = tres_names_read(db, page->name, &numbers, err);
    for (unsigned i = 0; !result && i < KEPT_TRES_LIMIT; i++) {
        if (!numbers.names[i])
            continue;
        struct text hours = { 0 };
        usage_unit_add_tres(&hours, numbers.names[i], "-hours");
        if (chosen && !strcasecmp(numbers.names[i], chosen))
            page->chosen_unit = page->unit_count;
        report_data_add_unit(page, &(struct page_unit){ .name = memory_text(numbers.names[i]),
                                                        .hours = hours.bytes,
                                                        .number = i + 1,
                                                        .scale = 1.0 / 3600 });
    }
    tres_numbers_free(&numbers);
    return result;
}

/* Returns the usage that a day can deliver, in the page's unit, from the capacity of the newest
 * run, or NAN if unknown.  Without decay, only the settings can contain the capacity. */
static double capacity_of(const struct page_cluster *page, const struct published_cluster *cluster)
{
    const struct settings *settings = cluster->settings;
    double whole = (double)cluster->half_life * settings->capacity_half_lives;
    double each = settings->capacity > 0 ? settings->capacity
                  : whole > 0            ? cluster->options.capacity / whole
                                         : NAN;
    return each * 86400 * page->units[0].scale;
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
    if (set_span(page, request, err) ||
        report_data_add_units(data, published->db, cluster, request->tres, err))
        return -1;
    page->capacity = capacity_of(page, cluster);
    return page_queue_read(page, data->queue, published, cluster, data->permissions, err) ||
                   page_usage_read(page, published, cluster, data->nodes.rows, err) ||
                   page_fairness_read(published->db, page, err) ||
                   page_budgets_read(page, published, cluster, data->nodes.rows, err) ||
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
    page_usage_free(page);
    page_budgets_free(page);
    text_free(&data->unit_definition);
    for (size_t i = 0; i < page->unit_count; i++) {
        free(page->units[i].name);
        free(page->units[i].hours);
    }
    for (size_t i = 0; i < page->change_count; i++)
        free(page->changes[i].words);
    free(page->period);
    free(page->units);
    free(page->forecasts);
    free(page->changes);
    free(page->rows);
    free(data->tops);
}

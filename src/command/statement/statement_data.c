/* SPDX-License-Identifier: MIT */
#include "command/statement/statement_data.h"

#include "core/usage/decay_table.h"
#include "report/usage_unit.h"
#include "results/published.h"
#include "results/tres_days.h"
#include "settings/scheduler.h"
#include "util/calendar.h"
#include "util/index.h"

const struct amount_unit amount_units[] = { { "hours", "TRES-hours", "-hours", 3600 },
                                            { "minutes", "TRES-minutes", "-minutes", 60 },
                                            { "seconds", "TRES-seconds", "-seconds", 1 },
                                            { NULL, NULL, NULL, 0 } };

/* Sets the period of a cluster's statement. */
static int statement_data_find_span(struct statement_data *data, struct db *db,
                                    const struct statement_range *range, struct error *err)
{
    const char *name = data->cluster->name;
    int64_t known;
    data->days = (struct usage_days){ db, name, .of_tres = range->tres != NULL };
    if ((range->tres && tres_days_number(db, name, range->tres, &data->days.number, err)) ||
        usage_days_reach(&data->days, &known, &data->days_from, err))
        return -1;
    if (!known)
        return 0;
    data->to = range->until < known ? calendar_start(CALENDAR_DAY, range->until, 0) : known;
    data->from = range->since == INT64_MIN ? calendar_start(CALENDAR_YEAR, data->to - 1, 0)
                                           : calendar_start(CALENDAR_DAY, range->since, 0);
    if (data->from > data->to)
        data->from = data->to;
    return 0;
}

int statement_data_read(struct statement_data *data, struct published *published,
                        struct published_cluster *cluster, const struct statement_range *range,
                        struct error *err)
{
    *data = (struct statement_data){ .cluster = cluster, .times.names = names_create() };
    return statement_data_find_span(data, published->db, range, err) ||
                   association_times_read(published, cluster, &data->times, &data->known, err)
               ? -1
               : 0;
}

void statement_data_free(struct statement_data *data)
{
    if (data->times.names)
        names_destroy(data->times.names);
    association_times_free(&data->times);
}

/* Reads the usage month by month, because rows are printed while a query runs, and a database may
 * cancel long queries. */
static int statement_data_add_use(const struct statement_data *data, struct statement *statement,
                                  struct error *err)
{
    int result = 0;
    for (int64_t from = data->from, until; !result && from < data->to; from = until) {
        until = calendar_end_of_month(from) < data->to ? calendar_end_of_month(from) : data->to;
        result = usage_days_add(statement, &data->days, from, until, err);
    }
    return result;
}

int statement_data_compute(const struct statement_data *data, double capacity,
                           int64_t (*end_of)(int64_t time), statement_taker *take, void *context,
                           struct error *err)
{
    struct decay_table *decay = decay_table_create(0, (uint64_t)data->to, 0);
    struct fairshare_options fairshare = data->cluster->options;
    fairshare.decay = decay;
    struct statement *statement = statement_create(&(const struct statement_options){
        .times = &data->times,
        .fairshare = &fairshare,
        .capacity = capacity,
        .from = data->from,
        .to = data->to,
        .end_of = end_of,
        .take = take,
        .context = context,
    });
    int result = statement_data_add_use(data, statement, err);
    if (!result)
        result = statement_end(statement, err);
    statement_destroy(statement);
    decay_table_destroy(decay);
    return result;
}

struct statement_view statement_data_view(const struct statement_data *data,
                                          const struct amount_unit *unit, const char *tres,
                                          const char *tres_unit)
{
    const struct published_cluster *cluster = data->cluster;
    const struct usage_unit *usage = usage_unit_of(cluster->settings);
    const char *pbs_unit = published_unit(cluster);
    struct statement_view view = {
        .cluster = cluster->name,
        .from = data->from,
        .to = data->to,
        .names = data->times.names,
        .terms = terminology_of(cluster->settings),
        .tres = tres,
        .shares_from = data->known.by_runs,
        .earlier_shares = data->known.by_source,
        .days_from = data->days_from,
        .scale = unit->seconds,
        .unit = unit->of_tres,
    };
    if (tres) {
        view.unit_text = tres_unit;
    } else if (pbs_unit) {
        view.scale = 1;
        view.unit = view.unit_text = pbs_unit;
    } else {
        view.unit_text = unit->seconds >= 3600 ? usage->hours
                         : unit->seconds >= 60 ? usage->minutes
                                               : usage->seconds;
        view.unit_definition = unit->seconds >= 3600 ? usage->definition : NULL;
    }
    return view;
}

/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_standing.h"

#include <string.h>

#include "core/tree/tree.h"
#include "report/budget.h"
#include "results/published.h"
#include "results/published_budgets.h"
#include "results/published_forecast.h"
#include "settings/scheduler.h"
#include "settings/settings.h"

#define DAY_S 86400u
#define EXPLAIN_WORK 1000000u

/* Reads the places of a user who runs nothing in the next days. */
static int explain_standing_read_places(struct explain_standing *standing,
                                        const struct published *published,
                                        const struct published_cluster *cluster, uint32_t node,
                                        struct error *err)
{
    struct published_forecast *forecast;
    if (cluster->associations > EXPLAIN_OUTLOOK_ASSOCIATIONS)
        return 0;
    if (published_forecast_read(&forecast, published, cluster, EXPLAIN_DAYS * DAY_S, err))
        return -1;
    if (!forecast)
        return 0;
    const struct forecast_users users = { .nodes = &node,
                                          .count = 1,
                                          .days = EXPLAIN_DAYS,
                                          .work = EXPLAIN_WORK,
                                          .places = standing->places };
    int result = published_forecast_places(forecast, PROJECTION_OTHERS, &users, err);
    standing->facts.pausing = standing->places;
    published_forecast_free(forecast);
    return result;
}

/* Reads the limit of the account that is reached first. */
static int explain_standing_read_budget(struct standing_facts *facts,
                                        const struct published *published,
                                        const struct published_cluster *cluster, uint32_t node,
                                        struct error *err)
{
    struct published all = *published;
    struct budget_rows list = { 0 };
    all.filter.names = (struct name_list){ 0 };
    int result = published_budgets_read(&all, cluster, NULL, &list, err);
    for (size_t i = 0; !result && i < list.count; i++) {
        const struct budget_row *row = &list.rows[i];
        if (strcmp(row->kind, "association") != 0 || row->id != cluster->tree->nodes[node].id)
            continue;
        if (row->exhausted_at && row->exhausted_at <= cluster->as_of)
            facts->budget_used_up = true;
        else if (row->exhausted_at &&
                 (!facts->budget_ends || row->exhausted_at < facts->budget_ends))
            facts->budget_ends = row->exhausted_at;
    }
    budget_rows_free(&list);
    return result;
}

int explain_standing_read(struct explain_standing *standing, const struct published *published,
                          const struct published_cluster *cluster, uint32_t node, struct error *err)
{
    *standing = (struct explain_standing){ 0 };
    standing->standings =
        cluster->is_part
            ? standings_create_part(cluster->tree, cluster->algorithm, cluster->values,
                                    cluster->places)
            : standings_create(cluster->tree, cluster->algorithm, cluster->values, cluster->order);
    standing->facts = (struct standing_facts){
        .standings = standing->standings,
        .algorithm = cluster->algorithm,
        .values = cluster->values,
        .names = cluster->names,
        .terms = terminology_of(cluster->settings),
        .as_of = cluster->as_of,
        .days = EXPLAIN_DAYS,
    };
    if (!published->db ||
        permissions_are_limited_on(&published->permissions, cluster->name, PRIVATE_ALL))
        return 0;
    return cluster->tree->nodes[node].is_user
               ? explain_standing_read_places(standing, published, cluster, node, err)
               : explain_standing_read_budget(&standing->facts, published, cluster, node, err);
}

void explain_standing_free(struct explain_standing *standing)
{
    standings_destroy(standing->standings);
    *standing = (struct explain_standing){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "command/report/report_data.h"

#include <stdlib.h>
#include <string.h>

#include "command/report/report_rows.h"
#include "report/job_place.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

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

int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, const struct report_request *request,
                     struct error *err)
{
    *data = (struct report_data){
        .page = { .name = cluster->name,
                  .algorithm = cluster->algorithm,
                  .time_zone = cluster->time_zone,
                  .hides_users = request->accounts_only,
                  .hides_jobs = request->accounts_only,
                  .problems = "",
                  .as_of = cluster->as_of,
                  .terms = terminology_of(cluster->settings),
                  .half_life = (int64_t)cluster->half_life },
        .queue = published_job_list(cluster),
    };
    struct id_index *places = id_index_create();
    int result = published_read_tree(published, cluster, err);
    if (!result) {
        report_rows_add(&data->page, cluster, places);
        find_tops(data, request->accounts);
    }
    id_index_destroy(places);
    return result;
}

void report_data_free(struct report_data *data)
{
    struct page_cluster *cluster = &data->page;
    prio_list_destroy(data->queue);
    free(cluster->rows);
    free(cluster->jobs);
    for (size_t i = 0; i < cluster->change_count; i++)
        free(cluster->changes[i].words);
    free(cluster->changes);
    free(data->tops);
}

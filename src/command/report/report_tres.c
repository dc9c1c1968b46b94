/* SPDX-License-Identifier: MIT */
#include "command/report/report_tres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "report/usage_unit.h"
#include "results/tres_names.h"
#include "util/memory.h"
#include "util/text.h"

int report_tres_begin(struct report_tres *tres, struct db *db, struct page_cluster *cluster,
                      const char *chosen, struct error *err)
{
    struct tres_numbers numbers = { 0 };
    int result = tres_names_read(db, cluster->name, &numbers, err);
    for (unsigned i = 0; !result && i < KEPT_TRES_LIMIT; i++) {
        if (!numbers.names[i])
            continue;
        struct text unit = { 0 };
        usage_unit_add_tres(&unit, numbers.names[i], "-hours");
        *memory_append(&cluster->tres, &cluster->tres_count) =
            (struct page_tres){ i + 1, memory_text(numbers.names[i]), unit.bytes };
    }
    tres_numbers_free(&numbers);
    for (size_t i = 0; chosen && i < cluster->tres_count; i++)
        if (!strcasecmp(cluster->tres[i].name, chosen))
            cluster->chosen_tres = &cluster->tres[i];
    tres->sums = memory_zeroed(cluster->row_count * cluster->tres_count + 1, sizeof *tres->sums);
    return result;
}

void report_tres_add(struct report_tres *tres, const struct page_cluster *cluster, uint32_t place,
                     const struct db_value *columns)
{
    if (*cluster->rows[place].user)
        place = cluster->rows[place].parent;
    double *sums = &tres->sums[place * cluster->tres_count];
    for (size_t i = 0; i < cluster->tres_count; i++)
        sums[i] += (double)db_value_integer(&columns[cluster->tres[i].number - 1], 0);
}

void report_tres_end_day(struct report_tres *tres, const struct page_cluster *cluster,
                         struct page_point *day)
{
    size_t count = cluster->tres_count;
    for (size_t row = cluster->row_count; row-- > 1;)
        for (size_t i = 0; i < count; i++)
            tres->sums[cluster->rows[row].parent * count + i] += tres->sums[row * count + i];
    day->tres = memory_zeroed(cluster->series_count * count + 1, sizeof *day->tres);
    for (size_t series = 0; series < cluster->series_count; series++)
        for (size_t i = 0; i < count; i++)
            day->tres[series * count + i] =
                (float)(tres->sums[cluster->series[series] * count + i] / 3600);
    memset(tres->sums, 0, cluster->row_count * count * sizeof *tres->sums);
}

void report_tres_free(struct report_tres *tres)
{
    free(tres->sums);
}

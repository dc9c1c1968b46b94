/* SPDX-License-Identifier: MIT */
#include "results/page_budgets.h"

#include <stdlib.h>
#include <string.h>

#include "report/budget.h"
#include "report/page/cluster.h"
#include "report/usage_unit.h"
#include "results/published_budgets.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define MINUTES_PER_HOUR 60

static int page_budgets_by_row(const void *a, const void *b)
{
    const struct page_budget *one = a, *other = b;
    if (one->row != other->row)
        return one->row < other->row ? -1 : 1;
    return strcmp(one->tres, other->tres);
}

static void page_budgets_add(struct page_cluster *page, const struct id_index *rows,
                             const struct budget_row *budget)
{
    uint32_t row = id_index_find(rows, (uint64_t)budget->id);
    struct text hours = { 0 };
    if (strcmp(budget->kind, "association") != 0 || row == INDEX_NONE ||
        page->rows[row].id != budget->id)
        return;
    usage_unit_add_tres(&hours, budget->tres, "-hours");
    *memory_append(&page->budgets, &page->budget_count) = (struct page_budget){
        .row = row,
        .tres = memory_text(budget->tres),
        .hours = hours.bytes,
        .limit = (double)budget->limit / MINUTES_PER_HOUR,
        .used = (double)budget->used / MINUTES_PER_HOUR,
        .running = (double)budget->running / MINUTES_PER_HOUR,
        .left = (double)budget->left / MINUTES_PER_HOUR,
        .ends = budget->exhausted_at,
    };
}

int page_budgets_read(struct page_cluster *page, struct published *published,
                      const struct published_cluster *cluster, const struct id_index *rows,
                      struct error *err)
{
    struct budget_rows list = { 0 };
    int result = published_budgets_read(published, cluster, NULL, &list, err);
    for (size_t i = 0; !result && i < list.count; i++)
        page_budgets_add(page, rows, &list.rows[i]);
    budget_rows_free(&list);
    if (page->budget_count)
        qsort(page->budgets, page->budget_count, sizeof *page->budgets, page_budgets_by_row);
    return result;
}

void page_budgets_free(struct page_cluster *page)
{
    for (size_t i = 0; i < page->budget_count; i++) {
        free(page->budgets[i].tres);
        free(page->budgets[i].hours);
    }
    free(page->budgets);
}

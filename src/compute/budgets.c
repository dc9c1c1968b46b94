/* SPDX-License-Identifier: MIT */
#include "compute/budgets.h"

#include <math.h>
#include <string.h>

#include "compute/computation.h"
#include "compute/tres_usage.h"
#include "source/tres_minutes.h"
#include "util/index.h"
#include "util/memory.h"

struct budget_list {
    struct budget *budgets;
    size_t count;
};

/* Sets `*minutes` to the limit of a TRES in a list `id=minutes,...`.  Returns false if it has none.
 */
static bool limit_of(const char *list, uint64_t tres, uint64_t *minutes)
{
    return list && tres_count(list, strlen(list), tres, minutes) == TRES_FOUND;
}

static void add_association_budgets(struct budget_list *list, const struct computation *computation,
                                    const struct association_limit *limit)
{
    const struct kept_tres *kept = &computation->tres->kept;
    const char *limits = names_text(computation->accounting->names, limit->grp_tres_mins);
    uint32_t node = tree_place(computation->tree, limit->id);
    uint64_t minutes;
    if (node == NO_NODE || computation->tree->nodes[node].id != limit->id)
        return;
    for (size_t k = 0; k < kept->count; k++)
        if (limit_of(limits, kept->tres[k].id, &minutes))
            *memory_append(&list->budgets, &list->count) = (struct budget){
                .node = node,
                .number = kept->tres[k].number,
                .tres = kept->tres[k].name,
                .limit_minutes = minutes,
                .used_s = tres_usage_of_node(computation->tres, node, k),
                .running_s = tres_minutes_running(computation->tres_minutes, node, k),
                .recent_rate = NAN,
            };
}

static void add_qos_budgets(struct budget_list *list, const struct computation *computation,
                            const struct qos_row *qos)
{
    const struct kept_tres *kept = &computation->tres->kept;
    uint64_t minutes;
    for (size_t k = 0; k < kept->count; k++)
        if (limit_of(qos->limits, kept->tres[k].id, &minutes))
            *memory_append(&list->budgets, &list->count) = (struct budget){
                .is_qos = true,
                .qos = qos->id,
                .qos_name = qos->name,
                .no_decay = qos->no_decay,
                .number = kept->tres[k].number,
                .tres = kept->tres[k].name,
                .limit_minutes = minutes,
                .used_s = tres_usage_of_qos(computation->tres, qos->id, k),
                .running_s = tres_minutes_running_in_qos(computation->tres_minutes, qos->id, k),
                .recent_rate = tres_rate_of_qos(computation->tres, qos->id, k),
            };
}

struct budget *budgets_of(const struct computation *computation, size_t *count)
{
    const struct accounting *accounting = computation->accounting;
    struct budget_list list = { 0 };
    for (size_t i = 0; computation->tres && i < accounting->limit_count; i++)
        add_association_budgets(&list, computation, &accounting->limits[i]);
    for (size_t i = 0; computation->tres && i < accounting->qos_count; i++)
        if (!accounting->qos[i].deleted)
            add_qos_budgets(&list, computation, &accounting->qos[i]);
    *count = list.count;
    return list.budgets;
}

/* SPDX-License-Identifier: MIT */
#include "core/insight/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/tree/tree.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Usage is published as doubles.  A difference below 2^-40 of the whole is treated as a rounding
 * error. */
#define DOUBTFUL_BITS 40

static struct association scenario_row_of(const struct scenario *scenario, const struct tree *tree,
                                          const struct node *node)
{
    const struct node *parent = node->parent == NO_NODE ? NULL : &tree->nodes[node->parent];
    return (struct association){
        .id = node->id,
        .parent_id = parent ? parent->id : 0,
        .account = node->account,
        .user = node->user,
        .partition = node->partition,
        .parent_account = parent ? parent->account : scenario->empty_name,
        .shares = node->shares,
        .order = node->order,
        .usage_is_set = node->usage_is_set,
    };
}

static bool is_doubtful(const struct wide *rest, const struct wide *whole)
{
    struct natural number = natural_of_wide(rest), all = natural_of_wide(whole);
    return natural_bits(&number) + DOUBTFUL_BITS < natural_bits(&all);
}

/* Returns every node's usage without its children's usage.  The caller frees the array. */
static struct wide *own_usage(const struct tree *tree, bool rolled_up)
{
    struct wide *own = memory_zeroed(tree->count, sizeof *own);
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = tree->nodes[i].usage;
    for (uint32_t i = 1; rolled_up && i < tree->count; i++)
        wide_subtract(&own[tree->nodes[i].parent], &tree->nodes[i].usage);
    for (uint32_t i = 0; rolled_up && i < tree->count; i++)
        if (!tree->nodes[i].is_user &&
            (wide_is_negative(&own[i]) || is_doubtful(&own[i], &tree->nodes[i].usage)))
            own[i] = (struct wide){ { 0 } };
    return own;
}

/* A row with its usage, for sorting. */
struct charged_row {
    struct association row;
    struct wide usage;
};

static int scenario_by_id(const void *a, const void *b)
{
    const struct charged_row *one = a, *other = b;
    return (one->row.id > other->row.id) - (one->row.id < other->row.id);
}

void scenario_create(struct scenario *scenario, const struct tree *tree, struct names *names,
                     bool rolled_up)
{
    *scenario = (struct scenario){
        .names = names,
        .empty_name = names_find(names, "", 0),
        .rows = memory_zeroed(tree->count, sizeof *scenario->rows),
        .usage = memory_zeroed(tree->count, sizeof *scenario->usage),
        .count = tree->count,
    };
    struct wide *own = own_usage(tree, rolled_up);
    struct charged_row *sorted = memory_zeroed(tree->count, sizeof *sorted);
    for (uint32_t i = 0; i < tree->count; i++)
        sorted[i] =
            (struct charged_row){ scenario_row_of(scenario, tree, &tree->nodes[i]), own[i] };
    qsort(sorted, tree->count, sizeof *sorted, scenario_by_id);
    for (size_t i = 0; i < scenario->count; i++) {
        scenario->rows[i] = sorted[i].row;
        scenario->usage[i] = sorted[i].usage;
    }
    free(sorted);
    free(own);
}

void scenario_free(struct scenario *scenario)
{
    free(scenario->rows);
    free(scenario->usage);
    *scenario = (struct scenario){ 0 };
}

size_t scenario_find(const struct scenario *scenario, uint32_t id)
{
    size_t low = 0, high = scenario->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scenario->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scenario->count && scenario->rows[low].id == id ? low : NO_ROW;
}

bool scenario_move(struct scenario *scenario, size_t account, size_t parent)
{
    struct association *moved = &scenario->rows[account];
    for (size_t at = parent; at != NO_ROW;
         at = scenario_find(scenario, scenario->rows[at].parent_id))
        if (at == account)
            return false;
    moved->parent_id = scenario->rows[parent].id;
    moved->parent_account = scenario->rows[parent].account;
    scenario->moved = true;
    return true;
}

static int charge_rows(const struct scenario *scenario, struct tree *tree, struct error *err)
{
    for (size_t i = 0; i < scenario->count; i++) {
        uint32_t id = scenario->rows[i].id;
        if (!wide_add(&tree->nodes[tree_place(tree, id)].usage, &scenario->usage[i]))
            return fail(err, ERROR_DATA,
                        "the usage of association %u is beyond the range of fairmill's integers",
                        id);
    }
    return 0;
}

int scenario_build(const struct scenario *scenario, struct tree **built, struct error *err)
{
    struct association *rows = memory_zeroed(scenario->count, sizeof *rows);
    struct findings *findings = findings_create();
    memcpy(rows, scenario->rows, scenario->count * sizeof *rows);
    int result = tree_build(built,
                            &(struct associations){ rows, scenario->count, scenario->names,
                                                    scenario->empty_name, false },
                            BAD_ROWS_FAIL, findings, err);
    if (!result && scenario->moved)
        tree_order_by_lineage(*built, scenario->names);
    if (!result && charge_rows(scenario, *built, err)) {
        tree_destroy(*built);
        result = -1;
    }
    free(rows);
    findings_destroy(findings);
    return result;
}

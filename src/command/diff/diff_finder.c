/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_finder.h"

#include <math.h>
#include <stdlib.h>

#include "compute/compute.h"
#include "core/fairshare/algorithm.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "report/sshare_print.h"
#include "results/published.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

static struct stage stage_create(uint32_t count)
{
    return (struct stage){ memory_zeroed(count, sizeof(double)),
                           memory_zeroed(count, sizeof(double)),
                           memory_zeroed(count, sizeof(double)) };
}

void stage_free(struct stage *stage)
{
    free(stage->usage);
    free(stage->fairshare);
    free(stage->level_fs);
}

uint32_t place_in_tree(const struct tree *tree, const struct node *node)
{
    uint32_t place = tree_place(tree, node->id);
    return place != NO_NODE && tree->nodes[place].id == node->id ? place : NO_NODE;
}

struct stage finder_stage_of(const struct finder *finder, const struct tree *tree,
                             const struct values *values)
{
    struct stage stage = stage_create(finder->tree->count);
    const struct algorithm *algorithm = finder->asked->cluster->algorithm;
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in_tree(tree, &finder->tree->nodes[i]);
        bool there = place != NO_NODE;
        stage.usage[i] = there ? values[place].usage_raw : 0;
        stage.fairshare[i] = there ? algorithm->factor(&values[place]) : NAN;
        stage.level_fs[i] = there ? values[place].level_fs : NAN;
    }
    return stage;
}

double stage_change(double from, double to)
{
    return isnan(from) || isnan(to) ? 0 : to - from;
}

void finder_explain(struct finder *finder, enum cause cause, struct stage stage)
{
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        uint32_t node = finder->match->nodes[i];
        row->usage.causes[cause] += stage_change(finder->last.usage[node], stage.usage[node]);
        row->fairshare.causes[cause] +=
            stage_change(finder->last.fairshare[node], stage.fairshare[node]);
    }
    stage_free(&finder->last);
    finder->last = stage;
}

int finder_compute(struct finder *finder, struct computation *computation, struct error *err)
{
    const struct diff_case *asked = finder->asked;
    const struct prior prior = { .ledger = finder->ledger, .factors = finder->notes.factors };
    struct source source =
        source_of(&finder->reduced.settings, asked->source, asked->cluster->name);
    source.instant = &asked->printed_at;
    source.ordered = true;
    *computation = computation_of(&source);
    return compute_cluster(computation, &prior, err);
}

int finder_build_tree(const struct finder *finder, bool printed, struct tree **tree,
                      struct error *err)
{
    const struct tree *base = finder->tree;
    struct association *rows = memory_zeroed(base->count, sizeof *rows);
    struct findings *findings = findings_create();
    uint32_t empty = names_find(finder->names, "", 0);
    for (uint32_t i = 0; i < base->count; i++) {
        const struct node *node = &base->nodes[i];
        const struct printed_row *row = finder->match->rows[i];
        bool changed = printed && i && row && row->has_shares;
        rows[i] = (struct association){
            .id = node->id,
            .parent_id = i ? base->nodes[node->parent].id : 0,
            .account = node->account,
            .user = node->user,
            .partition = node->partition,
            .parent_account = i && !node->is_user ? base->nodes[node->parent].account : empty,
            .shares = !changed             ? node->shares
                      : row->parent_shares ? SHARES_PARENT
                                           : printed_shares(row),
            .order = node->order,
            .usage_is_set = node->usage_is_set,
        };
    }
    int result =
        tree_build(tree, &(struct associations){ rows, base->count, finder->names, empty, true },
                   BAD_ROWS_FAIL, findings, err);
    findings_destroy(findings);
    free(rows);
    return result;
}

struct values *finder_values_with(const struct finder *finder, struct tree *tree, const double *own,
                                  struct error *err)
{
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].usage = (struct wide){ { 0 } };
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in_tree(tree, &finder->tree->nodes[i]);
        if (!clock_sum_of(finder->options.clock, own[i], &tree->nodes[place].usage)) {
            fail(err, ERROR_DATA, "a usage is beyond the range of our integers");
            return NULL;
        }
    }
    if (tree_roll_up_usage(tree, err))
        return NULL;
    struct values *values = memory_zeroed(tree->count, sizeof *values);
    fairshare_compute(tree, &finder->options, values);
    return values;
}

int finder_compute_stage(const struct finder *finder, struct tree *tree, struct stage *stage,
                         struct error *err)
{
    struct values *values = finder_values_with(finder, tree, finder->own, err);
    if (!values)
        return -1;
    *stage = finder_stage_of(finder, tree, values);
    free(values);
    return 0;
}

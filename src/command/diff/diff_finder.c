/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/compute.h"
#include "compute/stepped_usage.h"
#include "core/fairshare/algorithm.h"
#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "report/differences.h"
#include "report/sshare_print.h"
#include "results/published.h"
#include "settings/slurm/slurm_settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* A cap for open jobs, in seconds, that limits no job. */
#define NO_CAP (UINT64_C(1) << 40)

static bool drop_factors(struct charge_weights *weights)
{
    if (!weights->qos_factors.count && !weights->partition_factors.count)
        return false;
    weights->qos_factors = weights->partition_factors = (struct factor_list){ NULL, 0 };
    return true;
}

/* Reads the billing weights of slurm.conf into `whole`; the settings contain them only with charge
 * = auto or tres. */
static void read_billing(struct reduced_settings *reduced)
{
    struct error ignored;
    slurm_read_billing_weights(&reduced->whole, reduced->settings.slurm, &ignored);
}

/* Changes the settings so that billing is not truncated to an integer.  Returns false if usage does
 * not change: with charge = auto, and with charge = billing without weights, because Slurm then
 * bills CPUs. */
static bool bill_whole(struct reduced_settings *reduced)
{
    struct settings *settings = &reduced->settings;
    enum charge_basis charge = settings->charge;
    if (settings->slurm) {
        read_billing(reduced);
        settings->weights = reduced->whole;
    }
    bool weighted = settings->weights.weights.count || settings->weights.partition_weight_count;
    settings->charge = CHARGE_AUTO;
    if (settings->priority_flags & PRIORITY_MAX_TRES_GRES)
        settings->weights.weight_rule = WEIGHTS_MAX_TRES_GRES;
    else if (settings->priority_flags & PRIORITY_MAX_TRES)
        settings->weights.weight_rule = WEIGHTS_MAX_TRES;
    return charge != CHARGE_AUTO && (weighted || charge != CHARGE_BILLING);
}

static bool lift_caps(struct settings *settings, const struct findings *findings)
{
    if (!findings->kind[FINDING_JOB_CAPPED].seen && !settings->horizon_s)
        return false;
    settings->open_job_cap_s = NO_CAP;
    settings->horizon_s = 0;
    return true;
}

bool settings_without(struct reduced_settings *reduced, enum cause cause,
                      const struct findings *findings)
{
    struct settings *settings = &reduced->settings;
    bool was_there;
    switch (cause) {
    case CAUSE_FACTORS:
        return drop_factors(&settings->weights);
    case CAUSE_SUSPENDED:
        was_there = settings->suspended != SUSPENDED_CHARGED;
        settings->suspended = SUSPENDED_CHARGED;
        return was_there;
    case CAUSE_ROLLUP:
        was_there = settings->usage_source != USAGE_OF_JOBS;
        settings->usage_source = USAGE_OF_JOBS;
        return was_there;
    case CAUSE_BILLING:
        return bill_whole(reduced);
    case CAUSE_CAPS:
        return lift_caps(settings, findings);
    default:
        return false;
    }
}

static void diff_finder_add_unknown(struct differences *differences, const char *sentence)
{
    size_t count = 0;
    while (differences->unknown[count])
        count++;
    differences->unknown[count] = sentence;
}

void diff_note_unknown(struct differences *differences, const struct settings *settings,
                       bool has_source, double unattributed_usage)
{
    const struct charge_weights *weights = &settings->weights;
    if (!has_source) {
        diff_finder_add_unknown(
            differences, "without the accounting database, these causes cannot be distinguished:\n "
                         " age, ledger, factors, suspended, rollup, billing, caps, steps");
        return;
    }
    bool by_billing = settings->charge == CHARGE_AUTO || settings->charge == CHARGE_BILLING;
    if (by_billing && !settings->slurm && !weights->weights.count &&
        !weights->partition_weight_count)
        diff_finder_add_unknown(
            differences,
            "without a slurm.conf or tres_weights, the fraction truncated from billing is unknown");
    if (!settings->slurm)
        diff_finder_add_unknown(
            differences, "without a slurm.conf, the period is 300 s or the value of --period");
    if (settings->slurm && !slurm_enforces_limits(settings->slurm))
        diff_finder_add_unknown(
            differences, "limits are not enforced: slurmctld does not charge jobs for the time "
                         "after the last decay\n  cycle before their end; if cycles had other "
                         "times before a restart, this is up to a period\n  for each earlier job, "
                         "half a period on average, and is not included in steps");
    if (unattributed_usage > 0)
        diff_finder_add_unknown(differences,
                                "fairmill's values do not contain usage without an association");
}

/* An association and its names. */
struct named_node {
    const char *account, *user, *partition;
    uint32_t order, node;
};

static int diff_finder_by_name(const void *a, const void *b)
{
    const struct named_node *one = a, *other = b;
    int order = strcmp(one->account, other->account);
    order = order ? order : strcmp(one->user, other->user);
    if (!order && one->order != other->order)
        return one->order < other->order ? -1 : 1;
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

static struct named_node *sorted_names(const struct tree *tree, const struct names *names,
                                       bool ordered)
{
    struct named_node *list = memory_zeroed(tree->count, sizeof *list);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        list[i] =
            (struct named_node){ names_text(names, node->account), names_text(names, node->user),
                                 names_text(names, node->partition), ordered ? node->order : 0, i };
    }
    qsort(list, tree->count, sizeof *list, diff_finder_by_name);
    return list;
}

static int compare_name(const char *name, const char *printed, bool cut)
{
    return cut ? strncmp(name, printed, strlen(printed)) : strcmp(name, printed);
}

static bool diff_finder_is_named(const struct named_node *named, const struct printed_row *row)
{
    return !compare_name(named->account, row->account, row->account_cut) &&
           !compare_name(named->user, row->user, row->user_cut) &&
           (!row->partition || !strcmp(named->partition, row->partition));
}

/* Returns the index of the first association that does not sort before the row's account and user.
 * If the account is cut, the user is ignored. */
static uint32_t first_named(const struct named_node *list, uint32_t count,
                            const struct printed_row *row)
{
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = compare_name(list[middle].account, row->account, row->account_cut);
        if (!order && !row->account_cut)
            order = compare_name(list[middle].user, row->user, row->user_cut);
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Returns the row's shares, limited to the range of a tree's shares. */
static int32_t printed_shares(const struct printed_row *row)
{
    return row->shares < 0 ? 0 : row->shares > INT32_MAX ? INT32_MAX : (int32_t)row->shares;
}

static bool has_shares_of(const struct node *node, const struct printed_row *row)
{
    return !row->has_shares || (row->parent_shares ? node_has_parent_shares(node)
                                                   : node->shares == printed_shares(row));
}

/* Returns the association that the row describes, or NO_NODE.  Skips associations that earlier rows
 * describe. */
static uint32_t find_node(const struct printed_match *match, const struct named_node *list,
                          const struct tree *tree, const struct printed_row *row)
{
    if (row->id > 0) {
        uint32_t node = tree_place(tree, (uint64_t)row->id);
        bool there = node != NO_NODE && tree->nodes[node].id == row->id && !match->rows[node];
        return there ? node : NO_NODE;
    }
    uint32_t found = NO_NODE;
    for (uint32_t i = first_named(list, tree->count, row);
         i < tree->count && !compare_name(list[i].account, row->account, row->account_cut); i++) {
        uint32_t node = list[i].node;
        if (match->rows[node] || !diff_finder_is_named(&list[i], row))
            continue;
        if (has_shares_of(&tree->nodes[node], row))
            return node;
        found = found == NO_NODE ? node : found;
    }
    return found;
}

static const char *diff_finder_name_copy(struct differences *differences, const char *name)
{
    struct text text = { 0 };
    text_add(&text, "");
    text_add_as_utf8(&text, name, strlen(name));
    const char *copy = arena_copy(differences->texts, text.bytes, text.length);
    text_free(&text);
    return copy;
}

static void diff_finder_add_row(struct differences *differences, const struct tree *tree,
                                uint32_t node, const struct names *names)
{
    const struct node *at = &tree->nodes[node];
    differences->rows[differences->count++] = (struct compared_association){
        .id = at->id,
        .is_user = at->is_user,
        .account = diff_finder_name_copy(differences, names_text(names, at->account)),
        .user = diff_finder_name_copy(differences, names_text(names, at->user)),
        .partition = diff_finder_name_copy(differences, names_text(names, at->partition)),
    };
}

static void diff_finder_note_missing(struct differences *differences, const char *account,
                                     const char *user, bool printed)
{
    struct text text = { 0 };
    size_t *count = printed ? &differences->only_printed : &differences->only_ours;
    const char **first = printed ? &differences->first_only_printed : &differences->first_only_ours;
    text_format(&text, "%s%s%s", account, *user ? "/" : "", user);
    if (!(*count)++)
        *first = diff_finder_name_copy(differences, text.bytes);
    text_free(&text);
}

/* Records the associations that the output lacks and that the user may see. */
static void diff_finder_note_only_ours(const struct printed_match *match, const struct tree *tree,
                                       const struct names *names, struct differences *differences)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const char *user = names_text(names, tree->nodes[i].user);
        if (!match->rows[i] && (!differences->login || !*user || !strcmp(user, differences->login)))
            diff_finder_note_missing(differences, names_text(names, tree->nodes[i].account), user,
                                     false);
    }
}

/* Returns the row's fraction of the root's usage.  sshare leaves the field empty for the root,
 * whose fraction is 1. */
static struct printed_number part_of_root(const struct printed_row *row, uint32_t node)
{
    return node || printed_is_there(&row->norm_usage) ? row->norm_usage
                                                      : (struct printed_number){ 1, 1 };
}

/* Computes bounds of the root's usage from all rows.  Returns false if the output gives no upper
 * bound, or if the rows contradict each other. */
static bool bound_root(const struct printed_match *match, uint32_t count, double *low, double *high)
{
    *low = 0;
    *high = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (!match->rows[i])
            continue;
        struct printed_number part = part_of_root(match->rows[i], i);
        if (!(part.low > 0))
            continue;
        *low = fmax(*low, match->bounds[i].low / part.high);
        *high = fmin(*high, match->bounds[i].high / part.low);
    }
    return *low <= *high && isfinite(*high);
}

static void narrow_bounds(struct printed_match *match, uint32_t count)
{
    double root_low, root_high;
    if (!bound_root(match, count, &root_low, &root_high))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct usage_bounds *bounds = &match->bounds[i];
        if (!match->rows[i])
            continue;
        struct printed_number part = part_of_root(match->rows[i], i);
        double low = fmax(bounds->low, part.low * root_low);
        double high = fmin(bounds->high, part.high * root_high);
        if (low <= high)
            *bounds = (struct usage_bounds){ low, high };
    }
}

void printed_match_make(struct printed_match *match, const struct sshare_print *print,
                        const struct tree *tree, const struct names *names, bool ordered,
                        struct differences *differences)
{
    struct named_node *list = sorted_names(tree, names, ordered);
    match->rows = memory_zeroed(tree->count, sizeof *match->rows);
    match->bounds = memory_zeroed(tree->count, sizeof *match->bounds);
    match->nodes = memory_zeroed(print->count + 1, sizeof *match->nodes);
    differences->rows = memory_zeroed(print->count + 1, sizeof *differences->rows);
    differences->texts = arena_create();
    for (uint32_t i = 0; i < tree->count; i++)
        match->bounds[i] = (struct usage_bounds){ NAN, NAN };
    for (size_t i = 0; i < print->count; i++) {
        const struct printed_row *row = &print->rows[i];
        uint32_t node = find_node(match, list, tree, row);
        if (node == NO_NODE) {
            diff_finder_note_missing(differences, row->account, row->user, true);
            continue;
        }
        match->rows[node] = row;
        match->bounds[node] = (struct usage_bounds){ row->raw_usage.low, row->raw_usage.high };
        match->nodes[differences->count] = node;
        diff_finder_add_row(differences, tree, node, names);
    }
    diff_finder_note_only_ours(match, tree, names, differences);
    if (differences->algorithm->ranks_users)
        narrow_bounds(match, tree->count);
    free(list);
}

void printed_match_free(struct printed_match *match)
{
    free(match->rows);
    free(match->bounds);
    free(match->nodes);
}

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
    const struct recorded_state recorded = { .ledger = finder->ledger,
                                             .factors = finder->notes.factors };
    struct source source =
        source_of(&finder->reduced.settings, asked->source, asked->cluster->name);
    source.time = &asked->printed_at;
    source.ordered = true;
    *computation = computation_of(&source);
    return compute_cluster(computation, &recorded, err);
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
        if (!decay_table_sum_of(finder->options.decay, own[i], &tree->nodes[place].usage)) {
            fail(err, ERROR_DATA, "a usage value exceeds the range of fairmill's integers");
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

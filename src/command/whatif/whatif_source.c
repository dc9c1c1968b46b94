/* SPDX-License-Identifier: MIT */
#include "command/whatif/whatif_source.h"

#include <math.h>
#include <string.h>

#include "command/whatif/whatif_changes.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/fairshare/algorithm.h"
#include "core/fairshare/ratio.h"
#include "core/insight/scenario.h"
#include "core/priority/priority.h"
#include "core/priority/queue.h"
#include "report/priorities.h"
#include "report/sprio.h"
#include "report/whatif.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "run/run.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

static int compute_state(struct whatif_state *state, const struct scenario *scenario,
                         const struct published_cluster *cluster, const struct algorithm *algorithm,
                         struct error *err)
{
    *state = (struct whatif_state){ .algorithm = algorithm, .names = cluster->names };
    if (scenario_build(scenario, &state->tree, err) || tree_roll_up_usage(state->tree, err))
        return -1;
    state->values = memory_zeroed(state->tree->count, sizeof *state->values);
    fairshare_compute(state->tree, &cluster->options, state->values);
    state->order = order_of_all(state->tree, &cluster->options, algorithm, state->values);
    return 0;
}

/* The pending jobs, and the data on which their priorities depend. */
struct queue_view {
    const struct published_cluster *cluster;
    const struct whatif_state *states;
    struct prio_list *list;
    double weight[PRIO_PARTS]; /* weights after the changes */
};

/* Returns the association of a job, or NO_NODE.  The results do not contain a job's association,
 * but they contain its user, account and factor. */
static uint32_t whatif_source_association_of(const struct queue_view *view,
                                             const struct prio_row *row)
{
    const struct published_cluster *cluster = view->cluster;
    uint32_t account = names_find(cluster->names, row->account, strlen(row->account));
    uint32_t user = names_find(cluster->names, row->user, strlen(row->user));
    uint32_t found = NO_NODE;
    if (account == INDEX_NONE || user == INDEX_NONE)
        return NO_NODE;
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        const struct node *node = &cluster->tree->nodes[i];
        if (!node->is_user || node->account != account || node->user != user)
            continue;
        double factor =
            factor_of_jobs(cluster->algorithm, &cluster->options, node, &cluster->values[i]);
        bool fits = factor >= row->factor[PRIO_FAIRSHARE] && factor <= row->factor[PRIO_FAIRSHARE];
        const char *partition = names_text(cluster->names, node->partition);
        if (fits && (found == NO_NODE || !strcmp(partition, row->partition)))
            found = i;
    }
    return found;
}

static double factor_on(const struct queue_view *view, enum whatif_side side, uint32_t id)
{
    const struct whatif_state *state = &view->states[side];
    uint32_t place = tree_place(state->tree, id);
    if (place == NO_NODE || state->tree->nodes[place].id != id)
        return 0;
    double factor = factor_of_jobs(state->algorithm, &view->cluster->options,
                                   &state->tree->nodes[place], &state->values[place]);
    return isnan(factor) ? 0 : factor;
}

/* Returns the factor of a job's row after the changes.  Without a change, it is the published
 * factor. */
static double fairshare_after(const struct queue_view *view, const struct prio_row *row)
{
    uint32_t node = whatif_source_association_of(view, row);
    if (node == NO_NODE)
        return row->factor[PRIO_FAIRSHARE];
    uint32_t id = view->cluster->tree->nodes[node].id;
    double before = factor_on(view, BEFORE, id), after = factor_on(view, AFTER, id);
    return before < after || before > after ? after : row->factor[PRIO_FAIRSHARE];
}

static struct priority_parts whatif_source_parts_of(const double parts[PRIO_PARTS])
{
    return (struct priority_parts){ .age = parts[PRIO_AGE],
                                    .association = parts[PRIO_ASSOC],
                                    .fairshare = parts[PRIO_FAIRSHARE],
                                    .job_size = parts[PRIO_JOB_SIZE],
                                    .partition = parts[PRIO_PARTITION],
                                    .qos = parts[PRIO_QOS] };
}

/* The results do not contain the sum for TRES.  It is the priority minus the other components. */
static double tres_of(const struct prio_row *row)
{
    double rest = row->norm * PRIORITY_MAXIMUM;
    if (!*row->tres_weighted)
        return 0;
    for (enum prio_part part = 0; part < PRIO_PARTS; part++)
        rest -= row->weighted[part];
    return rest > 0 ? rest : 0;
}

static struct priority whatif_source_priority_after(const struct queue_view *view,
                                                    const struct prio_row *row)
{
    double weighted[PRIO_PARTS];
    bool same = true;
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        double factor = part == PRIO_FAIRSHARE ? fairshare_after(view, row) : row->factor[part];
        weighted[part] = factor * view->weight[part];
        same &= !(weighted[part] < row->weighted[part] || weighted[part] > row->weighted[part]);
    }
    struct priority priority = { .weighted = whatif_source_parts_of(weighted),
                                 .tres = tres_of(row) };
    priority_add_up(&priority, row->priority == 0);
    if (same) {
        priority.value = (uint32_t)row->priority;
        priority.norm = row->norm;
    }
    return priority;
}

static void whatif_source_add_jobs(struct whatif *whatif, const struct queue_view *view)
{
    const struct prio_list *list = view->list;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        struct priority after = whatif_source_priority_after(view, row);
        whatif_add_job_row(whatif, BEFORE, row, row->priority, row->norm);
        whatif_add_job_row(whatif, AFTER, row, after.value, after.norm);
    }
}

static int whatif_source_read_queue(struct whatif *whatif, struct db *results,
                                    const struct queue_view *view,
                                    const struct whatif_changes *changes, struct error *err)
{
    struct queue_view changed = *view;
    struct settings weights = *view->cluster->settings;
    if (published_jobs_read(results, view->list, NULL, err) || prio_list_sort(view->list, "i", err))
        return -1;
    changes_set(changes, &weights);
    changed.weight[PRIO_AGE] = (double)weights.weight_age;
    changed.weight[PRIO_ASSOC] = (double)weights.weight_assoc;
    changed.weight[PRIO_FAIRSHARE] = (double)weights.weight_fairshare;
    changed.weight[PRIO_JOB_SIZE] = (double)weights.weight_job_size;
    changed.weight[PRIO_PARTITION] = (double)weights.weight_partition;
    changed.weight[PRIO_QOS] = (double)weights.weight_qos;
    if (!view->list->of_formula) /* the value of a formula is not a sum of weighted factors */
        whatif_source_add_jobs(whatif, &changed);
    return 0;
}

static int compute_states(struct whatif_state states[SIDES], struct scenario *scenario,
                          const struct whatif_changes *changes,
                          const struct published_cluster *cluster, struct error *err)
{
    struct settings changed = { .algorithm = cluster->algorithm };
    changes_set(changes, &changed);
    if (compute_state(&states[BEFORE], scenario, cluster, cluster->algorithm, err) ||
        changes_make(changes, scenario, cluster->decay, err))
        return -1;
    return compute_state(&states[AFTER], scenario, cluster, changed.algorithm, err);
}

int whatif_from_results(struct whatif *whatif, struct db *results,
                        const struct whatif_changes *changes,
                        const struct published_cluster *cluster, struct error *err)
{
    struct whatif_state states[SIDES] = { { 0 } };
    struct scenario scenario;
    struct queue_view view = { cluster, states, published_job_list(cluster), { 0 } };
    scenario_create(&scenario, cluster->tree, cluster->names, true);
    int result = compute_states(states, &scenario, changes, cluster, err);
    if (!result) {
        whatif_compare(whatif, &states[BEFORE], &states[AFTER]);
        result = whatif_source_read_queue(whatif, results, &view, changes, err);
    }
    prio_list_destroy(view.list);
    scenario_free(&scenario);
    whatif_state_free(&states[BEFORE]);
    whatif_state_free(&states[AFTER]);
    return result;
}

/* The request, and the answer to fill. */
struct whatif_source_work {
    const struct settings *settings, *changed;
    const struct whatif_changes *changes;
    struct source source; /* the source for the time of the request */
    struct recorded_state recorded;
    struct whatif *whatif;
};

static void whatif_source_add_queue(struct whatif_source_work *work,
                                    const struct computation *computation, enum whatif_side side)
{
    if (!computation->queue)
        return;
    struct prio_list *list = prio_list_create(work->whatif->cluster, work->whatif->as_of);
    prio_list_add_queue(list, computation->queue, NULL, NULL);
    for (size_t i = 0; i < list->count; i++)
        whatif_add_job_row(work->whatif, side, &list->rows[i], list->rows[i].priority,
                           list->rows[i].norm);
    prio_list_destroy(list);
}

/* Moves the tree and its values from a computation to a state. */
static struct whatif_state state_of(struct computation *computation,
                                    const struct settings *settings)
{
    struct whatif_state state = { computation->tree, computation->values, computation->order,
                                  settings->algorithm, computation->accounting->names };
    computation->tree = NULL;
    computation->values = NULL;
    computation->order = NULL;
    return state;
}

static void create_scenario(struct scenario *scenario, const struct computation *computation)
{
    scenario_create(scenario, computation->tree, computation->accounting->names, false);
}

/* Reads the cluster with the changed settings, for the same time. */
static int read_after(const struct whatif_source_work *work, const int64_t *as_of,
                      struct computation *computation, struct error *err)
{
    struct source source = work->source;
    source.settings = work->changed;
    source.time = as_of;
    *computation = computation_of(&source);
    return compute_read(computation, &work->recorded, NULL, err);
}

/* Replaces the tree with the changed tree, and computes its values in the same way as a run. */
static int compute_changed(const struct whatif_source_work *work, struct computation *computation,
                           struct scenario *scenario, struct error *err)
{
    struct tree *tree;
    if (changes_make(work->changes, scenario, computation->decay, err) ||
        scenario_build(scenario, &tree, err))
        return -1;
    tree_destroy(computation->tree);
    computation->tree = tree;
    computation->source.settings = work->changed;
    return compute_values(computation, NULL, err);
}

static int whatif_source_compare(struct whatif_source_work *work, struct computation *before,
                                 struct computation *after, struct scenario *scenario,
                                 struct error *err)
{
    whatif_source_add_queue(work, before, BEFORE);
    struct whatif_state states[SIDES] = { state_of(before, work->settings) };
    int result = compute_changed(work, after, scenario, err);
    if (!result) {
        whatif_source_add_queue(work, after, AFTER);
        states[AFTER] = state_of(after, work->changed);
        whatif_compare(work->whatif, &states[BEFORE], &states[AFTER]);
    }
    whatif_state_free(&states[BEFORE]);
    whatif_state_free(&states[AFTER]);
    return result;
}

/* Reads and computes the cluster.  If the changes include a setting, reads and computes the cluster
 * again with the changed settings. */
static int compute_both(struct whatif_source_work *work, struct error *err)
{
    struct computation before, again, *after = &before;
    struct scenario scenario = { 0 };
    before = computation_of(&work->source);
    if (compute_read_current(&before, &work->recorded, err))
        return -1;
    create_scenario(&scenario, &before);
    int result = compute_values(&before, NULL, err);
    work->whatif->as_of = before.record.as_of;
    if (!result && changes_read_anew(work->changes)) {
        result = read_after(work, &before.record.as_of, &again, err);
        if (!result) {
            scenario_free(&scenario);
            create_scenario(&scenario, &again);
            after = &again;
        }
    }
    if (!result)
        result = whatif_source_compare(work, &before, after, &scenario, err);
    scenario_free(&scenario);
    computation_free(&before);
    if (after == &again)
        computation_free(&again);
    return result;
}

/* Settings that have their default value get the default of the changed conformance. */
static void set_defaults(struct settings *changed, const struct settings *settings)
{
    struct error ignored;
    for (size_t i = 0; settings_table[i].section; i++) {
        const struct setting *each = &settings_table[i];
        const char *fallback = setting_fallback(each, changed);
        if (settings->origins[i].from == FROM_DEFAULT &&
            fallback != setting_fallback(each, settings))
            setting_assign(each, changed, fallback, &ignored);
    }
}

int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err)
{
    struct settings changed = *settings;
    struct whatif_source_work work = {
        .settings = settings,
        .changed = &changed,
        .changes = changes,
        .whatif = whatif,
    };
    changes_set(changes, &changed);
    set_defaults(&changed, settings);
    changes_set(changes, &changed);
    struct db *db = NULL;
    int result = recorded_state_read(&work.recorded, settings, cluster, now, err);
    if (!result && !(result = run_open_source(&db, settings, err))) {
        work.source = source_of(settings, db, cluster);
        work.source.time = now;
        work.source.ordered = true;
        result = compute_both(&work, err);
    }
    recorded_state_free(&work.recorded);
    db_close(db);
    return result;
}

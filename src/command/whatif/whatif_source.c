/* SPDX-License-Identifier: MIT */
#include "command/whatif/whatif_source.h"

#include <stdlib.h>

#include "compute/prior.h"
#include "command/whatif/whatif_changes.h"
#include "compute/compute.h"
#include "core/priority/queue.h"
#include "core/insight/scenario.h"
#include "report/whatif.h"
#include "run/run.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"

/* The question, and where its answer goes. */
struct request {
    const struct settings *settings, *changed;
    const struct whatif_changes *changes;
    struct source source; /* as of the instant of the question */
    struct prior prior;
    struct whatif *whatif;
    struct id_index *jobs; /* by key: their places in the answer's list */
};

static struct whatif_job *find_or_add_job(struct request *request, const struct queue *queue,
                                          const struct priority_job *job)
{
    struct whatif *whatif = request->whatif;
    uint32_t place = id_index_add(request->jobs, job->key, (uint32_t)whatif->job_count);
    if (place != INDEX_NONE)
        return &whatif->jobs[place];
    struct whatif_job added = { .key = job->key, .id = job->id_job };
    added.user = whatif_text(whatif, names_text(queue->names, job->user));
    added.account = whatif_text(whatif, names_text(queue->names, job->account));
    added.partition[BEFORE] = added.partition[AFTER] = "";
    whatif_add_job(whatif, &added);
    return &whatif->jobs[whatif->job_count - 1];
}

struct row_context {
    struct request *request;
    const struct queue *queue;
    enum whatif_side side;
};

static int add_row(void *context, const struct queue_row *row, struct error *err)
{
    const struct row_context *at = context;
    (void)err;
    if (!row->best)
        return 0;
    struct whatif_job *job = find_or_add_job(at->request, at->queue, row->job);
    job->partition[at->side] = whatif_text(at->request->whatif, row->partition->name);
    job->priority[at->side] = row->priority.value;
    job->norm[at->side] = row->priority.norm;
    return 0;
}

static int add_queue(struct request *request, const struct computation *computation,
                     enum whatif_side side, struct error *err)
{
    struct row_context context = { request, computation->queue, side };
    return computation->queue ? queue_each(computation->queue, add_row, &context, err) : 0;
}

/* Take the tree and its values out of a computation. */
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

/* With other settings, as of the same instant. */
static int read_after(const struct request *request, const int64_t *as_of,
                      struct computation *computation, struct error *err)
{
    struct source source = request->source;
    source.settings = request->changed;
    source.instant = as_of;
    *computation = computation_of(&source);
    return compute_read(computation, &request->prior, NULL, err);
}

/* Put the changed tree in the place of the one that was read, and go on as every run does. */
static int compute_changed(const struct request *request, struct computation *computation,
                           struct scenario *scenario, struct error *err)
{
    struct tree *tree;
    if (changes_make(request->changes, scenario, computation->clock, err) ||
        scenario_build(scenario, &tree, err))
        return -1;
    tree_destroy(computation->tree);
    computation->tree = tree;
    computation->source.settings = request->changed;
    return compute_values(computation, NULL, err);
}

static int compare(struct request *request, struct computation *before, struct computation *after,
                   struct scenario *scenario, struct error *err)
{
    int result = add_queue(request, before, BEFORE, err);
    struct whatif_state states[SIDES] = { state_of(before, request->settings) };
    if (!result)
        result = compute_changed(request, after, scenario, err);
    if (!result)
        result = add_queue(request, after, AFTER, err);
    if (!result) {
        states[AFTER] = state_of(after, request->changed);
        whatif_compare(request->whatif, &states[BEFORE], &states[AFTER]);
    }
    whatif_state_free(&states[BEFORE]);
    whatif_state_free(&states[AFTER]);
    return result;
}

/* Read and compute the cluster as it is, and with other settings read it again. */
static int compute_both(struct request *request, struct error *err)
{
    struct computation before, again, *after = &before;
    struct scenario scenario = { 0 };
    before = computation_of(&request->source);
    if (compute_read_current(&before, &request->prior, err))
        return -1;
    create_scenario(&scenario, &before);
    int result = compute_values(&before, NULL, err);
    request->whatif->as_of = before.record.as_of;
    if (!result && changes_read_anew(request->changes)) {
        result = read_after(request, &before.record.as_of, &again, err);
        if (!result) {
            scenario_free(&scenario);
            create_scenario(&scenario, &again);
            after = &again;
        }
    }
    if (!result)
        result = compare(request, &before, after, &scenario, err);
    scenario_free(&scenario);
    computation_free(&before);
    if (after == &again)
        computation_free(&again);
    return result;
}

/* What was left to a default gets the one of the new conformance. */
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
    struct request request = {
        .settings = settings,
        .changed = &changed,
        .changes = changes,
        .whatif = whatif,
        .jobs = id_index_create(),
    };
    changes_set(changes, &changed);
    set_defaults(&changed, settings);
    changes_set(changes, &changed);
    struct db *db = NULL;
    int result = prior_read(&request.prior, settings, cluster, now, err);
    if (!result && !(result = run_open_source(&db, settings, err))) {
        request.source = source_of(settings, db, cluster);
        request.source.instant = now;
        request.source.ordered = true;
        result = compute_both(&request, err);
    }
    prior_free(&request.prior);
    db_close(db);
    id_index_destroy(request.jobs);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "compute/prior.h"
#include "command/whatif/whatif.h"
#include "command/whatif/whatif_changes.h"
#include "compute/compute.h"
#include "core/priority/queue.h"
#include "core/insight/scenario.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/whatif.h"
#include "run/run.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* What is computed, and handed to `whatif` as soon as it is. */
struct telling {
    struct whatif *whatif;
    enum whatif_side side;
    struct id_index *jobs; /* by key, their places in the list, of the side before */
};

static struct whatif_job *job_of(struct telling *telling, const struct queue *queue,
                                 const struct priority_job *job)
{
    struct whatif *whatif = telling->whatif;
    uint32_t place = id_index_add(telling->jobs, job->key, (uint32_t)whatif->job_count);
    if (place != INDEX_NONE)
        return &whatif->jobs[place];
    struct whatif_job added = { .key = job->key, .id = job->id_job };
    added.user = whatif_text(whatif, names_text(queue->names, job->user));
    added.account = whatif_text(whatif, names_text(queue->names, job->account));
    added.partition[BEFORE] = added.partition[AFTER] = "";
    whatif_add_job(whatif, &added);
    return &whatif->jobs[whatif->job_count - 1];
}

/* A queue's row, and the queue it is of. */
struct row_taker {
    struct telling *telling;
    const struct queue *queue;
};

static int take_row(void *context, const struct queue_row *row, struct error *err)
{
    struct row_taker *taker = context;
    enum whatif_side side = taker->telling->side;
    (void)err;
    if (!row->best)
        return 0;
    struct whatif_job *job = job_of(taker->telling, taker->queue, row->job);
    job->partition[side] = whatif_text(taker->telling->whatif, row->partition->name);
    job->priority[side] = row->priority.value;
    job->norm[side] = row->priority.norm;
    return 0;
}

static int tell_queue(struct telling *telling, const struct computation *computation,
                      struct error *err)
{
    struct row_taker taker = { telling, computation->queue };
    return computation->queue ? queue_each(computation->queue, take_row, &taker, err) : 0;
}

/* A tree and its values, taken from a computation. */
struct side {
    struct tree *tree;
    struct values *values;
};

static struct whatif_state take_side(struct side *side, struct computation *computation,
                                     const struct settings *settings)
{
    *side = (struct side){ computation->tree, computation->values };
    computation->tree = NULL;
    computation->values = NULL;
    return (struct whatif_state){ side->tree, side->values, settings->algorithm,
                                  computation->accounting->names };
}

static void side_free(struct side *side)
{
    tree_destroy(side->tree);
    free(side->values);
}

struct asked {
    const struct settings *settings, *changed;
    const struct whatif_changes *changes;
    struct source source; /* as of the instant that is asked for */
    struct prior prior;
};

static int read_state(const struct asked *asked, const struct source *source,
                      struct computation *computation, struct scenario *scenario, struct error *err)
{
    *computation = computation_of(source);
    if (compute_read(computation, &asked->prior, NULL, err))
        return -1;
    scenario_create(scenario, computation->tree, computation->accounting->names, false);
    return 0;
}

/* Put the changed tree in the place of the one that was read, and go on as every run does. */
static int compute_changed(const struct asked *asked, struct computation *computation,
                           struct scenario *scenario, struct error *err)
{
    struct tree *tree;
    if (changes_make(asked->changes, scenario, computation->clock, err) ||
        scenario_build(scenario, false, &tree, err))
        return -1;
    tree_destroy(computation->tree);
    computation->tree = tree;
    computation->source.settings = asked->changed;
    return compute_values(computation, NULL, err);
}

static int compare(const struct asked *asked, struct telling *telling, struct computation *before,
                   struct computation *after, struct scenario *scenario, struct error *err)
{
    struct side sides[SIDES] = { { NULL } };
    telling->side = BEFORE;
    int result = tell_queue(telling, before, err);
    struct whatif_state was = take_side(&sides[BEFORE], before, asked->settings);
    telling->side = AFTER;
    if (!result)
        result = compute_changed(asked, after, scenario, err);
    if (!result)
        result = tell_queue(telling, after, err);
    if (!result) {
        struct whatif_state is = take_side(&sides[AFTER], after, asked->changed);
        whatif_compare(telling->whatif, &was, &is);
    }
    side_free(&sides[BEFORE]);
    side_free(&sides[AFTER]);
    return result;
}

/* Read and compute what is; with other settings read again, as of the same instant. */
static int compute_both(const struct asked *asked, struct telling *telling, struct error *err)
{
    struct computation before, again, *after = &before;
    struct scenario scenario = { 0 };
    if (read_state(asked, &asked->source, &before, &scenario, err))
        return -1;
    int result = compute_values(&before, NULL, err);
    telling->whatif->as_of = before.record.as_of;
    if (!result && changes_read_anew(asked->changes)) {
        scenario_free(&scenario);
        struct source source = asked->source;
        source.settings = asked->changed;
        source.instant = &before.record.as_of;
        result = read_state(asked, &source, &again, &scenario, err);
        after = result ? after : &again;
    }
    if (!result)
        result = compare(asked, telling, &before, after, &scenario, err);
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
        const char *fallback = setting_fallback(each, changed->conformance);
        if (settings->origins[i].from == FROM_DEFAULT &&
            fallback != setting_fallback(each, settings->conformance))
            setting_assign(each, changed, fallback, &ignored);
    }
}

int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err)
{
    struct settings changed = *settings;
    struct asked asked = { .settings = settings, .changed = &changed, .changes = changes };
    struct telling telling = { whatif, BEFORE, id_index_create() };
    changes_set(changes, &changed);
    set_defaults(&changed, settings);
    changes_set(changes, &changed);
    struct db *db = NULL;
    int result = prior_read(&asked.prior, settings, cluster, now, err);
    if (!result && !(result = run_open_source(&db, settings, err))) {
        asked.source = source_of(settings, db, cluster);
        asked.source.instant = now;
        asked.source.ordered = true;
        result = compute_both(&asked, &telling, err);
    }
    prior_free(&asked.prior);
    db_close(db);
    id_index_destroy(telling.jobs);
    return result;
}

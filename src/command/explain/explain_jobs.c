/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "compute/charge.h"
#include "compute/compute.h"
#include "compute/prior.h"
#include "core/usage/clock.h"
#include "core/insight/top_jobs.h"
#include "core/insight/daily_usage.h"
#include "core/usage/ledger.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/explanation.h"
#include "results/ledger_rows.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

struct job_weights {
    struct charge_sink sink;
    uint32_t id; /* of the association */
    struct computation computation;
    bool *below; /* by node of its tree: whether jobs there count; made with the first job */
    struct top_jobs top_jobs;
    struct daily_usage days;
    struct clock *plain;
    struct suspensions suspensions; /* as they are walked through without decay */
    bool too_large;
    char *users[TOP_JOBS_KEPT];
    struct weights told;
};

static void find_below(struct job_weights *weights)
{
    const struct tree *tree = weights->computation.tree;
    uint32_t top = tree_place(tree, weights->id);
    weights->below = memory_zeroed(tree->count, sizeof *weights->below);
    for (uint32_t i = 0; i < tree->count; i++)
        weights->below[i] = i == top || (i && weights->below[tree->nodes[i].parent]);
}

static int take_charge(struct charge_sink *sink, const struct charge *charge, struct error *err)
{
    struct job_weights *weights = (struct job_weights *)sink;
    const struct job_row *row = charge->row;
    const struct charge_term *term = &charge->counted;
    const struct suspension *suspension = row->suspension;
    (void)err;
    if (!weights->below)
        find_below(weights);
    uint32_t place = tree_place(weights->computation.tree, row->association);
    if (place == NO_NODE || !weights->below[place])
        return 0;
    bool fits;
    const struct clock *clock = weights->computation.clock;
    if (suspension) {
        uint128 seconds = suspensions_weight(&weights->suspensions, weights->plain, suspension->key,
                                             term, suspension->start, suspension->end);
        struct charge_term part = *term;
        part.start = weights->suspensions.counted_from;
        part.end = weights->suspensions.counted_to;
        fits =
            top_jobs_suspend(&weights->top_jobs, row->id_job, row->job.time_start, term, seconds) &&
            daily_usage_add(&weights->days, weights->plain, clock, &part, true);
    } else {
        struct top_job record = { .id_job = row->id_job,
                                  .association = row->association,
                                  .start = row->job.time_start,
                                  .end = row->job.time_end };
        fits = top_jobs_add(&weights->top_jobs, weights->plain, term, record) &&
               daily_usage_add(&weights->days, weights->plain, clock, term, false);
    }
    weights->too_large |= !fits;
    return 0;
}

static void name_users(struct job_weights *weights)
{
    const struct tree *tree = weights->computation.tree;
    const struct names *names = weights->computation.accounting->names;
    for (size_t i = 0; i < weights->top_jobs.count; i++) {
        uint32_t place = tree_place(tree, weights->top_jobs.kept[i].association);
        const char *user = names_text(names, tree->nodes[place].user);
        struct text text = { 0 };
        text_add(&text, "");
        text_add_as_utf8(&text, user, strlen(user));
        weights->users[i] = text.bytes;
    }
    daily_usage_rank(&weights->days);
    weights->told = (struct weights){ &weights->top_jobs, &weights->days, weights->plain,
                                      weights->computation.clock, weights->users };
}

struct job_weights *job_weights_read(const struct settings *settings,
                                     const struct explained *explained, struct error *err)
{
    struct db *source;
    if (run_open_source(&source, settings, err))
        return NULL;
    struct job_weights *weights = memory_zeroed(1, sizeof *weights);
    weights->id = explained->input->tree->nodes[explained->explanation->one].id;
    /* From the beginning of time, so that it tells all that was used. */
    weights->plain = clock_create(0, (uint64_t)explained->as_of, 0);
    weights->sink.take = take_charge;
    struct source of = source_of(settings, source, explained->cluster);
    of.instant = &explained->as_of;
    weights->computation = computation_of(&of);
    weights->computation.watcher = &weights->sink;
    struct prior prior = { 0 };
    int result = ledger_look_up(settings, explained->cluster, &prior.ledger, err);
    if (!result)
        result = compute_cluster(&weights->computation, &prior, err);
    prior_free(&prior);
    db_close(source);
    if (!result && weights->too_large)
        result = fail(err, ERROR_DATA, "the usage of a job is beyond the range of our integers");
    if (!result) {
        name_users(weights);
        return weights;
    }
    job_weights_free(weights);
    return NULL;
}

const struct weights *job_weights_told(const struct job_weights *weights)
{
    return &weights->told;
}

void job_weights_free(struct job_weights *weights)
{
    if (!weights)
        return;
    computation_free(&weights->computation);
    top_jobs_free(&weights->top_jobs);
    daily_usage_free(&weights->days);
    clock_destroy(weights->plain);
    for (size_t i = 0; i < weights->top_jobs.count; i++)
        free(weights->users[i]);
    free(weights->below);
    free(weights);
}

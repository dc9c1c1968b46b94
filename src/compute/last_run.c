/* SPDX-License-Identifier: MIT */
#include "compute/last_run.h"

#include <stdlib.h>
#include <time.h>

#include "compute/compute.h"
#include "compute/seal_plan.h"
#include "core/finding.h"
#include "db/db.h"
#include "results/schema.h"
#include "source/layout.h"
#include "util/error.h"

int last_run_read(struct last_run *last, const struct source *source, struct db *results,
                  struct error *err)
{
    *last = (struct last_run){ .results = results,
                               .source_identity = db_identity(source->db, err),
                               .kept = { .findings = findings_create() } };
    if (last->source_identity && !seal_read(results, source->cluster, &last->kept, err))
        return 0;
    last_run_free(last);
    return -1;
}

void last_run_free(struct last_run *last)
{
    kept_seal_free(&last->kept);
    free(last->source_identity);
    *last = (struct last_run){ 0 };
}

/* The plan reads from the source what was not kept; then the kept sums are added from the results.
 */
static int read_with_plan(struct last_run *last, struct computation *computation,
                          const struct prior *prior, struct error *err)
{
    struct seal_plan plan = { .kept = &last->kept,
                              .source_identity = last->source_identity,
                              .publishes_nothing = true };
    int result = compute_read(computation, prior, &plan, err);
    if (!result && seal_plan_fold(&plan, computation, last->results, err)) {
        computation_free(computation);
        result = -1;
    }
    seal_plan_free(&plan);
    return result;
}

int last_run_compute_read(struct last_run *last, struct computation *computation,
                          const struct prior *prior, struct error *err)
{
    const struct source source = computation->source;
    int64_t now = source.instant ? *source.instant : time(NULL);
    if (last->kept.seal.kept && now >= (int64_t)last->kept.seal.as_of) {
        if (!read_with_plan(last, computation, prior, err))
            return 0;
        if (err->class != ERROR_DAMAGED)
            return -1;
        *computation = computation_of(&source);
    }
    return compute_read(computation, prior, NULL, err);
}

int compute_read_current(struct computation *computation, const struct prior *prior,
                         struct error *err)
{
    const struct source *source = &computation->source;
    struct last_run last;
    struct db *results;
    if (results_open(&results, source->settings, DB_READER, err))
        return err->class == ERROR_MISSING ? compute_read(computation, prior, NULL, err) : -1;
    int result = last_run_read(&last, source, results, err);
    if (result) {
        results_explain(source->settings, err);
    } else {
        result = last_run_compute_read(&last, computation, prior, err);
        last_run_free(&last);
    }
    db_close(results);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "compute/prior.h"

#include <time.h>

#include "core/tree/past.h"
#include "core/usage/factor_past.h"
#include "db/db.h"
#include "results/association_times.h"
#include "results/factor_rows.h"
#include "results/ledger_rows.h"
#include "results/schema.h"
#include "results/share_rows.h"
#include "util/error.h"

void prior_begin(struct prior *prior, const int64_t *now)
{
    past_destroy(prior->past);
    past_destroy(prior->unseen);
    factor_past_destroy(prior->factors);
    prior->unseen = NULL;
    prior->past = now && *now < time(NULL) ? past_create(*now) : NULL;
    prior->factors = factor_past_create();
}

int prior_read_notes(struct prior *prior, struct db *results, const char *cluster,
                     const int64_t *now, struct error *err)
{
    prior_begin(prior, now);
    if (factor_rows_read(results, cluster, prior->factors, err))
        return -1;
    return prior->past ? share_rows_read(results, cluster, prior->past, err) : 0;
}

/* So long may be between two runs without its changes being looked for in the source. */
#define UNSEEN_S 3600

int prior_read_unseen(struct prior *prior, struct db *results, const char *cluster,
                      const int64_t *now, struct error *err)
{
    int64_t instant = time(NULL), last; /* a run as of a later time sees the present, too */
    bool recorded;
    if (now && *now < instant)
        instant = *now;
    if (association_times_recorded(results, cluster, &recorded, err) ||
        share_rows_last(results, cluster, &last, err))
        return -1;
    if (recorded && (last == NEVER || instant - last <= UNSEEN_S))
        return 0;
    prior->unseen = past_create(recorded ? instant : NEVER);
    if (share_rows_read(results, cluster, prior->unseen, err))
        return -1;
    if (recorded && prior->unseen->before.at == NEVER) {
        past_destroy(prior->unseen);
        prior->unseen = NULL;
    }
    return 0;
}

static int read_all(struct prior *prior, struct db *results, const char *cluster,
                    const int64_t *now, struct error *err)
{
    return ledger_read(results, cluster, &prior->ledger, err) ||
                   prior_read_notes(prior, results, cluster, now, err)
               ? -1
               : 0;
}

int prior_read(struct prior *prior, const struct settings *settings, const char *cluster,
               const int64_t *now, struct error *err)
{
    struct db *results;
    *prior = (struct prior){ 0 };
    if (results_open(&results, settings, DB_READER, err)) {
        if (err->class != ERROR_MISSING)
            return -1;
        prior_begin(prior, now);
        prior->ledger = ledger_create();
        return 0;
    }
    /* A run that commits between two statements would look like rows that somebody changed. */
    int result = db_begin(results, err) ? -1 : read_all(prior, results, cluster, now, err);
    db_rollback(results);
    db_close(results);
    if (!result)
        return 0;
    prior_free(prior);
    return results_explain(settings, err);
}

void prior_free(struct prior *prior)
{
    ledger_destroy(prior->ledger);
    past_destroy(prior->past);
    past_destroy(prior->unseen);
    factor_past_destroy(prior->factors);
    *prior = (struct prior){ 0 };
}

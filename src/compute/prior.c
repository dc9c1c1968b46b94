/* SPDX-License-Identifier: MIT */
#include "compute/prior.h"

#include <time.h>

#include "core/tree/past.h"
#include "results/ledger_rows.h"
#include "results/schema.h"
#include "results/share_rows.h"

static int read_past(struct prior *prior, const struct settings *settings, const char *cluster,
                     int64_t now, struct error *err)
{
    struct db *results;
    if (results_open(&results, settings, DB_READER, err))
        return -1;
    prior->past = past_create(now);
    int result = share_rows_read(results, cluster, prior->past, err);
    db_close(results);
    return result ? results_explain(settings, err) : 0;
}

int prior_read(struct prior *prior, const struct settings *settings, const char *cluster,
               const int64_t *now, struct error *err)
{
    *prior = (struct prior){ 0 };
    int result = ledger_look_up(settings, cluster, &prior->ledger, err);
    if (!result && now && *now < time(NULL))
        result = read_past(prior, settings, cluster, *now, err);
    if (result)
        prior_free(prior);
    return result;
}

void prior_free(struct prior *prior)
{
    ledger_destroy(prior->ledger);
    past_destroy(prior->past);
    *prior = (struct prior){ 0 };
}

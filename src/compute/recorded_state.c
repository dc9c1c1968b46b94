/* SPDX-License-Identifier: MIT */
#include "compute/recorded_state.h"

#include <stdlib.h>

#include "core/tree/association_history.h"
#include "core/usage/factor_history.h"
#include "db/db.h"
#include "results/association_times.h"
#include "results/factor_rows.h"
#include "results/ledger_rows.h"
#include "results/schema.h"
#include "results/share_rows.h"
#include "results/tres_names.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"

void recorded_state_begin(struct recorded_state *recorded, const int64_t *now)
{
    association_history_destroy(recorded->history);
    association_history_destroy(recorded->unseen);
    factor_history_destroy(recorded->factors);
    recorded->unseen = NULL;
    recorded->history = now && *now < clock_now() ? association_history_create(*now) : NULL;
    recorded->factors = factor_history_create();
}

int recorded_state_read_records(struct recorded_state *recorded, struct db *results,
                                const char *cluster, const int64_t *now, struct error *err)
{
    recorded_state_begin(recorded, now);
    if (factor_rows_read(results, cluster, recorded->factors, err))
        return -1;
    return recorded->history ? share_rows_read(results, cluster, recorded->history, err) : 0;
}

int recorded_state_read_numbers(struct recorded_state *recorded, struct db *results,
                                const char *cluster, struct error *err)
{
    recorded->numbers = memory_zeroed(1, sizeof *recorded->numbers);
    return results ? tres_names_read(results, cluster, recorded->numbers, err) : 0;
}

/* The longest time between two runs for which changes are not read from the source. */
#define UNSEEN_S 3600

int recorded_state_read_unseen(struct recorded_state *prior, struct db *results,
                               const char *cluster, const int64_t *now, struct error *err)
{
    int64_t instant = clock_now(), last; /* a run for a future time reads the present state, too */
    bool recorded;
    if (now && *now < instant)
        instant = *now;
    if (association_times_recorded(results, cluster, &recorded, err) ||
        share_rows_last(results, cluster, &last, err))
        return -1;
    if (recorded && (last == NEVER || instant - last <= UNSEEN_S))
        return 0;
    prior->unseen = association_history_create(recorded ? instant : NEVER);
    if (share_rows_read(results, cluster, prior->unseen, err))
        return -1;
    if (recorded && prior->unseen->before.at == NEVER) {
        association_history_destroy(prior->unseen);
        prior->unseen = NULL;
    }
    return 0;
}

static int recorded_state_read_all(struct recorded_state *recorded, struct db *results,
                                   const char *cluster, const int64_t *now, struct error *err)
{
    return ledger_read(results, cluster, &recorded->ledger, err) ||
                   recorded_state_read_records(recorded, results, cluster, now, err)
               ? -1
               : 0;
}

int recorded_state_read(struct recorded_state *recorded, const struct settings *settings,
                        const char *cluster, const int64_t *now, struct error *err)
{
    struct db *results;
    *recorded = (struct recorded_state){ 0 };
    if (results_open(&results, settings, DB_READER, err)) {
        if (err->class != ERROR_MISSING)
            return -1;
        recorded_state_begin(recorded, now);
        recorded->ledger = ledger_create();
        return 0;
    }
    /* Reads in one transaction.  Otherwise, rows that a run commits between two statements would
     * look damaged. */
    int result =
        db_begin(results, err) ? -1 : recorded_state_read_all(recorded, results, cluster, now, err);
    db_rollback(results);
    db_close(results);
    if (!result)
        return 0;
    recorded_state_free(recorded);
    return results_explain(settings, err);
}

void recorded_state_free(struct recorded_state *recorded)
{
    ledger_destroy(recorded->ledger);
    association_history_destroy(recorded->history);
    association_history_destroy(recorded->unseen);
    factor_history_destroy(recorded->factors);
    if (recorded->numbers)
        tres_numbers_free(recorded->numbers);
    free(recorded->numbers);
    *recorded = (struct recorded_state){ 0 };
}

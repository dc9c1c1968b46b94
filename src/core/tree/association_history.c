/* SPDX-License-Identifier: MIT */
#include "core/tree/association_history.h"

#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"

/* This file collects the evidence; association_history_apply.c evaluates it. */

struct association_history *association_history_create(int64_t now)
{
    struct association_history *history = memory_zeroed(1, sizeof *history);
    history->now = now;
    history->names = names_create();
    history->before.at = history->after.at = history->log_start = history->distrusted = NEVER;
    return history;
}

void association_history_destroy(struct association_history *history)
{
    if (!history)
        return;
    names_destroy(history->names);
    free(history->before.rows);
    free(history->after.rows);
    free(history->changes);
    free(history->removals);
    free(history->account_removals);
    free(history->touches);
    free(history->modified);
    free(history);
}

static void forget_observations(struct observations *observations)
{
    free(observations->rows);
    *observations = (struct observations){ .at = NEVER };
}

void association_history_move(struct association_history *history, int64_t now)
{
    history->now = now;
    history->distrusted = NEVER;
    forget_observations(&history->before);
    forget_observations(&history->after);
}

void association_history_set_runs(struct association_history *history, int64_t before,
                                  int64_t after)
{
    history->before.at = before;
    history->after.at = after;
}

void association_history_observe(struct association_history *history,
                                 const struct observation *observation)
{
    struct observations *run =
        observation->at <= history->before.at ? &history->before : &history->after;
    if (observation->at > run->at)
        return;
    bool again = run->count && run->rows[run->count - 1].id == observation->id;
    *(again ? &run->rows[run->count - 1] : memory_append(&run->rows, &run->count)) = *observation;
}

void association_history_forget_source(struct association_history *history)
{
    history->account_removal_count = 0;
    history->count = history->removal_count = history->touch_count = history->modified_count = 0;
    history->log_start = NEVER;
}

void association_history_add(struct association_history *history, const struct change *change)
{
    history->changes = memory_grown(history->changes, history->count, sizeof *history->changes);
    history->changes[history->count] = *change;
    history->changes[history->count++].sequence = history->sequence++;
}

static void association_history_add_time(int64_t **times, size_t *count, int64_t at)
{
    *memory_append(times, count) = at;
}

void association_history_add_removal(struct association_history *history, int64_t at,
                                     bool of_account, uint32_t name)
{
    *memory_append(&history->removals, &history->removal_count) =
        (struct removal){ at, of_account, name, history->sequence++ };
    if (of_account)
        association_history_add_time(&history->account_removals, &history->account_removal_count,
                                     at);
}

void association_history_add_bulk_change(struct association_history *history, int64_t at)
{
    association_history_add_time(&history->touches, &history->touch_count, at);
}

void association_history_set_log_start(struct association_history *history, int64_t oldest)
{
    history->log_start = oldest;
}

void association_history_set_times(struct association_history *history, uint64_t id,
                                   int64_t created, int64_t modified)
{
    *memory_append(&history->modified, &history->modified_count) =
        (struct modified){ id, created, modified };
}

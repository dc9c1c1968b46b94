/* SPDX-License-Identifier: MIT */
#include "core/tree/past.h"

#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"

/* What is known of the past is gathered here; past_apply.c uses it. */

struct past *past_create(int64_t now)
{
    struct past *past = memory_zeroed(1, sizeof *past);
    past->now = now;
    past->names = names_create();
    past->before.at = past->after.at = past->reach = past->distrusted = NEVER;
    return past;
}

void past_destroy(struct past *past)
{
    if (!past)
        return;
    names_destroy(past->names);
    free(past->before.rows);
    free(past->after.rows);
    free(past->changes);
    free(past->removals);
    free(past->account_removals);
    free(past->touches);
    free(past->touched);
    free(past);
}

static void forget_sightings(struct sightings *sightings)
{
    free(sightings->rows);
    *sightings = (struct sightings){ .at = NEVER };
}

void past_move(struct past *past, int64_t now)
{
    past->now = now;
    past->distrusted = NEVER;
    forget_sightings(&past->before);
    forget_sightings(&past->after);
}

void past_set_runs(struct past *past, int64_t before, int64_t after)
{
    past->before.at = before;
    past->after.at = after;
}

void past_see(struct past *past, const struct sighting *sighting)
{
    struct sightings *run = sighting->at <= past->before.at ? &past->before : &past->after;
    if (sighting->at > run->at)
        return;
    bool again = run->count && run->rows[run->count - 1].id == sighting->id;
    if (!again) {
        run->rows = memory_grown(run->rows, run->count, sizeof *run->rows);
        run->count++;
    }
    run->rows[run->count - 1] = *sighting;
}

void past_forget_source(struct past *past)
{
    past->account_removal_count = 0;
    past->count = past->removal_count = past->touch_count = past->touched_count = 0;
    past->reach = NEVER;
}

void past_add(struct past *past, const struct change *change)
{
    past->changes = memory_grown(past->changes, past->count, sizeof *past->changes);
    past->changes[past->count] = *change;
    past->changes[past->count++].sequence = past->sequence++;
}

static void add_instant(int64_t **instants, size_t *count, int64_t at)
{
    *instants = memory_grown(*instants, *count, sizeof **instants);
    (*instants)[(*count)++] = at;
}

void past_add_removal(struct past *past, int64_t at, bool of_account, uint32_t name)
{
    past->removals = memory_grown(past->removals, past->removal_count, sizeof *past->removals);
    past->removals[past->removal_count++] =
        (struct removal){ at, of_account, name, past->sequence++ };
    if (of_account)
        add_instant(&past->account_removals, &past->account_removal_count, at);
}

void past_add_touch_of_all(struct past *past, int64_t at)
{
    add_instant(&past->touches, &past->touch_count, at);
}

void past_set_reach(struct past *past, int64_t oldest)
{
    past->reach = oldest;
}

void past_set_times(struct past *past, uint64_t id, int64_t created, int64_t modified)
{
    past->touched = memory_grown(past->touched, past->touched_count, sizeof *past->touched);
    past->touched[past->touched_count++] = (struct touched){ id, created, modified };
}

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
    past->seen_from = past->seen_until = past->reach = NEVER;
    return past;
}

void past_destroy(struct past *past)
{
    if (!past)
        return;
    names_destroy(past->names);
    free(past->changes);
    free(past->removals);
    free(past->touched);
    free(past);
}

void past_add(struct past *past, const struct change *change)
{
    past->changes = memory_grown(past->changes, past->count, sizeof *past->changes);
    past->changes[past->count] = *change;
    past->changes[past->count++].sequence = past->sequence++;
    if (change->kind == CHANGE_SEEN || change->kind == CHANGE_SEEN_GONE)
        past->run_count = past->count;
}

void past_set_seen(struct past *past, int64_t from, int64_t until)
{
    past->seen_from = from;
    past->seen_until = until;
}

void past_forget_source(struct past *past)
{
    past->count = past->run_count;
    past->removal_count = 0;
    past->touched_count = 0;
    past->reach = NEVER;
}

void past_add_removal(struct past *past, int64_t at, bool of_account, uint32_t name)
{
    past->removals = memory_grown(past->removals, past->removal_count, sizeof *past->removals);
    past->removals[past->removal_count++] =
        (struct removal){ at, of_account, name, past->sequence++ };
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

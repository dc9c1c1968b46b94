/* SPDX-License-Identifier: MIT */
#include "compute/reach.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>

#include "compute/computation.h"
#include "compute/sinks.h"
#include "core/usage/ledger.h"
#include "settings/settings.h"
#include "util/error.h"

static int make_stepped_clock(struct computation *computation, uint64_t now, uint64_t reset,
                              struct error *err)
{
    const struct clock_steps *steps = &computation->starts.steps;
    uint64_t count = clock_steps_count(steps, now, reset);
    if (count > CLOCK_STEPS_AT_MOST)
        return fail(err, ERROR_SETTINGS,
                    "fairshare_decay_time and fairshare_decay_factor have %" PRIu64
                    " steps count, and %" PRIu64 " is the most; [usage] decay = exact has no limit",
                    count, CLOCK_STEPS_AT_MOST);
    computation->clock = clock_create_stepped(steps, now, reset);
    return 0;
}

int reach_begin(struct computation *computation, uint64_t now, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct usage_starts *starts = &computation->starts;
    struct source source = computation->source;
    int64_t instant = (int64_t)now;
    source.instant = &instant;
    int result =
        source.layout->imported ? source.layout->imported->read_starts(&source, starts, err) : 0;
    uint64_t reset = last_reset(settings, computation->ledger, now);
    if (starts->instant > reset)
        reset = computation->ledger->cluster_reset = starts->instant;
    computation->record.half_life_s =
        settings->half_life_of_source ? starts->steps.half_life : settings->half_life_s;
    if (!result && settings->decay == DECAY_STEPS && settings->half_life_of_source)
        return make_stepped_clock(computation, now, reset, err);
    computation->clock = clock_create(computation->record.half_life_s, now, reset);
    return result;
}

/* The largest part of a value that jobs which were not read could have added.  Those that were
 * purged had ended before all that are there, and those beyond the horizon before that. */
static double truncation_bound(const struct settings *settings, const struct clock *clock,
                               uint64_t reset, uint64_t oldest_end)
{
    uint64_t now = clock_now(clock), last = oldest_end;
    if (settings->horizon_s && settings->horizon_s < now && last < now - settings->horizon_s)
        last = now - settings->horizon_s;
    if (last > now)
        return NAN;
    if (reset && last <= reset)
        return 0;
    return clock_half_life(clock) ? clock_left(clock, last) : NAN;
}

uint64_t reach_cutoff(const struct computation *computation)
{
    const struct settings *settings = computation->source.settings;
    uint64_t now = clock_now(computation->clock), oldest = clock_start(computation->clock);
    if (!settings->horizon_s || settings->horizon_s >= now)
        return oldest;
    uint64_t horizon = now - settings->horizon_s - 1; /* one that ended right on it is read */
    return horizon > oldest ? horizon : oldest;
}

void reach_note_seen(struct computation *computation, const struct jobs_seen *seen)
{
    const struct settings *settings = computation->source.settings;
    struct run_record *record = &computation->record;
    uint64_t now = clock_now(computation->clock);
    computation->first_charge = seen->first_charge;
    computation->first_behind_end = seen->first_behind_end;
    record->jobs_read = (int64_t)seen->count;
    record->truncation_bound =
        truncation_bound(settings, computation->clock,
                         last_reset(settings, computation->ledger, now), seen->oldest_end);
    record->source_newest = seen->newest ? (int64_t)seen->newest : -1;
    record->source_lag = seen->newest ? (int64_t)(now - seen->newest) : -1;
}

int reach_oldest_end(const struct computation *computation, uint64_t *oldest_end, struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t oldest, newest;
    if (!source->layout->past && !source->settings->horizon_s &&
        source->settings->reset_period.unit == RESET_NEVER && !computation->ledger->cluster_reset)
        return 0;
    if (source->layout->read_ends(source, 0, clock_now(computation->clock), &oldest, &newest, err))
        return -1;
    *oldest_end = oldest ? oldest : UINT64_MAX;
    return 0;
}

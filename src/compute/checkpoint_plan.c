/* SPDX-License-Identifier: MIT */
#include "compute/checkpoint_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/computation.h"
#include "compute/tres_usage.h"
#include "core/finding.h"
#include "core/usage/ledger.h"
#include "core/usage/usage.h"
#include "core/usage/usage_owners.h"
#include "results/day_waits.h"
#include "results/days.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/*
 * Increase this number if sums are computed or stored differently.  Stored checkpoints are then
 * invalid.
 */
#define CHECKPOINT_FORMAT 5

void checkpoint_plan_free(struct checkpoint_plan *plan)
{
    checkpoint_free(&plan->checkpoint);
    job_keys_free(&plan->open);
    job_keys_free(&plan->ended);
    usage_sums_destroy(plan->sums);
    usage_sums_destroy(plan->late);
    findings_destroy(plan->findings);
    day_hashes_free(&plan->hashes);
    day_hashes_free(&plan->checked);
    if (plan->days)
        day_waits_destroy(plan->days->waits);
    days_destroy(plan->days);
    text_free(&plan->cluster_identity);
    *plan = (struct checkpoint_plan){ .stored = plan->stored,
                                      .source_identity = plan->source_identity,
                                      .asked_full = plan->asked_full,
                                      .asked_now = plan->asked_now,
                                      .compares_all = plan->compares_all,
                                      .publishes_nothing = plan->publishes_nothing };
}

/*
 * Adds the stored lines about usage by TRES.  A run that publishes nothing does not use these sums,
 * so changes of the lines do not matter to it.
 */
static void add_stored_tres(const char *stored, struct text *basis)
{
    static const char *const names[] = { "tres ", "limited_qos " };
    for (; *stored; stored += strcspn(stored, "\n"), stored += *stored == '\n')
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strncmp(stored, names[i], strlen(names[i])))
                text_add_bytes(basis, stored, strcspn(stored, "\n") + 1);
}

/*
 * Returns text that contains everything that the sums depend on, except for the database and the
 * rows.  Each line is `name value`.  checkpoint_basis_within() adds the changes that affect only a
 * part of the time.  Settings have their own names.
 */
static char *basis_of(const struct checkpoint_plan *plan, const struct computation *computation)
{
    const char *cluster = plan->cluster_identity.bytes;
    const struct settings *settings = computation->source.settings;
    struct text basis = { 0 };
    text_format(&basis, "format %d\nrules %d\ncluster %s\n%s", CHECKPOINT_FORMAT, CHARGING_RULES,
                cluster, settings->charges);
    text_format(&basis, "time_zone %016" PRIx64 "\nhistory_days %" PRIu64 "\n", settings->zone,
                settings->history_days);
    if (plan->publishes_nothing && plan->stored->checkpoint.basis)
        add_stored_tres(plan->stored->checkpoint.basis, &basis);
    else
        tres_usage_add_basis(computation->tres, &basis);
    text_format(&basis, "grid %" PRIu64 "\n", decay_table_epoch(computation->decay));
    if (computation->accounting->tells_resized)
        text_format(&basis, "passes %" PRIu64 " %" PRIu64 "\n", slurm_pass_period(settings->slurm),
                    settings->checkpoint_after_s);
    return basis.bytes;
}

static bool full_because(struct checkpoint_plan *plan, const char *why, const char *what)
{
    size_t length = strlen(plan->why);
    snprintf(plan->why + length, sizeof plan->why - length, "%s%s%s%s", length ? "; " : "",
             what ? what : "", what ? " " : "", why);
    return true;
}

char *checkpoint_basis_within(const char *basis, const struct computation *computation,
                              uint64_t reach)
{
    struct text text = { 0 };
    uint64_t resets = ledger_resets_hash(computation->ledger, reach);
    uint64_t owners = usage_owners_hash(computation->owners, reach);
    const struct charge_rates *rates = computation->accounting->rates;
    text_add(&text, basis);
    if (rates)
        text_format(&text, "prices %016" PRIx64 "\n", charge_rates_hash(rates, reach));
    if (resets)
        text_format(&text, "resets %016" PRIx64 "\n", resets);
    if (owners)
        text_format(&text, "owners %016" PRIx64 "\n", owners);
    return text.bytes;
}

static void note_another_cluster(struct checkpoint_plan *plan, struct findings *findings)
{
    full_because(plan, "the checkpoint is of a different cluster with this name", NULL);
    findings_add(findings, FINDING_CLUSTER_IS_ANOTHER, 0, "now %s", plan->cluster_identity.bytes);
}

static bool basis_changed(struct checkpoint_plan *plan, const struct computation *computation)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    char *basis =
        checkpoint_basis_within(plan->checkpoint.basis, computation, checkpoint_reach(stored));
    char *name = checkpoint_basis_difference(stored->basis, basis);
    free(basis);
    if (!name)
        return false;
    if (!strcmp(name, "format"))
        full_because(plan, "the checkpoint has a different format", NULL);
    else if (!strcmp(name, "rules"))
        full_because(plan, "the charging rules changed with an upgrade", NULL);
    else if (!strcmp(name, "cluster"))
        note_another_cluster(plan, computation->findings);
    else if (!strcmp(name, "prices"))
        full_because(plan, "a factor or weight changed", NULL);
    else if (!strcmp(name, "tres") || !strcmp(name, "limited_qos"))
        full_because(plan, "the TRES to keep or the QOS with limits changed", NULL);
    else if (!strcmp(name, "passes"))
        full_because(plan, "the charges of resized jobs changed", NULL);
    else if (!strcmp(name, "grid"))
        full_because(plan, "the decay epoch advanced", NULL);
    else if (!strcmp(name, "time_zone"))
        plan->zone_changed = full_because(plan, "time_zone changed", NULL);
    else if (!strcmp(name, "resets"))
        full_because(plan, "ledger resets in the checkpointed period changed", NULL);
    else if (!strcmp(name, "owners"))
        full_because(plan, "removals of associations in the checkpointed period changed", NULL);
    else
        full_because(plan, "changed in the settings", name);
    free(name);
    return true;
}

/* Rollups begin and end at a full hour or, in some time zones, at a half hour. */
#define ROLLUP_STEP_S 1800

/*
 * Returns true if the cutoff has passed rollups that are in the stored sums.  These rollups cannot
 * be subtracted, because the source may have different rollups by now.
 */
static bool passed_rollups(struct checkpoint_plan *plan)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    uint64_t before = stored->cutoff / ROLLUP_STEP_S, now = plan->checkpoint.cutoff / ROLLUP_STEP_S;
    if (stored->jobs_from <= stored->cutoff || now <= before)
        return false;
    return full_because(plan, "the horizon passed checkpointed rollups", NULL);
}

/* Returns true if the stored checkpoint is no longer valid, and records why. */
static bool is_untrue(struct checkpoint_plan *plan, const struct computation *computation,
                      uint64_t now)
{
    const struct stored_checkpoint *stored = plan->stored;
    if (stored->damaged)
        return full_because(plan, "rows of the checkpoint are not as they were stored", NULL);
    if (!stored->checkpoint.kept)
        return full_because(plan, "the first run", NULL);
    if (stored->ahead)
        return full_because(plan, "this time is earlier than the checkpoint's time", NULL);
    if (now < stored->checkpoint.as_of)
        return full_because(plan, "the clock was set back", NULL);
    if (strcmp(stored->checkpoint.source, plan->checkpoint.source) != 0)
        return full_because(plan, "the checkpoint is of a different accounting database", NULL);
    if (basis_changed(plan, computation))
        return true;
    if (computation->factors && computation->factors->undated)
        return full_because(plan, "a usage factor changed at an unknown time", NULL);
    /* If the cutoff has passed the stored newest end, the two ends cannot be compared. */
    if (plan->checkpoint.newest_end < stored->checkpoint.newest_end &&
        stored->checkpoint.newest_end > plan->checkpoint.cutoff)
        return full_because(
            plan, "the accounting database was restored: its newest job is older than before",
            NULL);
    /* If the reset is not before the checkpoint time, no checkpointed usage remains, and
     * checkpoint_plan_decide() begins new sums. */
    if (plan->checkpoint.start != stored->checkpoint.start &&
        plan->checkpoint.start < stored->checkpoint.checkpointed_to)
        return full_because(plan, "a reset in the checkpointed period", NULL);
    return false;
}

/*
 * Sets `*purged` to true if the oldest checkpointed row is missing.  If there is an older row, it
 * arrived late or was restored from an archive, and the next full run includes it.
 */
static int look_for_purge(struct checkpoint_plan *plan, const struct source *source, uint64_t now,
                          bool *purged, struct error *err)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    uint64_t oldest, newest;
    *purged = false;
    if (stored->oldest_end == UINT64_MAX)
        return 0;
    if (source->layout->read_ends(source, stored->cutoff, now, &oldest, &newest, err))
        return -1;
    if (oldest == 0 || oldest > stored->oldest_end)
        *purged = full_because(plan, "the oldest jobs were purged", NULL);
    return 0;
}

/*
 * Without decay, the cluster's capacity depends on the time of the first usage.  If the cutoff has
 * passed the first usage, the time of the usage after it is unknown.
 */
static bool lost_first_use(struct checkpoint_plan *plan, const struct settings *settings)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    if (settings->half_life_s || plan->checkpoint.start ||
        stored->oldest_end > plan->checkpoint.cutoff)
        return false;
    return full_because(plan, "the horizon passed the first usage", NULL);
}

static void checkpoint_plan_decide(struct checkpoint_plan *plan, const struct settings *settings,
                                   uint64_t now, bool untrue)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    bool gone = stored->checkpointed_to <= plan->checkpoint.cutoff + 1;
    if (plan->stored->ahead || (plan->publishes_nothing && (untrue || *plan->stored->doubt))) {
        plan->mode = CHECKPOINT_UNUSED;
    } else if (untrue) {
        plan->mode = CHECKPOINT_FULL;
    } else if (*plan->stored->doubt) {
        full_because(plan, plan->stored->doubt, NULL);
        plan->mode = gone ? CHECKPOINT_FULL : CHECKPOINT_VERIFY;
    } else if (plan->asked_full) {
        plan->mode = gone ? CHECKPOINT_FULL : CHECKPOINT_VERIFY;
    } else if (!plan->publishes_nothing && now - stored->full_as_of >= settings->full_every_s) {
        full_because(plan, "full_every has passed", NULL);
        plan->mode = gone ? CHECKPOINT_FULL : CHECKPOINT_VERIFY;
    } else {
        plan->mode = CHECKPOINT_INCREMENTAL;
    }
    plan->anew = plan->mode != CHECKPOINT_INCREMENTAL || gone;
    if (plan->mode != CHECKPOINT_INCREMENTAL)
        plan->checkpoint.full_as_of = now;
    else
        plan->checkpoint.full_as_of = stored->full_as_of;
}

/*
 * The maximum duration of a check round in seconds (20 hours).  In each round, all checkpointed
 * rows are checked once.  A change is therefore noticed within one round plus the time between two
 * runs.
 */
#define ROUND_S 72000u
static uint64_t round_of(const struct settings *settings)
{
    return settings->full_every_s && settings->full_every_s < ROUND_S ? settings->full_every_s
                                                                      : ROUND_S;
}

bool checkpoint_begins_round(const struct checkpoint *stored, const struct settings *settings,
                             uint64_t now)
{
    return now / round_of(settings) != stored->as_of / round_of(settings);
}

/*
 * Chooses the checkpointed rows and the days of stored daily usage that this run checks.
 * Consecutive runs check consecutive parts, until all rows and days are checked.  The longer ago
 * the last run was, the more days this run checks.
 */
static void choose_day_hashes(struct checkpoint_plan *plan, const struct settings *settings,
                              uint64_t now)
{
    const struct checkpoint *stored = &plan->stored->checkpoint;
    uint64_t reach_s = settings->history_days * 86400, round_s = round_of(settings);
    uint64_t low = plan->checkpoint.cutoff / CHECKPOINT_SLICE_S * CHECKPOINT_SLICE_S;
    uint64_t high = (plan->checkpoint.checkpointed_to + CHECKPOINT_SLICE_S - 1) /
                    CHECKPOINT_SLICE_S * CHECKPOINT_SLICE_S;
    if (settings->history_days && now > reach_s && now - reach_s < low)
        low = now - reach_s;
    plan->begins_round = checkpoint_begins_round(stored, settings, now);
    plan->check_all_from = stored->checkpointed_to / CHECKPOINT_SLICE_S * CHECKPOINT_SLICE_S;
    if (low >= high || now < stored->as_of)
        return;
    uint64_t from = stored->checked_to, step = high - low;
    if (now - stored->as_of < round_s)
        step = (uint64_t)((uint128)step * (now - stored->as_of) / round_s) + 1;
    if (from < low || from >= high)
        from = low;
    plan->check_from = from;
    plan->check_to = high - from < step ? high : from + step;
    plan->checkpoint.checked_to = plan->check_to;
}

/* Fills plan->checkpoint with the checkpoint time and all other values that are known before the
 * first row is read. */
static void begin_checkpoint(struct checkpoint_plan *plan, const struct settings *settings,
                             uint64_t oldest)
{
    struct checkpoint *checkpoint = &plan->checkpoint;
    const struct checkpoint *stored = &plan->stored->checkpoint;
    checkpoint->first_charge = UINT64_MAX;
    if (plan->mode == CHECKPOINT_VERIFY) {
        checkpoint->checkpointed_to = stored->checkpointed_to;
    } else {
        checkpoint->checkpointed_to = checkpoint->newest_end > settings->checkpoint_after_s
                                          ? checkpoint->newest_end - settings->checkpoint_after_s
                                          : 0;
        if (checkpoint->checkpointed_to <= checkpoint->cutoff)
            checkpoint->checkpointed_to = checkpoint->cutoff + 1;
    }
    if (!plan->anew) {
        if (checkpoint->checkpointed_to < stored->checkpointed_to)
            checkpoint->checkpointed_to = stored->checkpointed_to;
        checkpoint->first_charge = stored->first_charge;
        checkpoint->jobs_from = stored->jobs_from;
        findings_copy(plan->findings, plan->stored->findings);
        findings_expire(plan->findings, checkpoint->cutoff);
        for (uint64_t day = 0; day < plan->stored->hashes.count; day++)
            day_hashes_set(&plan->hashes, day, plan->stored->hashes.of_day[day]);
        plan->hashes.rollups = plan->stored->hashes.rollups;
    }
    if (stored->kept && !plan->publishes_nothing)
        choose_day_hashes(plan, settings, checkpoint->as_of);
    checkpoint->oldest_end = oldest && oldest < checkpoint->checkpointed_to ? oldest : UINT64_MAX;
}

/*
 * Sets `*untrue` if the stored sums are not valid, or if the source has purged the oldest rows in
 * them.
 */
static int judge_stored(struct checkpoint_plan *plan, const struct computation *computation,
                        bool *untrue, struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t now = decay_table_now(computation->decay);
    *untrue = is_untrue(plan, computation, now) || lost_first_use(plan, source->settings) ||
              passed_rollups(plan);
    return *untrue ? 0 : look_for_purge(plan, source, now, untrue, err);
}

/* Adds a finding if stored rows or checkpointed jobs were found to have changed. */
static void checkpoint_plan_note_doubt(const struct checkpoint_plan *plan,
                                       const struct computation *computation)
{
    const struct stored_checkpoint *stored = plan->stored;
    if (stored->damaged)
        findings_add(computation->findings, FINDING_KEPT_CHANGED, 0,
                     "rows of the checkpoint (fairmill_seal...) are not as they were stored");
    else if (*stored->doubt)
        findings_add(computation->findings,
                     stored->source_changed ? FINDING_SEALED_JOBS_CHANGED : FINDING_KEPT_CHANGED, 0,
                     "%s", stored->doubt);
}

int checkpoint_plan_make(struct checkpoint_plan *plan, const struct computation *computation,
                         uint64_t cutoff, struct error *err)
{
    const struct source *source = &computation->source;
    const struct layout *layout = source->layout;
    uint64_t now = decay_table_now(computation->decay), oldest;
    bool untrue;
    plan->drift = NAN;
    plan->drifted = -1;
    plan->check_all_from = UINT64_MAX;
    plan->sums = usage_sums_create(tres_usage_count(computation->tres));
    plan->findings = findings_create();
    if (computation->tres)
        plan->expired_to = qos_days_expired(computation->tres, &plan->expired_from);
    if (plan->asked_full)
        full_because(plan, "requested with --full", NULL);
    if (!layout->past) {
        full_because(plan, "has no job keys", layout->name);
        return 0;
    }
    if (source->settings->usage_source == USAGE_OF_ROLLUPS) {
        full_because(plan, "slurmdbd may recompute rollups", NULL);
        return 0;
    }
    text_add(&plan->cluster_identity, "");
    if (layout->past->identify(source, &plan->cluster_identity, err))
        return -1;
    plan->checkpoint = (struct checkpoint){ .kept = true,
                                            .as_of = now,
                                            .cutoff = cutoff,
                                            .start = decay_table_start(computation->decay),
                                            .source = memory_text(plan->source_identity),
                                            .basis = basis_of(plan, computation) };
    if (layout->read_ends(source, cutoff, now, &oldest, &plan->checkpoint.newest_end, err) ||
        layout->past->read_open_keys(source, now, &plan->open, err) ||
        judge_stored(plan, computation, &untrue, err))
        return -1;
    checkpoint_plan_note_doubt(plan, computation);
    if (!untrue)
        plan->ended = job_keys_without(&plan->stored->open, &plan->open);
    checkpoint_plan_decide(plan, source->settings, now, untrue);
    if (plan->mode == CHECKPOINT_VERIFY)
        plan->late = usage_sums_create(tres_usage_count(computation->tres));
    if (plan->mode != CHECKPOINT_UNUSED)
        begin_checkpoint(plan, source->settings, oldest);
    return 0;
}

/*
 * Returns the time from which the daily usage is computed.  The last day before a reset is
 * included, so that the usage of this day is complete.
 */
static uint64_t first_of_days(const struct settings *settings, uint64_t reset, uint64_t now,
                              uint64_t cutoff)
{
    uint64_t first = cutoff;
    uint64_t kept_s = settings->history_days * 86400;
    if (reset && reset == cutoff) {
        first = calendar_day(reset);
        first = first ? calendar_day(first - 1) : 0;
        if (settings->horizon_s && first + settings->horizon_s < now)
            first = now - settings->horizon_s - 1;
    }
    return first + kept_s < now ? now - kept_s : first;
}

/*
 * Sets `*border` to the beginning of the first day to be computed, if earlier stored days are in a
 * different time zone and must be kept.  Otherwise sets `*border` to 0; the first day then begins
 * at midnight.
 */
static int find_border(struct checkpoint_plan *plan, const struct computation *computation,
                       uint64_t from, uint64_t *border, struct error *err)
{
    const struct stored_checkpoint *stored = plan->stored;
    const struct source *source = &computation->source;
    uint64_t oldest, newest;
    bool is_known = stored->checkpoint.kept && !stored->damaged && plan->checkpoint.basis &&
                    !plan->zone_changed;
    *border = 0;
    if (is_known || plan->mode == CHECKPOINT_INCREMENTAL || !stored_days_are_strange(&stored->days))
        return 0;
    if (source->layout->read_ends(source, 0, decay_table_now(computation->decay), &oldest, &newest,
                                  err))
        return -1;
    if (oldest)
        *border = stored_days_border(&stored->days, from, oldest);
    return 0;
}

int checkpoint_plan_begin_days(struct checkpoint_plan *plan, const struct computation *computation,
                               uint64_t cutoff, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    uint64_t now = decay_table_now(computation->decay), border;
    if (!settings->history_days || plan->stored->ahead || plan->publishes_nothing)
        return 0;
    uint64_t from =
        first_of_days(settings, last_reset(settings, computation->ledger, now), now, cutoff);
    if (find_border(plan, computation, from, &border, err))
        return -1;
    const struct kept_tres *kept = computation->tres ? &computation->tres->kept : NULL;
    plan->days = border ? days_create_at(border, now, kept) : days_create(from, now, kept);
    plan->days->border = border;
    if (!plan->compares_all)
        plan->days->used_numbers = computation->used_numbers;
    plan->days->anew = plan->mode != CHECKPOINT_INCREMENTAL || plan->anew;
    plan->days->unsealed_is_kept = plan->mode != CHECKPOINT_UNUSED;
    plan->days->may_look_back = plan->mode == CHECKPOINT_UNUSED && plan->asked_now;
    plan->days->goes_on_from = plan->stored->checkpoint.as_of;
    plan->days->may_wait = now - plan->stored->checkpoint.full_as_of < round_of(settings);
    plan->days->check_all = plan->asked_full || plan->stored->damaged || *plan->stored->doubt;
    plan->days->check_from = plan->check_from;
    plan->days->check_to = plan->check_to;
    plan->days->check_all_from = plan->check_all_from;
    plan->days->in_turn = plan->mode == CHECKPOINT_UNUSED;
    plan->days->round_s = round_of(settings);
    if (computation->source.layout->has_waits && settings->usage_source != USAGE_OF_ROLLUPS)
        plan->days->waits = day_waits_create(plan->days, computation->accounting->qos,
                                             computation->accounting->qos_count);
    return 0;
}

int checkpoint_plan_check(struct checkpoint_plan *plan, struct error *err)
{
    uint64_t first = plan->checkpoint.cutoff / CHECKPOINT_SLICE_S;
    for (uint64_t day = 0; day < first && day < plan->hashes.count; day++)
        plan->hashes.of_day[day] = (struct day_hash){ 0 };
    if (plan->mode != CHECKPOINT_INCREMENTAL || plan->anew)
        return 0;
    if (plan->begins_round && !day_hash_same(plan->hashes.rollups, plan->checked.rollups))
        return fail(err, ERROR_DAMAGED, "rollups have changed since they were checkpointed");
    if (first < plan->check_from / CHECKPOINT_SLICE_S)
        first = plan->check_from / CHECKPOINT_SLICE_S;
    for (uint64_t day = first; day * CHECKPOINT_SLICE_S < plan->check_to; day++) {
        uint64_t start = day * CHECKPOINT_SLICE_S;
        if (start < plan->check_from ||
            day_hash_same(day_hash_of(&plan->hashes, day), day_hash_of(&plan->checked, day)))
            continue;
        struct text name = { 0 };
        time_add_day(&name, (int64_t)start);
        fail(err, ERROR_DAMAGED, "jobs that ended on %s have changed since they were checkpointed",
             name.bytes);
        text_free(&name);
        return -1;
    }
    return 0;
}

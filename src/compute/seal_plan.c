/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "compute/seal_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/compute.h"
#include "core/usage/clock.h"
#include "core/finding.h"
#include "core/usage/ledger.h"
#include "results/days.h"
#include "results/seal_rows.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* Another way to sum or to store makes what was kept useless; then this goes up. */
#define SEAL_FORMAT 2

void sealing_free(struct sealing *sealing)
{
    seal_free(&sealing->seal);
    job_keys_free(&sealing->open);
    job_keys_free(&sealing->ended);
    usage_sums_destroy(sealing->sums);
    usage_sums_destroy(sealing->late);
    findings_destroy(sealing->findings);
    days_destroy(sealing->days);
    *sealing = (struct sealing){ .kept = sealing->kept,
                                 .asked_full = sealing->asked_full,
                                 .asked_now = sealing->asked_now };
}

/* All that the sums depend on besides the rows, but for the ledger's resets; settings come under
 * their own names. */
static char *basis_of(const struct settings *settings, const struct computation *computation)
{
    struct text basis = { 0 };
    text_format(&basis, "format %d\n%s", SEAL_FORMAT, settings->charges);
    if (computation->accounting->tariffs)
        text_format(&basis, "prices %016" PRIx64 "\n",
                    tariffs_hash(computation->accounting->tariffs));
    text_format(&basis, "time_zone %s %016" PRIx64 "\nhistory_days %" PRIu64 "\n",
                settings->time_zone, calendar_zone(), settings->history_days);
    text_format(&basis, "grid %" PRIu64 "\n", clock_grid(computation->clock));
    return basis.bytes;
}

static bool full_because(struct sealing *sealing, const char *why, const char *what)
{
    size_t length = strlen(sealing->why);
    snprintf(sealing->why + length, sizeof sealing->why - length, "%s%s%s%s", length ? "; " : "",
             what ? what : "", what ? " " : "", why);
    return true;
}

/* The basis with the resets that sums of this reach have in them, to be freed. */
static char *basis_with_resets(const char *basis, const struct ledger_state *ledger, uint64_t reach)
{
    struct text text = { 0 };
    uint64_t hash = ledger_resets_hash(ledger, reach);
    text_add(&text, basis);
    if (hash)
        text_format(&text, "resets %016" PRIx64 "\n", hash);
    return text.bytes;
}

static bool basis_changed(struct sealing *sealing, const struct ledger_state *ledger)
{
    const struct seal *kept = &sealing->kept->seal;
    char *basis = basis_with_resets(sealing->seal.basis, ledger, seal_reach(kept));
    char *name = seal_basis_difference(kept->basis, basis);
    free(basis);
    if (!name)
        return false;
    if (!strcmp(name, "format"))
        full_because(sealing, "the seal is of another format", NULL);
    else if (!strcmp(name, "prices"))
        full_because(sealing, "a factor or weight changed", NULL);
    else if (!strcmp(name, "grid"))
        full_because(sealing, "the grid of the clock moved on", NULL);
    else if (!strcmp(name, "resets"))
        full_because(sealing, "the ledger's resets within the sealed span changed", NULL);
    else
        full_because(sealing, "changed in the settings", name);
    free(name);
    return true;
}

/* Whether what was kept is of no use any more, and why. */
static bool is_untrue(struct sealing *sealing, const struct ledger_state *ledger, uint64_t now)
{
    const struct kept_seal *kept = sealing->kept;
    if (kept->damaged)
        return full_because(sealing, "the seal is damaged", NULL);
    if (!kept->seal.kept)
        return full_because(sealing, "the first run", NULL);
    if (kept->ahead)
        return full_because(sealing, "the instant is before the seal's clock", NULL);
    if (now < kept->seal.as_of)
        return full_because(sealing, "the clock went back", NULL);
    if (strcmp(kept->seal.source, sealing->seal.source) != 0)
        return full_because(sealing, "the seal is of another source", NULL);
    if (basis_changed(sealing, ledger))
        return true;
    /* One that is behind the cutoff now is not looked for. */
    if (sealing->seal.newest_end < kept->seal.newest_end &&
        kept->seal.newest_end > sealing->seal.cutoff)
        return full_because(sealing, "the source was restored: its newest end went back", NULL);
    /* Sums of rows that all ended before the reset are nothing, and no trouble. */
    if (sealing->seal.start != kept->seal.start && sealing->seal.start < kept->seal.sealed_to)
        return full_because(sealing, "a reset within the sealed span", NULL);
    return false;
}

/* The oldest row that was summed is there no more.  One that is older still came late, or back
 * from an archive: a full run will tell. */
static int look_for_purge(struct sealing *sealing, struct db *source,
                          const struct settings *settings, const char *cluster, uint64_t now,
                          bool *purged, struct error *err)
{
    const struct seal *kept = &sealing->kept->seal;
    uint64_t oldest, newest;
    *purged = false;
    if (kept->oldest_end == UINT64_MAX)
        return 0;
    if (layout_of(settings)->read_ends(source, settings, cluster, kept->cutoff, now, &oldest,
                                       &newest, err))
        return -1;
    if (oldest == 0 || oldest > kept->oldest_end)
        *purged = full_because(sealing, "a purge took the oldest jobs", NULL);
    return 0;
}

/* Without decay the first use says for how long the cluster was there, and it is not known which
 * came second. */
static bool lost_first_use(struct sealing *sealing, const struct settings *settings)
{
    const struct seal *kept = &sealing->kept->seal;
    if (settings->half_life_s || sealing->seal.start || kept->oldest_end > sealing->seal.cutoff)
        return false;
    return full_because(sealing, "the horizon passed the first use", NULL);
}

static void decide(struct sealing *sealing, const struct settings *settings, uint64_t now,
                   bool untrue)
{
    const struct seal *kept = &sealing->kept->seal;
    bool gone = kept->sealed_to <= sealing->seal.cutoff + 1;
    if (sealing->kept->ahead) {
        sealing->mode = SEALING_NONE;
    } else if (untrue) {
        sealing->mode = SEALING_FULL;
    } else if (sealing->asked_full) {
        sealing->mode = gone ? SEALING_FULL : SEALING_VERIFY;
    } else if (now - kept->full_as_of >= settings->full_every_s) {
        full_because(sealing, "full_every has passed", NULL);
        sealing->mode = gone ? SEALING_FULL : SEALING_VERIFY;
    } else {
        sealing->mode = SEALING_INCREMENTAL;
    }
    sealing->anew = sealing->mode != SEALING_INCREMENTAL || gone;
    if (sealing->mode != SEALING_INCREMENTAL)
        sealing->seal.full_as_of = now;
    else
        sealing->seal.full_as_of = kept->full_as_of;
}

/* Up to where rows are summed, and what is known of them before the first is read. */
static void begin_seal(struct sealing *sealing, const struct settings *settings, uint64_t oldest)
{
    struct seal *seal = &sealing->seal;
    const struct seal *kept = &sealing->kept->seal;
    seal->first_charge = UINT64_MAX;
    if (sealing->mode == SEALING_VERIFY) {
        seal->sealed_to = kept->sealed_to;
    } else {
        seal->sealed_to = seal->newest_end > settings->seal_after_s
                              ? seal->newest_end - settings->seal_after_s
                              : 0;
        if (seal->sealed_to <= seal->cutoff)
            seal->sealed_to = seal->cutoff + 1;
    }
    if (!sealing->anew) {
        if (seal->sealed_to < kept->sealed_to)
            seal->sealed_to = kept->sealed_to;
        seal->first_charge = kept->first_charge;
        seal->jobs_from = kept->jobs_from;
        *sealing->findings = *sealing->kept->findings;
        findings_expire(sealing->findings, seal->cutoff);
    }
    seal->oldest_end = oldest && oldest < seal->sealed_to ? oldest : UINT64_MAX;
}

int sealing_plan(struct sealing *sealing, const struct computation *computation,
                 const struct settings *settings, struct db *source, const char *cluster,
                 const char *source_identity, uint64_t cutoff, struct error *err)
{
    const struct layout *layout = layout_of(settings);
    uint64_t now = clock_now(computation->clock), oldest;
    bool untrue, purged;
    sealing->drift = NAN;
    sealing->drifted = -1;
    sealing->sums = usage_sums_create();
    sealing->findings = findings_create();
    if (sealing->asked_full)
        full_because(sealing, "asked for", NULL);
    if (!layout->read_open_keys) {
        full_because(sealing, "has no keys of jobs", layout->name);
        return 0;
    }
    if (settings->usage_source == USAGE_OF_ROLLUPS) {
        full_because(sealing, "rollups may be summed up anew", NULL);
        return 0;
    }
    sealing->seal = (struct seal){ .kept = true,
                                   .as_of = now,
                                   .cutoff = cutoff,
                                   .start = clock_start(computation->clock),
                                   .source = memory_text(source_identity),
                                   .basis = basis_of(settings, computation) };
    if (layout->read_ends(source, settings, cluster, cutoff, now, &oldest,
                          &sealing->seal.newest_end, err) ||
        layout->read_open_keys(source, settings, cluster, &sealing->open, err))
        return -1;
    untrue = is_untrue(sealing, computation->ledger, now) || lost_first_use(sealing, settings);
    if (!untrue) {
        if (look_for_purge(sealing, source, settings, cluster, now, &purged, err))
            return -1;
        untrue = purged;
    }
    if (!untrue)
        sealing->ended = job_keys_without(&sealing->kept->open, &sealing->open);
    decide(sealing, settings, now, untrue);
    if (sealing->mode == SEALING_VERIFY)
        sealing->late = usage_sums_create();
    if (sealing->mode != SEALING_NONE)
        begin_seal(sealing, settings, oldest);
    return 0;
}

/* Where the usage of days begins that is read: for the last day before a reset to be whole it is
 * read too. */
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

void sealing_begin_days(struct sealing *sealing, const struct settings *settings,
                        const struct ledger_state *ledger, uint64_t now, uint64_t cutoff)
{
    if (!settings->history_days || sealing->kept->ahead)
        return;
    sealing->days =
        days_create(first_of_days(settings, last_reset(settings, ledger, now), now, cutoff), now);
    sealing->days->anew = sealing->mode != SEALING_INCREMENTAL || sealing->anew;
    sealing->days->unsealed_is_kept = sealing->mode != SEALING_NONE;
    sealing->days->may_look_back = sealing->mode == SEALING_NONE && sealing->asked_now;
}

/* Folding. */
struct folding {
    struct sealing *sealing;
    struct computation *computation;
    uint64_t kept_hash; /* of what was stored, as it is now */
    bool *met;          /* by place in the sums: it is among the kept ones */
    struct wide drift;
};

static int beyond_range(uint64_t id, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " is beyond the range of our integers", id);
}

/* Adds a sum below the seal, unless all of it was before the association's last reset. */
static int add_to_node(const struct folding *folding, uint64_t id, const struct wide *sum,
                       struct error *err)
{
    struct computation *computation = folding->computation;
    if (ledger_reset_before(computation->ledger, id, UINT64_MAX) >=
        seal_reach(&folding->sealing->seal))
        return 0;
    return wide_add(computation_sum_of(computation, id), sum) ? 0 : beyond_range(id, err);
}

static int fold_own(struct folding *folding, struct error *err)
{
    const struct usage_sums *sums = folding->sealing->sums;
    for (size_t i = 0; i < sums->count; i++)
        if (add_to_node(folding, sums->rows[i].id, &sums->rows[i].sum, err))
            return -1;
    return 0;
}

static size_t place_in(const struct usage_sums *sums, const struct usage_sum *row)
{
    return (size_t)(row - sums->rows);
}

/* Whether a reset between the reach of the kept sums and that of the new ones leaves nothing of a
 * kept one. */
static bool was_reset(const struct folding *folding, uint64_t id)
{
    const struct sealing *sealing = folding->sealing;
    return ledger_reset_before(folding->computation->ledger, id, seal_reach(&sealing->seal)) >=
           seal_reach(&sealing->kept->seal);
}

static int fold_kept(void *context, uint64_t id, const struct wide *kept, struct error *err)
{
    struct folding *folding = context;
    struct usage_sums *sums = folding->sealing->sums;
    struct usage_sum *own = usage_sums_find(sums, id);
    uint64_t hash = usage_sum_hash(id, kept);
    folding->kept_hash += hash;
    if (was_reset(folding, id)) {
        usage_sums_of(sums, id);
        return 0;
    }
    if (own) {
        folding->met[place_in(sums, own)] = true;
        if (!wide_add(&own->sum, kept))
            return beyond_range(id, err);
    } else {
        folding->sealing->seal.sums_hash += hash;
    }
    return add_to_node(folding, id, kept, err);
}

/* How far what was summed now is from what a run that went on from the seal would have. */
static int compare(struct folding *folding, uint64_t id, const struct wide *own,
                   const struct wide *kept, struct error *err)
{
    struct sealing *sealing = folding->sealing;
    struct wide difference = *own;
    const struct usage_sum *late = usage_sums_find(sealing->late, id);
    if (!wide_subtract(&difference, kept) || (late && !wide_subtract(&difference, &late->sum)))
        return beyond_range(id, err);
    if (wide_is_zero(&difference))
        return 0;
    sealing->drifted++;
    if (wide_is_negative(&difference)) {
        struct wide positive = { { 0 } };
        if (!wide_subtract(&positive, &difference))
            return beyond_range(id, err);
        difference = positive;
    }
    double drift = clock_usage(folding->computation->clock, &difference);
    if (drift > sealing->drift)
        sealing->drift = drift;
    return 0;
}

static int compare_kept(void *context, uint64_t id, const struct wide *kept, struct error *err)
{
    static const struct wide nothing = { { 0 } };
    struct folding *folding = context;
    struct usage_sums *sums = folding->sealing->sums;
    struct usage_sum *own = usage_sums_find(sums, id);
    folding->kept_hash += usage_sum_hash(id, kept);
    if (own)
        folding->met[place_in(sums, own)] = true;
    return compare(folding, id, own ? &own->sum : &nothing, kept, err);
}

static int compare_all(struct folding *folding, struct db *results, const char *cluster,
                       struct error *err)
{
    static const struct wide nothing = { { 0 } };
    struct sealing *sealing = folding->sealing;
    sealing->drift = 0;
    sealing->drifted = 0;
    if (seal_read_sums(results, cluster, compare_kept, folding, err))
        return -1;
    for (size_t i = 0; i < sealing->sums->count; i++)
        if (!folding->met[i] &&
            compare(folding, sealing->sums->rows[i].id, &sealing->sums->rows[i].sum, &nothing, err))
            return -1;
    if (folding->kept_hash != sealing->kept->seal.sums_hash) {
        sealing->drift = NAN;
        sealing->drifted = -1;
        full_because(sealing, "the seal is damaged", NULL);
    } else if (!sealing->drifted && !sealing->late->count) {
        sealing->anew = false;
        sealing->confirmed = true;
    }
    return 0;
}

static int fold(struct folding *folding, struct db *results, const char *cluster, bool *damaged,
                struct error *err)
{
    struct sealing *sealing = folding->sealing;
    if (fold_own(folding, err))
        return -1;
    if (sealing->mode == SEALING_VERIFY && compare_all(folding, results, cluster, err))
        return -1;
    if (sealing->mode == SEALING_INCREMENTAL && !sealing->anew) {
        if (seal_read_sums(results, cluster, fold_kept, folding, err))
            return -1;
        *damaged = folding->kept_hash != sealing->kept->seal.sums_hash;
    }
    /* What stays stored may have sums of nothing that `sums` lacks. */
    if (sealing->confirmed)
        sealing->seal.sums_hash = sealing->kept->seal.sums_hash;
    for (size_t i = 0; !sealing->confirmed && i < sealing->sums->count; i++)
        sealing->seal.sums_hash +=
            usage_sum_hash(sealing->sums->rows[i].id, &sealing->sums->rows[i].sum);
    sealing->seal.open_hash = job_keys_hash(&sealing->open);
    char *basis = sealing->seal.basis;
    sealing->seal.basis =
        basis_with_resets(basis, folding->computation->ledger, seal_reach(&sealing->seal));
    free(basis);
    findings_merge(folding->computation->findings, sealing->findings);
    return 0;
}

int sealing_fold(struct sealing *sealing, struct computation *computation, struct db *results,
                 const char *cluster, bool *damaged, struct error *err)
{
    *damaged = false;
    if (sealing->mode == SEALING_NONE)
        return 0;
    struct folding folding = { .sealing = sealing, .computation = computation };
    folding.met = memory_zeroed(sealing->sums->count, sizeof *folding.met);
    int result = fold(&folding, results, cluster, damaged, err);
    free(folding.met);
    return result;
}

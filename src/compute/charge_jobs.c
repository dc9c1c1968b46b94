/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "compute/charge_jobs.h"

#include <inttypes.h>
#include <time.h>

#include "compute/charge_row.h"
#include "compute/compute.h"
#include "core/usage/ledger.h"
#include "core/usage/usage.h"
#include "results/days.h"
#include "compute/seal_plan.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"

struct job_source {
    const struct settings *settings;
    struct db *db;
};

/* Where all is read: up to which instant an end leaves nothing that counts, not even for a day. */
static uint64_t first_read(const struct charger *charger, uint64_t cutoff)
{
    const struct days *days = charger->sealing ? charger->sealing->days : NULL;
    bool reach_back = days && days->anew && days->count && days->starts[0] < cutoff;
    return reach_back ? days->starts[0] : cutoff;
}

/* Where jobs were purged rollups stand for them, up to the first full hour in which no job ended
 * that is not there. */
static int find_purge_end(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                          uint64_t *until, struct error *err)
{
    const struct layout *layout = layout_of(source->settings);
    uint64_t oldest = charger->seen->oldest_end, now = clock_now(charger->charging.clock), from;
    bool purged = false;
    uint64_t hour = oldest / 3600 * 3600 + 3600;
    *until = 0;
    if (oldest > now || hour > now || hour <= cutoff)
        return 0;
    if (layout->find_purge(source->db, source->settings, charger->cluster, cutoff, &purged, err) ||
        (purged &&
         layout->rollup_reach(source->db, charger->cluster, now, false, &from, until, err)))
        return -1;
    if (*until > hour)
        *until = hour;
    return 0;
}

/* Up to where rollups tell what jobs did; 0: nowhere. */
static int find_rollup_end(struct charger *charger, const struct job_source *source,
                           uint64_t cutoff, uint64_t *until, struct error *err)
{
    const struct layout *layout = layout_of(source->settings);
    uint64_t from, now = clock_now(charger->charging.clock);
    *until = 0;
    if (!layout->read_rollup)
        return 0;
    if (source->settings->usage_source != USAGE_OF_ROLLUPS)
        return find_purge_end(charger, source, cutoff, until, err);
    if (layout->rollup_reach(source->db, charger->cluster, now, true, &from, until, err))
        return -1;
    if (*until)
        charger->seen->oldest_end = from;
    if (*until > charger->seen->newest)
        charger->seen->newest = *until;
    return 0;
}

/* The part that is told by rollups. */
static int charge_rollups(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                          struct error *err)
{
    struct sealing *sealing = charger->sealing;
    uint64_t *until = &charger->charging.from;
    if (sealing && sealing->mode == SEALING_INCREMENTAL && !sealing->anew) {
        *until = sealing->seal.jobs_from;
        return 0;
    }
    if (find_rollup_end(charger, source, cutoff, until, err))
        return -1;
    if (charge_sums_all(charger))
        sealing->seal.jobs_from = *until;
    if (!*until)
        return 0;
    log_note("%s: usage before %" PRIu64 " is from rollups", charger->cluster, *until);
    return layout_of(source->settings)
        ->read_rollup(source->db, source->settings, charger->cluster,
                      charger->computation->accounting, first_read(charger, cutoff), *until,
                      charge_row_rollup, charger, err);
}

static int read_pass(struct charger *charger, const struct job_source *source,
                     enum charge_pass pass, const struct job_range *range, struct error *err)
{
    const struct settings *settings = source->settings;
    const struct layout *layout = layout_of(settings);
    const struct accounting *accounting = charger->computation->accounting;
    charger->pass = pass;
    charger->suspensions = (struct suspensions){ 0 };
    if (settings->suspended == SUSPENDED_OMITTED && layout->read_suspended &&
        layout->read_suspended(source->db, settings, charger->cluster, accounting, range,
                               charge_row_suspension, charger, err))
        return -1;
    int result = layout->read_jobs(source->db, settings, charger->cluster, accounting, range,
                                   charge_row_job, charger, err);
    log_progress_done();
    return result ? -1 : charge_row_end(charger, err);
}

/* Rows that were open when the seal was made and ended below it since.  One that is behind the
 * horizon meanwhile is added nevertheless: then all that is there is taken out again. */
static int read_late(struct charger *charger, const struct job_source *source,
                     enum charge_pass pass, struct error *err)
{
    const struct job_keys *ended = &charger->sealing->ended;
    const struct seal *kept = &charger->sealing->kept->seal;
    const struct days *days = charger->sealing->days;
    uint64_t from = kept->cutoff;
    if (pass == PASS_CHARGE && days && days->count && days->starts[0] < from)
        from = days->starts[0];
    struct job_range late = {
        .from = from + 1, .to = kept->sealed_to, .keys = ended->keys, .key_count = ended->count
    };
    charger->left_out = kept->cutoff;
    int result = ended->count ? read_pass(charger, source, pass, &late, err) : 0;
    charger->left_out = charger->cutoff;
    return result;
}

/* What the kept sums lack, and what they have too much: added to the sums, or noted. */
static int mend_kept(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                     enum charge_pass late, enum charge_pass expired, struct error *err)
{
    const struct seal *kept = &charger->sealing->kept->seal;
    struct job_range gone = { .from = kept->cutoff + 1, .to = cutoff + 1 };
    if (read_late(charger, source, late, err))
        return -1;
    return cutoff > kept->cutoff ? read_pass(charger, source, expired, &gone, err) : 0;
}

/* Whether there is more behind the cutoff than before it. */
static bool has_long_history(const struct charger *charger, uint64_t cutoff)
{
    uint64_t now = clock_now(charger->charging.clock), oldest = charger->seen->oldest_end;
    return oldest < cutoff && cutoff < now && cutoff - oldest > now - cutoff;
}

static int read_all(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                    struct error *err)
{
    struct sealing *sealing = charger->sealing;
    struct job_range range = { .from = first_read(charger, cutoff) + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .most = !has_long_history(charger, cutoff) };
    if (charge_rollups(charger, source, cutoff, err))
        return -1;
    if (source->settings->usage_source == USAGE_OF_ROLLUPS && charger->charging.from > cutoff) {
        range.from = charger->charging.from + 1;
        range.most = false;
    }
    if (sealing && sealing->mode == SEALING_VERIFY &&
        mend_kept(charger, source, cutoff, PASS_LATE, PASS_GONE, err))
        return -1;
    if (sealing && sealing->mode == SEALING_INCREMENTAL) {
        range.most = false;
        if (!sealing->anew) {
            range.from = sealing->kept->seal.sealed_to;
            if (mend_kept(charger, source, cutoff, PASS_CHARGE, PASS_EXPIRED, err))
                return -1;
        }
    }
    return read_pass(charger, source, PASS_CHARGE, &range, err);
}

/* Rows without keys belong to no job that could be named. */
static int take_back_refunded(struct charger *charger, const struct job_source *source,
                              uint64_t cutoff, struct error *err)
{
    const struct job_keys *refunded = &charger->ledger->refunded;
    struct job_range range = { .from = cutoff + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .ids = refunded->keys,
                               .id_count = refunded->count };
    if (!refunded->count || !layout_of(source->settings)->read_open_keys)
        return 0;
    return read_pass(charger, source, PASS_REFUND, &range, err);
}

static int add_adjustments(struct charger *charger, struct error *err)
{
    const struct ledger_state *ledger = charger->ledger;
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        const struct ledger_entry *each = &ledger->adjustments[i];
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(ledger, each, charger->charging.clock, &units, &negative);
        if (weight && !wide_add_product(computation_sum_of(charger->computation, each->association),
                                        units, weight, negative))
            return charge_beyond_range(each->association, err);
    }
    return 0;
}

const struct jobs_seen jobs_seen_none = { .oldest_end = UINT64_MAX, .first_charge = UINT64_MAX };

int charge_jobs(struct computation *computation, struct sealing *sealing,
                const struct settings *settings, struct db *source, const char *cluster,
                uint64_t cutoff, struct jobs_seen *seen, struct error *err)
{
    struct job_source from = { settings, source };
    const struct days *days = sealing ? sealing->days : NULL;
    struct charger charger = {
        .cluster = cluster,
        .computation = computation,
        .sealing = sealing,
        .charging = { computation->clock, settings->charge, settings->open_job_cap_s,
                      (int64_t)clock_now(computation->clock) < time(NULL), 0,
                      days && days->count ? days->starts[0] : UINT64_MAX },
        .cutoff = cutoff,
        .left_out = cutoff,
        .seen = seen,
        .ledger = computation->ledger,
    };
    if (read_all(&charger, &from, cutoff, err) ||
        take_back_refunded(&charger, &from, cutoff, err) || add_adjustments(&charger, err))
        return -1;
    if (sealing && sealing->mode != SEALING_NONE)
        charge_note_least(&seen->first_charge, sealing->seal.first_charge);
    return 0;
}

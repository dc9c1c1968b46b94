/* SPDX-License-Identifier: MIT */
#include "compute/charge_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "compute/accumulators.h"
#include "compute/checkpoint_plan.h"
#include "compute/computation.h"
#include "core/usage/ledger.h"
#include "results/days.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "source/reading.h"
#include "util/clock.h"
#include "util/index.h"
#include "util/log.h"
#include "util/times.h"

/*
 * How jobs are charged.
 *
 * A scan (struct job_scan) reads one range of job rows.  It divides each row into charge intervals
 * and passes each charge to the scan's accumulators.  After the last interval of a row it calls the
 * row accumulators.  By default a scan also adds its charges: to scan.checkpointed if the row is
 * checkpointed, otherwise to the tree of the computation.
 *
 * Before the scans, charge_rollups() charges the rollups that replace purged job rows.  Then the
 * scans run in this order:
 *
 *   scan       when               rows                             feeds
 *   ---------  -----------------  -------------------------------  --------------------------
 *   late       verify             open in the stored checkpoint,   plan->late
 *                                 ended before its checkpoint
 *                                 time
 *   gone       verify, if the     ended after the stored cutoff    plan->late (subtracts)
 *              cutoff advanced    and up to the new one
 *   late       incremental        as above                         plan->sums, plan->hashes,
 *                                                                  days, watcher, seen
 *   gone       incremental, if    as above                         plan->sums, plan->hashes
 *              the cutoff                                          (subtracts)
 *              advanced
 *   check      incremental        checkpointed, ended between      plan->checked (hashes only)
 *                                 check_from and check_to
 *   main       always             incremental: open, or ended at   plan->sums, plan->hashes,
 *                                 or after the stored checkpoint   tree, days, watcher, seen
 *                                 time; otherwise: all
 *   refunded   if the ledger has  all rows of refunded jobs        tree (subtracts)
 *              refunds
 *   cancelled  if the source      jobs cancelled while suspended,  tree, watcher,
 *              records such jobs  unless refunded                  seen.first_behind_end
 *
 * "Verify" is a mode of the plan, and "incremental" stands for an incremental plan that continues
 * from the stored sums.  If suspended time is not charged, a scan of suspensions precedes each scan
 * except for "cancelled".  The scan of suspensions covers the same rows and has the same
 * accumulators, but the opposite sign.  In a computation with a multi-time accumulator, there is no
 * plan, and this accumulator replaces the tree.
 *
 * Within a scan, rows are in any order.  The order of the scans matters only for "late" and "gone".
 * A late row that the cutoff has passed is first added by "late" and then subtracted by "gone".
 */

/* A scan: a range of rows, the accumulators of their charges, and the accumulators of the rows. */
#define ACCUMULATORS 4
struct job_scan {
    struct job_range range;
    bool of_suspensions;
    bool of_cancelled; /* time that slurmctld charged after the end of suspended jobs */
    bool only_refunded;
    bool negative;
    const struct checkpoint *checkpoint;
    uint64_t cutoff, left_out;
    struct usage_sums *checkpointed; /* receives charges of checkpointed rows */
    /* receives hashes of checkpointed rows; NULL if no hashes are needed */
    struct day_hashes *hashes;
    bool only_noted; /* hash the rows, but do not charge them */
    bool counts_waits;
    struct charge_accumulator *accumulators[ACCUMULATORS], *row_accumulators[ACCUMULATORS];
    size_t accumulator_count, row_accumulator_count;
};

/*
 * The state of one call of charge_jobs().  SCANS is the maximum number of scans of one call,
 * including scans of suspensions.
 */
#define SCANS 11
struct charge_jobs_run {
    struct computation *computation;
    struct checkpoint_plan *plan; /* NULL if there is no plan */
    struct days *days;            /* NULL if daily usage is not needed */
    struct charging charging;
    uint64_t cutoff, now;
    struct jobs_seen *seen;
    struct seen_accumulator note;
    struct days_accumulator add_days;
    struct waits_accumulator add_waits;
    struct watcher_accumulator watch;
    struct first_accumulator behind_end;
    struct job_scan scans[SCANS];
    size_t scan_count;
};

static int charge_take_all(struct charge_accumulator *const *accumulators, size_t count,
                           const struct charge *charge, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (accumulators[i]->take(accumulators[i], charge, err))
            return -1;
    return 0;
}

static int take_day_hashes(const struct job_scan *scan, struct charge_context *context,
                           struct charge *charge, struct error *err)
{
    do
        if (charge_take_all(scan->accumulators, scan->accumulator_count, charge, err))
            return -1;
    while (charge_next(context, charge));
    return 0;
}

/* Passes each interval of a row to the accumulators, and then the row to the row accumulators. */
static int charge_take_row(const struct job_scan *scan, struct charge_context *context,
                           const struct job_row *row, struct error *err)
{
    struct charge charge;
    struct job_row again;
    charge_begin(context, row, &charge);
    if (take_day_hashes(scan, context, &charge, err) ||
        charge_take_all(scan->row_accumulators, scan->row_accumulator_count, &charge, err))
        return -1;
    return charge_again(context, row, &again, &charge)
               ? take_day_hashes(scan, context, &charge, err)
               : 0;
}

static void add_accumulator(struct job_scan *scan, struct charge_accumulator *accumulator)
{
    scan->accumulators[scan->accumulator_count++] = accumulator;
}

static int run_scan(const struct charge_jobs_run *run, struct job_scan *scan, struct error *err)
{
    struct source own = run->computation->source;
    const struct source *source = &own;
    const struct layout *layout = source->layout;
    const struct accounting *accounting = run->computation->accounting;
    own.waits = scan->counts_waits;
    struct job_reading *reading =
        scan->of_cancelled     ? layout->past->cancelled(source, accounting, scan->range.from)
        : scan->of_suspensions ? layout->suspensions(source, accounting, &scan->range)
                               : layout->jobs(source, accounting, &scan->range);
    struct split *multi = run->computation->multi;
    struct tres_usage *tres = scan->only_noted || multi ? NULL : run->computation->tres;
    struct charge_context context = { .charging = run->charging,
                                      .ledger = run->computation->ledger,
                                      .passes = &accounting->passes,
                                      .period = slurm_pass_period(source->settings->slurm),
                                      .recent = source->settings->checkpoint_after_s,
                                      .owners = run->computation->owners,
                                      .checkpoint = scan->checkpoint,
                                      .negative = scan->negative,
                                      .cutoff = scan->cutoff,
                                      .left_out = scan->left_out,
                                      .kept = tres ? &tres->kept : NULL };
    struct sums_accumulator sums;
    struct qos_accumulator of_qos = { { qos_accumulator_take }, tres, scan->checkpointed };
    struct day_hash_accumulator hashes = {
        { day_hash_accumulator_take }, scan->hashes, scan->left_out, scan->negative
    };
    struct job_row row;
    int got;
    sums_accumulator_begin(&sums, run->computation, scan->checkpointed);
    if (multi) {
        multi_time_begin_scan(multi, &context);
        add_accumulator(scan, &multi->hashes.accumulator);
        scan->row_accumulators[scan->row_accumulator_count++] = &multi->rows.accumulator;
    } else if (!scan->only_noted) {
        add_accumulator(scan, &sums.accumulator);
        if (tres && tres->qos_count)
            add_accumulator(scan, &of_qos.accumulator);
    }
    if (scan->hashes)
        scan->row_accumulators[scan->row_accumulator_count++] = &hashes.accumulator;
    while ((got = job_reading_next(reading, &row, err)) > 0) {
        if ((scan->only_refunded || scan->of_cancelled) &&
            job_is_refunded(context.ledger, &row) != scan->only_refunded)
            continue;
        if (charge_take_row(scan, &context, &row, err)) {
            got = -1;
            goto done;
        }
    }
    got = got ? -1 : sums_accumulator_end(&sums, err);
done:
    job_reading_end(reading);
    log_progress_done();
    return got;
}

/*
 * Adds a scan.  If suspended time is not charged, adds a scan of the rows' suspensions before it.
 */
static void add_scan(struct charge_jobs_run *run, const struct job_scan *scan)
{
    const struct source *source = &run->computation->source;
    bool omits =
        source->layout->omits_suspended || source->settings->suspended == SUSPENDED_OMITTED;
    if (omits) {
        run->scans[run->scan_count] = *scan;
        run->scans[run->scan_count].counts_waits = false;
        run->scans[run->scan_count++].of_suspensions = true;
    }
    run->scans[run->scan_count++] = *scan;
}

/* Returns a scan whose charges go to all accumulators: usage, days, the watcher and `seen`. */
static struct job_scan charge_jobs_scan(struct charge_jobs_run *run, struct job_range range)
{
    struct job_scan scan = { .range = range, .cutoff = run->cutoff, .left_out = run->cutoff };
    if (run->plan) {
        scan.checkpoint = &run->plan->checkpoint;
        scan.checkpointed = run->plan->sums;
        scan.hashes = &run->plan->hashes;
    }
    scan.row_accumulators[scan.row_accumulator_count++] = &run->note.accumulator;
    if (run->days)
        add_accumulator(&scan, &run->add_days.accumulator);
    if (run->days && run->days->waits) {
        scan.counts_waits = true;
        scan.row_accumulators[scan.row_accumulator_count++] = &run->add_waits.accumulator;
    }
    if (run->computation->watcher)
        add_accumulator(&scan, &run->watch.accumulator);
    return scan;
}

/*
 * Returns the time after which rows must be read in a run that reads all rows.  Rows that ended at
 * or before this time are not included in usage, and their daily usage is not needed.
 */
static uint64_t first_read(const struct charge_jobs_run *run)
{
    const struct days *days = run->days;
    bool reach_back = days && days->anew && days->count && days->starts[0] < run->cutoff;
    return reach_back ? days->starts[0] : run->cutoff;
}

/*
 * If job rows were purged, sets `*until` to the time before which rollups replace jobs.  Purged
 * jobs ended before the oldest remaining row.  So `*until` is the first full hour after the end of
 * that row, or the end of the rollups if that is earlier.  Sets `*until` to 0 if nothing was
 * purged, if there are no rollups, or if that hour is not between the cutoff and now.
 */
static int find_purge_end(const struct computation *computation, struct purge *purge,
                          uint64_t oldest, uint64_t *until, struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t now = decay_table_now(computation->decay), hour = oldest / 3600 * 3600 + 3600, from;
    *until = 0;
    if (oldest > now || hour > now || hour <= purge->cutoff)
        return 0;
    if (!purge->known && source->layout->past->find_purge(source, &purge->found, err))
        return -1;
    purge->known = true;
    if (purge->found && source->layout->past->rollup_reach(source, now, false, &from, until, err))
        return -1;
    if (*until > hour)
        *until = hour;
    return 0;
}

int rollups_end(const struct computation *computation, struct purge *purge, struct jobs_seen *seen,
                uint64_t *until, struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t from;
    *until = 0;
    if (!source->layout->past)
        return 0;
    if (source->settings->usage_source != USAGE_OF_ROLLUPS)
        return find_purge_end(computation, purge, seen->oldest_end, until, err);
    if (source->layout->past->rollup_reach(source, decay_table_now(computation->decay), true, &from,
                                           until, err))
        return -1;
    if (*until)
        seen->oldest_end = from;
    if (*until > seen->newest)
        seen->newest = *until;
    return 0;
}

/* Returns true if this run rebuilds the checkpoint's sums from scratch. */
static bool sums_all(const struct charge_jobs_run *run)
{
    return run->plan && run->plan->mode != CHECKPOINT_UNUSED && run->plan->anew;
}

/* Charges the part of a rollup that is in one charge interval. */
static int charge_part(const struct charge_jobs_run *run, const struct rollup_row *row,
                       const struct slice *interval, struct error *err)
{
    struct computation *computation = run->computation;
    struct checkpoint_plan *plan = sums_all(run) ? run->plan : NULL;
    const struct decay_table *decay = computation->decay;
    uint64_t start = interval->start, end = interval->end, id = interval->association;
    uint128 rate =
        row->is_charged ? charge_rate_of_tres(interval->rate, run->charging.charge, row->tres) : 0;
    uint64_t reset = ledger_reset_before(computation->ledger, id,
                                         plan ? checkpoint_reach(&plan->checkpoint) : UINT64_MAX);
    struct wide usage;
    if (run->days && !run->days->failed &&
        days_add_rollup(run->days, interval, &row->rollup, rate,
                        kept_tres_find(run->days->kept, row->tres), err))
        days_give_up(run->days, computation->findings, err);
    if (row->rollup.end <= run->cutoff)
        return 0;
    if (computation->tres) {
        struct usage_place place =
            plan ? usage_sums_place(plan->sums, id) : computation_place(computation, id);
        if (!tres_usage_add_rollup(computation->tres, place.tres, plan ? plan->sums : NULL, row,
                                   interval, start < reset ? reset : start))
            return usage_beyond_range(id, err);
    }
    if (!rollup_usage(decay, &row->rollup, start < reset ? reset : start, end, rate, &usage))
        return usage_beyond_range(id, err);
    if (wide_is_zero(&usage))
        return 0;
    struct wide *sum = plan ? usage_sums_of(plan->sums, id) : computation_sum_of(computation, id);
    if (start < decay_table_start(decay))
        start = decay_table_start(decay);
    seen_rollup(&run->note, row, start, plan != NULL);
    return wide_add(sum, &usage) ? 0 : usage_beyond_range(id, err);
}

/* Adds a rollup to the hash of checkpointed rollups, so that a later run can detect a change. */
static void note_rollup(struct day_hashes *hashes, const struct rollup_row *row, uint64_t cutoff)
{
    const uint64_t words[] = { row->association,  row->tres,       row->qos,
                               row->rollup.start, row->rollup.end, row->rollup.alloc_secs };
    if (row->rollup.end > cutoff)
        day_hash_add(&hashes->rollups, hash_words(words, sizeof words / sizeof *words), false);
}

static int charge_rollup(const struct charge_jobs_run *run, const struct rollup_row *row,
                         struct error *err)
{
    uint64_t until = run->charging.from;
    uint64_t end = row->rollup.end < until ? row->rollup.end : until;
    if (sums_all(run))
        note_rollup(&run->plan->hashes, row, run->cutoff);
    struct slice interval =
        charge_interval_first(row->rollup.start, end, row->rate, row->association,
                              usage_owners_find(run->computation->owners, row->association));
    do
        if (charge_part(run, row, &interval, err))
            return -1;
    while (charge_interval_next(&interval, end));
    return 0;
}

static int note_again(const struct charge_jobs_run *run, const struct rollup_row *row,
                      struct error *err)
{
    (void)err;
    note_rollup(&run->plan->checked, row, run->cutoff);
    return 0;
}

static int read_rollups(const struct charge_jobs_run *run, uint64_t after,
                        int (*take)(const struct charge_jobs_run *run, const struct rollup_row *row,
                                    struct error *err),
                        struct error *err)
{
    const struct computation *computation = run->computation;
    const struct source *source = &computation->source;
    struct rollup_reading *reading =
        source->layout->past->rollups(source, computation->accounting, after, run->charging.from);
    struct rollup_row row;
    int got;
    while ((got = rollup_reading_next(reading, &row, err)) > 0)
        if (take(run, &row, err)) {
            got = -1;
            break;
        }
    rollup_reading_end(reading);
    return got;
}

/*
 * Reads the checkpointed rollups again to detect changes.  If the oldest job of the source has
 * arrived late, rollups now replace a different period.  This is treated as a change.
 */
static int check_rollups(struct charge_jobs_run *run, uint64_t until, struct error *err)
{
    if (until != run->charging.from)
        run->plan->checked.rollups.rows = UINT64_MAX;
    else if (until)
        return read_rollups(run, run->cutoff, note_again, err);
    return 0;
}

static int charge_rollups(struct charge_jobs_run *run, struct error *err)
{
    struct checkpoint_plan *plan = run->plan;
    struct purge purge = { .cutoff = run->cutoff };
    bool continues = plan && plan->mode == CHECKPOINT_INCREMENTAL && !plan->anew;
    uint64_t until;
    if (continues)
        run->charging.from = plan->checkpoint.jobs_from;
    if (continues && !plan->begins_round)
        return 0;
    if (rollups_end(run->computation, &purge, run->seen, &until, err))
        return -1;
    if (continues)
        return check_rollups(run, until, err);
    run->charging.from = until;
    if (sums_all(run))
        plan->checkpoint.jobs_from = until;
    if (!until)
        return 0;
    log_note("%s: usage before %s is from rollups", run->computation->source.cluster,
             time_text((int64_t)until).bytes);
    return read_rollups(run, first_read(run), charge_rollup, err);
}

/*
 * Returns the range of the rows that were open when the checkpoint was made but now have an end
 * before the checkpoint time.
 */
static struct job_range late_range(const struct charge_jobs_run *run, uint64_t from)
{
    const struct job_keys *ended = &run->plan->ended;
    return (struct job_range){ .from = from + 1,
                               .to = run->plan->stored->checkpoint.checkpointed_to,
                               .keys = ended->keys,
                               .key_count = ended->count };
}

/*
 * Adds a scan that subtracts from `sums` the checkpointed rows that the cutoff has passed since the
 * checkpoint was stored.
 */
static void charge_add_gone(struct charge_jobs_run *run, struct usage_sums *sums,
                            struct day_hashes *hashes)
{
    uint64_t kept = run->plan->stored->checkpoint.cutoff;
    const struct job_scan gone = { .range = { .from = kept + 1, .to = run->cutoff + 1 },
                                   .checkpoint = &run->plan->checkpoint,
                                   .checkpointed = sums,
                                   .hashes = hashes,
                                   .negative = true };
    if (run->cutoff > kept)
        add_scan(run, &gone);
}

/* Adds the scans that bring the stored sums up to date: "late" and then "gone". */
static void repair_stored(struct charge_jobs_run *run)
{
    const struct days *days = run->days;
    uint64_t from = run->plan->stored->checkpoint.cutoff;
    if (days && days->count && days->starts[0] < from)
        from = days->starts[0];
    struct job_scan late = charge_jobs_scan(run, late_range(run, from));
    late.left_out = run->plan->stored->checkpoint.cutoff;
    if (run->plan->ended.count)
        add_scan(run, &late);
    charge_add_gone(run, run->plan->sums, &run->plan->hashes);
}

/*
 * Adds the scans for a run that reads all rows to verify the checkpoint.  These scans only compute
 * by how much the stored sums should differ from the new sums.
 */
static void note_late(struct charge_jobs_run *run)
{
    const struct job_scan late = { .range = late_range(run, run->plan->stored->checkpoint.cutoff),
                                   .checkpoint = &run->plan->checkpoint,
                                   .checkpointed = run->plan->late };
    if (run->plan->ended.count)
        add_scan(run, &late);
    charge_add_gone(run, run->plan->late, NULL);
}

/* Adds a scan that reads checkpointed rows again to detect changes. */
static void check_stored(struct charge_jobs_run *run)
{
    struct checkpoint_plan *plan = run->plan;
    uint64_t day = CHECKPOINT_SLICE_S;
    struct job_range range = { .from = (plan->check_from + day - 1) / day * day,
                               .to = (plan->check_to + day - 1) / day * day };
    if (range.to > plan->checkpoint.checkpointed_to)
        range.to = plan->checkpoint.checkpointed_to;
    if (range.from <= run->cutoff)
        range.from = run->cutoff + 1;
    const struct job_scan scan = { .range = range,
                                   .checkpoint = &plan->checkpoint,
                                   .left_out = run->cutoff,
                                   .hashes = &plan->checked,
                                   .only_noted = true };
    if (range.from < range.to)
        add_scan(run, &scan);
}

/*
 * Returns true if the source has jobs for a longer time before the cutoff than after it.  In this
 * case, reading the rows by an index is faster.
 */
static bool has_long_history(const struct charge_jobs_run *run)
{
    uint64_t cutoff = run->cutoff, oldest = run->seen->oldest_end;
    return oldest < cutoff && cutoff < run->now && cutoff - oldest > run->now - cutoff;
}

/*
 * Returns the range of the rows that the checkpoint does not contain, or of all rows if the sums
 * are rebuilt.
 */
static struct job_range main_range(const struct charge_jobs_run *run)
{
    const struct checkpoint_plan *plan = run->plan;
    struct job_range range = {
        .from = first_read(run) + 1, .to = INT64_MAX, .open = true, .most = !has_long_history(run)
    };
    if (run->computation->source.settings->usage_source == USAGE_OF_ROLLUPS &&
        run->charging.from > run->cutoff) {
        range.from = run->charging.from + 1;
        range.most = false;
    }
    if (run->computation->multi)
        range.begun_by = run->now;
    range.associations = run->computation->selected_ids;
    range.association_count = run->computation->selected_count;
    if (plan && plan->mode == CHECKPOINT_INCREMENTAL) {
        range.most = false;
        if (!plan->anew)
            range.from = plan->stored->checkpoint.checkpointed_to;
    }
    return range;
}

/*
 * Adds a scan that subtracts the charges of refunded jobs, regardless of the scan that added them.
 * If a layout lacks job keys, ledger entries cannot identify its jobs, so jobs cannot be refunded.
 */
static void add_refunded(struct charge_jobs_run *run)
{
    const struct job_keys *refunded = &run->computation->ledger->refunded;
    const struct job_scan scan = { .range = { .from = run->cutoff + 1,
                                              .to = INT64_MAX,
                                              .open = true,
                                              .ids = refunded->keys,
                                              .id_count = refunded->count },
                                   .negative = true,
                                   .only_refunded = true };
    if (refunded->count && run->computation->source.layout->past)
        add_scan(run, &scan);
}

/*
 * Adds the scan of jobs that were cancelled while suspended.  Their charged time depends on the
 * current time, so it is never checkpointed and never added to the daily usage.
 */
static void add_cancelled(struct charge_jobs_run *run)
{
    struct job_scan scan = { .range = { .from = run->cutoff + 1 }, .of_cancelled = true };
    scan.row_accumulators[scan.row_accumulator_count++] = &run->behind_end.accumulator;
    if (run->computation->watcher)
        add_accumulator(&scan, &run->watch.accumulator);
    if (run->computation->accounting->tells_cancelled)
        run->scans[run->scan_count++] = scan;
}

static void list_scans(struct charge_jobs_run *run)
{
    const struct checkpoint_plan *plan = run->plan;
    if (plan && plan->mode == CHECKPOINT_VERIFY)
        note_late(run);
    if (plan && plan->mode == CHECKPOINT_INCREMENTAL && !plan->anew) {
        repair_stored(run);
        check_stored(run);
    }
    const struct job_scan scan = charge_jobs_scan(run, main_range(run));
    add_scan(run, &scan);
    add_refunded(run);
    add_cancelled(run);
}

static void note_set(struct computation *computation, uint64_t association)
{
    struct tree *tree = computation->tree;
    uint32_t place = tree_place(tree, association);
    if (place != NO_NODE && tree->nodes[place].id == association)
        tree->nodes[place].usage_is_set = true;
}

static int charge_add_adjustments(struct computation *computation, struct error *err)
{
    const struct ledger_state *ledger = computation->ledger;
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        const struct ledger_entry *each = &ledger->adjustments[i];
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(ledger, each, computation->decay, &units, &negative);
        if (weight && !wide_add_product(computation_sum_of(computation, each->association), units,
                                        weight, negative))
            return usage_beyond_range(each->association, err);
        if (weight && each->kind == LEDGER_SET)
            note_set(computation, each->association);
    }
    return 0;
}

/*
 * Adds the remaining part of the initial usage, unless a later reset removed it.  With stepped
 * decay, the remaining part is computed from the last decay step in the usage file.
 */
static int add_starts(struct computation *computation, struct error *err)
{
    const struct usage_starts *starts = &computation->starts;
    const struct decay_table *decay = computation->decay;
    double left =
        decay_table_left(decay, decay_table_is_stepped(decay) ? starts->steps.epoch : starts->time);
    for (size_t i = 0; i < starts->count && decay_table_start(decay) <= starts->time; i++) {
        const struct usage_start *start = &starts->starts[i];
        struct wide usage;
        if (ledger_reset_before(computation->ledger, start->association, UINT64_MAX) >=
            starts->time)
            continue;
        if (!decay_table_sum_of(decay, start->usage * left, &usage) ||
            !wide_add(computation_sum_of(computation, start->association), &usage))
            return usage_beyond_range(start->association, err);
        note_set(computation, start->association);
    }
    return 0;
}

int charge_corrections(struct computation *computation, struct error *err)
{
    return charge_add_adjustments(computation, err) ? -1 : add_starts(computation, err);
}

static void set_accumulators(struct charge_jobs_run *run)
{
    struct computation *computation = run->computation;
    run->note = (struct seen_accumulator){ .accumulator = { seen_accumulator_take },
                                           .cluster = computation->source.cluster,
                                           .now = run->now,
                                           .cutoff = run->cutoff,
                                           .horizon = computation->source.settings->horizon_s,
                                           .seen = run->seen,
                                           .findings = computation->findings,
                                           .of_all = !run->plan };
    /* Without decay, the capacity depends on first_charge. */
    if (!decay_table_half_life(computation->decay))
        run->note.created = computation->accounting->created;
    if (run->plan) {
        run->note.checkpointed_first = &run->plan->checkpoint.first_charge;
        run->note.checkpointed_findings = run->plan->findings;
    }
    run->add_days =
        (struct days_accumulator){ { days_accumulator_take }, run->days, computation->findings };
    run->add_waits =
        (struct waits_accumulator){ { waits_accumulator_take }, run->days, computation->findings };
    run->watch = (struct watcher_accumulator){ { watcher_accumulator_take },
                                               computation->watcher,
                                               computation->ledger };
    run->behind_end =
        (struct first_accumulator){ { first_accumulator_take }, &run->seen->first_behind_end };
}

/*
 * Returns true if `--now` selects a past time.  Without `--now`, the time of a run is not past,
 * however long the run takes.
 */
static bool is_in_past(const struct computation *computation)
{
    const int64_t *instant = computation->source.time;
    return instant && *instant + CLOCK_SKEW_S < clock_now();
}

int charge_jobs(struct computation *computation, struct checkpoint_plan *plan, uint64_t cutoff,
                struct jobs_seen *seen, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct days *days = plan ? plan->days : NULL;
    uint64_t now = decay_table_now(computation->decay);
    bool reads_all = computation->tres && tres_usage_needs_all(settings, computation->accounting);
    struct charge_jobs_run run = {
        .computation = computation,
        .plan = plan,
        .days = days,
        .charging = { computation->decay, settings->charge, settings->open_job_cap_s,
                      is_in_past(computation), 0,
                      reads_all             ? 0
                      : days && days->count ? days->starts[0]
                                            : UINT64_MAX },
        .cutoff = cutoff,
        .now = now,
        .seen = seen,
    };
    set_accumulators(&run);
    if (charge_rollups(&run, err))
        return -1;
    list_scans(&run);
    for (size_t i = 0; i < run.scan_count; i++)
        if (run_scan(&run, &run.scans[i], err))
            return -1;
    if (plan && checkpoint_plan_check(plan, err))
        return -1;
    if (!computation->multi && charge_corrections(computation, err))
        return -1;
    if (plan && plan->mode != CHECKPOINT_UNUSED)
        note_least(&seen->first_charge, plan->checkpoint.first_charge);
    return 0;
}

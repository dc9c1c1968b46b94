/* SPDX-License-Identifier: MIT */
#include "run/cluster_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compute/budgets.h"
#include "compute/checkpoint_plan.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "compute/tres_usage.h"
#include "core/finding.h"
#include "core/tree/association_history.h"
#include "core/tree/tree.h"
#include "results/days.h"
#include "results/history.h"
#include "results/ledger_rows.h"
#include "results/schema.h"
#include "run/retry.h"
#include "run/run_session.h"
#include "source/source.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* The state of a run of one cluster. */
struct cluster_run {
    struct run_session *session;
    const char *cluster;
    struct recorded_state recorded;
    struct stored_checkpoint stored;
    struct ledger_book book;
    struct checkpoint_plan plan;
    struct computation computation;
    int64_t associations; /* number of published associations */
    /* The associations that are counted in the views afterwards: their number and highest id. */
    int64_t counted, last_counted;
    bool was_read; /* the rows of the source were read without error */
};

/*
 * Reads the cluster, and retries if the database session breaks.  Without a plan (NULL), reads all
 * rows.
 */
static int read_with_retries(struct cluster_run *run, struct checkpoint_plan *plan,
                             struct error *err)
{
    struct run_session *session = run->session;
    struct retry retry = { session->deadline, 0 };
    bool changing = false;
    for (;;) {
        if (run_session_open_source(session, err))
            return -1;
        struct source source = source_of(session->settings, session->source, run->cluster);
        source.time = session->options->now;
        run->computation = computation_of(&source);
        if (!compute_read(&run->computation, &run->recorded, plan, err))
            return 0;
        if (plan)
            checkpoint_plan_free(plan);
        /* If a table disappears between two attempts, an upgrade of slurmdbd is changing the
         * tables. */
        if (changing && err->class == ERROR_MISSING)
            err->class = ERROR_RETRY;
        changing |= err->class == ERROR_RETRY;
        if (err->class == ERROR_GONE || err->class == ERROR_RETRY) {
            db_close(session->source);
            session->source = NULL;
        }
        if (!try_again(&retry, err))
            return -1;
    }
}

static int read_stored_once(struct cluster_run *run, const struct publisher *publisher,
                            struct error *err)
{
    struct stored_checkpoint *stored = &run->stored;
    struct recorded_state *recorded = &run->recorded;
    const int64_t *now = run->session->options->now;
    *stored = (struct stored_checkpoint){ .findings = findings_create() };
    if (!checkpoint_read(publisher->db, publisher->cluster, stored, err) &&
        !stored_days_read(publisher->db, publisher->cluster, &stored->days, err) &&
        !ledger_book_read(publisher->db, publisher->cluster, &run->book, err) &&
        !recorded_state_read_records(recorded, publisher->db, publisher->cluster, now, err) &&
        !recorded_state_read_numbers(recorded, publisher->db, publisher->cluster, err) &&
        !(publisher->locked &&
          recorded_state_read_unseen(recorded, publisher->db, publisher->cluster, now, err))) {
        recorded->ledger = ledger_of(&run->book, publisher->cluster);
        return 0;
    }
    stored_checkpoint_free(stored);
    ledger_book_free(&run->book);
    recorded_state_free(recorded);
    return -1;
}

/* Returns the newest end of a job that earlier runs found in the source, or 0. */
static int64_t newest_end_of(const struct cluster_run *run)
{
    return run->stored.checkpoint.kept && !run->stored.damaged
               ? (int64_t)run->stored.checkpoint.newest_end
               : 0;
}

/* Reads the stored state of earlier runs, with a new session if the old one broke. */
static int read_stored(struct cluster_run *run, struct publisher *publisher, struct error *err)
{
    struct run_session *session = run->session;
    struct retry retry = { session->deadline, 0 };
    const int64_t *now = session->options->now;
    bool published;
    while (read_stored_once(run, publisher, err)) {
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&retry, err))
            return results_explain(session->settings, err);
        if (gone && run_session_resume(session, publisher, &published, err))
            return -1;
    }
    /* The time of a damaged checkpoint is not used.  Without --now, this host's clock is slow if
     * earlier runs found a job that ended after the current time. */
    const struct checkpoint *checkpoint = &run->stored.checkpoint;
    run->stored.ahead =
        checkpoint->kept && !run->stored.damaged &&
        (now ? *now < (int64_t)checkpoint->as_of : clock_now() < newest_end_of(run));
    return 0;
}

/*
 * The maximum time for which the first attempt to publish waits for a lock of the database.  Later
 * attempts wait until the deadline, so that a long computation is not lost.
 */
#define FIRST_WAIT_MS 10000

/*
 * Adds the checkpointed sums and computes the values.  Meanwhile the database removes the values of
 * the last run.
 */
static int fold_and_compute(struct cluster_run *run, struct publisher *publisher, struct error *err)
{
    const struct run_session *session = run->session;
    if (checkpoint_plan_fold(&run->plan, &run->computation, publisher->db, err))
        return results_explain(session->settings, err);
    if (publisher->locked &&
        !db_limit_waits(publisher->db, clock_milliseconds() + FIRST_WAIT_MS, err))
        publisher_begin(publisher, session->source_identity, session->options->full);
    if (!compute_values(&run->computation, &run->plan, err))
        return 0;
    publisher_abandon(publisher);
    return -1;
}

/*
 * Computes the cluster.  If the session on the results breaks while the checkpointed sums are read,
 * starts again.
 */
static int compute_checkpointed(struct cluster_run *run, struct publisher *publisher,
                                struct error *err)
{
    struct run_session *session = run->session;
    struct retry retry = { session->deadline, 0 };
    bool published;
    run->plan = (struct checkpoint_plan){ .stored = &run->stored,
                                          .source_identity = session->source_identity,
                                          .asked_full = session->options->full,
                                          .compares_all = session->options->repair,
                                          .asked_now = session->options->now != NULL };
    for (;;) {
        run->was_read = false;
        if (!read_with_retries(run, &run->plan, err)) {
            run->was_read = true;
            if (!fold_and_compute(run, publisher, err))
                return 0;
            computation_free(&run->computation);
            checkpoint_plan_free(&run->plan);
        }
        bool gone = err->class == ERROR_GONE && session->source;
        if (!session->source || !try_again(&retry, err) ||
            (gone && run_session_resume(session, publisher, &published, err)))
            return -1;
    }
}

/*
 * Returns the time at which the source had these associations.  This is the time of the run, but
 * not later than the time when they were read.  Returns -1 if some associations are uncertain.
 */
static int64_t seen_at(const struct computation *computation)
{
    const struct run_record *record = &computation->record;
    if (computation->past_counts.unknown)
        return -1;
    return record->as_of < record->started_at ? record->as_of : record->started_at;
}

/*
 * Returns the association states to record for a period without runs.  A period between two runs
 * ends with the state that the later run records, so this state must be known.
 */
static const struct association_times *times_of(const struct cluster_run *run,
                                                const struct publisher *publisher)
{
    const struct association_history *unseen = run->recorded.unseen;
    bool ends = unseen && (unseen->before.at == NEVER || seen_at(&run->computation) >= 0);
    return publisher->locked && ends ? run->computation.times : NULL;
}

static int publish_with_retries(struct run_session *session, struct publisher *publisher,
                                const struct publication *publication,
                                const struct run_record *record, struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    int64_t waits_end = clock_milliseconds() + FIRST_WAIT_MS;
    bool published = false;
    while (!published && ((!publisher->begun && db_limit_waits(publisher->db, waits_end, err)) ||
                          publisher_publish(publisher, publication, record, err))) {
        bool gone = err->class == ERROR_GONE;
        waits_end = session->deadline;
        /* If the cluster is not locked, the session is a verifier, which compares only once. */
        if (!publisher->locked || !try_again(&retry, err))
            return results_explain(session->settings, err);
        if (gone && run_session_resume(session, publisher, &published, err))
            return -1;
    }
    return 0;
}

/* Returns everything to publish except for the checkpoint and the budgets. */
static struct publication publication_of(const struct cluster_run *run,
                                         const struct publisher *publisher)
{
    const struct computation *computation = &run->computation;
    const struct checkpoint_plan *plan = &run->plan;
    return (struct publication){
        .tree = computation->tree,
        .values = computation->values,
        .order = computation->order,
        .pbs_order = computation->pbs_order,
        .names = computation->accounting->names,
        .queue = computation->queue,
        .formula_jobs = computation->formula_jobs,
        .tres_minutes = computation->tres_minutes,
        .kept = computation->tres ? &computation->tres->kept : NULL,
        .numbers = run->recorded.numbers,
        .tres_sums = computation->tres ? computation->tres->sums : NULL,
        .decay = computation->decay,
        .privileges = computation->accounting->privileges,
        .privilege_count = computation->accounting->privilege_count,
        .release = computation->options.release,
        .findings = computation->findings,
        .source = run->session->source_identity,
        .seen_at = seen_at(computation),
        .modified = computation->accounting->modified,
        .modified_hash = computation->accounting->modified_hash,
        .times = times_of(run, publisher),
        .factors = computation->factors,
        .days = plan->days && !plan->days->failed ? plan->days : NULL,
        .ledger = &run->book,
        .looks_at_all = plan->mode != CHECKPOINT_INCREMENTAL,
        .looks_through = run->session->options->full && publisher->locked,
        .replaces = run->session->options->replace,
        .newest_end = newest_end_of(run),
    };
}

static int publish(struct cluster_run *run, struct publisher *publisher, struct error *err)
{
    static const struct usage_sums no_sums = { 0 };
    const struct computation *computation = &run->computation;
    const struct checkpoint_plan *plan = &run->plan;
    struct job_keys opened = { 0 };
    struct checkpoint_change change = {
        .checkpoint = &plan->checkpoint,
        .anew = plan->anew,
        .sums = plan->confirmed ? &no_sums : plan->sums,
        .kept = computation->tres ? &computation->tres->kept : NULL,
        .expired_from = plan->expired_from,
        .expired_to = plan->confirmed ? 0 : plan->expired_to,
        .opened = &plan->open,
        .ended = &plan->ended,
        .findings = plan->findings,
        .hashes = &plan->hashes,
        .old_hashes = &run->stored.hashes,
    };
    if (!plan->anew) {
        opened = job_keys_without(&plan->open, &run->stored.open);
        change.opened = &opened;
    }
    size_t budget_count;
    struct budget *budgets = budgets_of(&run->computation, &budget_count);
    struct publication publication = publication_of(run, publisher);
    publication.budgets = budgets;
    publication.budget_count = budget_count;
    publication.checkpoint = plan->mode == CHECKPOINT_UNUSED ? NULL : &change;
    int result =
        publish_with_retries(run->session, publisher, &publication, &computation->record, err);
    if (result && publication.days && plan->days->failed) {
        days_give_up(plan->days, computation->findings, err);
        publication.days = NULL;
        result =
            publish_with_retries(run->session, publisher, &publication, &computation->record, err);
    }
    job_keys_free(&opened);
    free(budgets);
    return result;
}

/*
 * Rejects a time before the published time.  Either the clock was set back, or --now selects a past
 * time.
 */
static int check_time(const struct run_session *session, const struct publisher *publisher,
                      struct error *err)
{
    const struct run_options *options = session->options;
    int64_t now = options->now ? *options->now : clock_now();
    if (options->replace || !publisher->has_published || now >= publisher->published_as_of)
        return 0;
    return fail(err, options->now ? ERROR_USAGE : ERROR_OTHER,
                "%s, %s, is before the published values, which are as of %s; use --replace to "
                "publish it anyway",
                options->now ? "this time" : "the clock", time_text(now).bytes,
                time_text(publisher->published_as_of).bytes);
}

static void warn_of_zone(const struct cluster_run *run)
{
    const struct checkpoint_plan *plan = &run->plan;
    struct text border = { 0 };
    if (!plan->zone_changed && (!plan->days || !plan->days->border))
        return;
    text_add(&border, "");
    if (plan->days && plan->days->border) {
        text_add(&border, "; days before ");
        time_add(&border, (int64_t)plan->days->border);
        text_add(&border, " keep the earlier zone, because their jobs are no longer read");
    }
    log_warning("cluster '%s': the time zone differs from the last run; the usage of days was "
                "recomputed%s",
                run->cluster, border.bytes);
    text_free(&border);
}

static void cluster_run_describe(const char *cluster, const struct computation *computation)
{
    const struct run_record *record = &computation->record;
    log_note("%s: %s%s%s: %" PRId64 " associations, %" PRId64 " users, %" PRId64
             " jobs read, %" PRId64 " ms",
             cluster, record->kind, *record->why ? ", " : "", record->why, record->associations,
             record->users, record->jobs_read, record->duration_ms);
    if (*record->message)
        log_note("%s: %s", cluster, record->message);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        if (computation->findings->kind[kind].seen)
            log_note("%s: %" PRIu64 " x %s: %s", cluster, computation->findings->kind[kind].seen,
                     finding_name(kind), finding_meaning(kind));
}

/* Failure to delete old rows does not fail the run; the next run tries again. */
static void prune(const struct cluster_run *run, const struct publisher *publisher)
{
    struct error err;
    const struct run_record *record = &run->computation.record;
    int64_t newest = run->session->options->now ? INT64_MAX : record->source_newest;
    if (history_prune(publisher, record->as_of, newest, &err))
        log_note("%s: cannot delete old rows: %s; the next run tries again", publisher->cluster,
                 err.message);
}

/*
 * Reports lost ledger entries.  They cannot be recomputed, so values are published without them.
 * Each run reports them until they are restored or undone.
 */
static void note_lost_entries(struct cluster_run *run, struct text *message)
{
    struct run_record *record = &run->computation.record;
    struct ledger_faults faults = ledger_faults_of(&run->book);
    ledger_faults_keep(&faults, run->cluster);
    ledger_faults_note(&faults, run->computation.findings);
    if (faults.count) {
        text_format(message, "%s%s", record->message, *record->message ? "; " : "");
        ledger_faults_add_words(message, &faults);
        record->message = message->bytes;
    }
    ledger_faults_free(&faults);
}

/*
 * Without --full, a run of a large cluster counts only the first associations in the views, because
 * the count takes a tenth of an incremental run.
 */
#define COUNTED_ASSOCIATIONS 1000
static void choose_counted(struct cluster_run *run)
{
    const struct tree *tree = run->computation.tree;
    bool all = run->session->options->full || tree->count <= COUNTED_ASSOCIATIONS;
    uint32_t count = all ? tree->count : COUNTED_ASSOCIATIONS;
    run->associations = tree->count;
    run->counted = count;
    run->last_counted = tree->nodes[tree->by_id[count - 1]].id;
}

/* Publishes the computation and frees it. */
static int cluster_run_finish(struct cluster_run *run, struct publisher *publisher, int64_t began,
                              struct error *err)
{
    struct computation *computation = &run->computation;
    struct text message = { 0 };
    note_lost_entries(run, &message);
    computation->record.duration_ms = clock_milliseconds() - began;
    int result = publish(run, publisher, err);
    if (!result) {
        choose_counted(run);
        prune(run, publisher);
        cluster_run_describe(publisher->cluster, computation);
        warn_of_zone(run);
    }
    computation_free(computation);
    checkpoint_plan_free(&run->plan);
    text_free(&message);
    return result;
}

/*
 * Computes and publishes.  If stored rows turn out to be damaged, or checkpointed jobs have
 * changed, computes everything again from all rows of the source.
 */
static int compute_and_publish(struct cluster_run *run, struct publisher *publisher, int64_t began,
                               struct error *err)
{
    struct stored_checkpoint *stored = &run->stored;
    while (compute_checkpointed(run, publisher, err) ||
           cluster_run_finish(run, publisher, began, err)) {
        if (err->class != ERROR_DAMAGED || *stored->doubt)
            return -1;
        log_note("%s: %s; everything is computed again", run->cluster, err->message);
        snprintf(stored->doubt, sizeof stored->doubt, "%.*s", (int)sizeof stored->doubt - 1,
                 err->message);
        stored->source_changed = !run->was_read;
    }
    return 0;
}

/*
 * The data for end_without_memory(), which is called when memory runs out.  It reports the failure
 * of the cluster, and records the failed run in a new session.
 */
struct last_words {
    struct run_session *session;
    const char *cluster;
    struct publisher *publisher; /* NULL for a dry run */
    int64_t began;
};

static int end_without_memory(void *context)
{
    const struct last_words *last = context;
    struct error err, ignored;
    bool published = false;
    fail(&err, ERROR_OTHER, "out of memory");
    if (last->publisher &&
        !run_session_resume(last->session, last->publisher, &published, &ignored) && !published)
        failure_record(last->session, last->publisher,
                       &(struct failure){ .reason = &err, .began = last->began });
    fail_in(&err, "cluster '%s'", last->cluster);
    last->session->options->complain(&err);
    return first_failure();
}

/*
 * Checks that the views show the published values.  If they do not, users who may only query
 * results cannot see the values, so the run fails even though it is recorded as successful.
 */
static int look_through_views(const struct cluster_run *run, const struct publisher *publisher,
                              struct error *err)
{
    if (!views_open(publisher->db, err) &&
        !views_count_part(publisher->db, run->cluster, run->associations, run->last_counted,
                          run->counted, err))
        return 0;
    /* The session broke, but the values are published. */
    return err->class == ERROR_GONE || err->class == ERROR_RETRY ? 0 : -1;
}

int run_cluster(struct run_session *session, const char *cluster, struct error *err)
{
    struct publisher publisher;
    struct cluster_run run = { .session = session, .cluster = cluster };
    if (run_session_lock(session, cluster, &publisher, err)) {
        failure_unrecorded(session, err);
        return -1;
    }
    struct last_words last = { session, cluster, &publisher, clock_milliseconds() };
    memory_before_end(end_without_memory, &last);
    int result = check_time(session, &publisher, err) || read_stored(&run, &publisher, err) ||
                         compute_and_publish(&run, &publisher, last.began, err)
                     ? -1
                     : 0;
    memory_before_end(NULL, NULL);
    stored_checkpoint_free(&run.stored);
    ledger_book_free(&run.book);
    recorded_state_free(&run.recorded);
    if (result)
        failure_record(session, &publisher,
                       &(struct failure){ .reason = err, .began = last.began, .is_there = true });
    else
        result = look_through_views(&run, &publisher, err);
    publisher_end(&publisher);
    return result;
}

/* Excludes ledger entries that were made after the run, because the run could not apply them. */
static void leave_later_entries(struct cluster_run *run, const struct computed_again *again)
{
    ledger_book_keep_counted(&run->book, run->cluster,
                             again->notes_entries ? INT64_MIN : again->started_at);
    ledger_destroy(run->recorded.ledger);
    run->recorded.ledger = ledger_of(&run->book, run->cluster);
}

/* Excludes open jobs that appeared after the run, because the run could not read them. */
static void leave_later_jobs(struct cluster_run *run)
{
    if (!run->stored.checkpoint.kept || run->stored.damaged)
        return;
    struct job_keys later = job_keys_without(&run->plan.open, &run->stored.open);
    struct job_keys known = job_keys_without(&run->plan.open, &later);
    job_keys_free(&later);
    job_keys_free(&run->plan.open);
    run->plan.open = known;
}

int compute_again(struct run_session *session, struct publisher *publisher,
                  struct computed_again *again, struct error *err)
{
    struct cluster_run run = { .session = session, .cluster = publisher->cluster };
    if (read_stored_once(&run, publisher, err))
        return results_explain(session->settings, err);
    leave_later_entries(&run, again);
    again->checkpoint_damaged = run.stored.damaged;
    run.stored.ahead =
        run.stored.checkpoint.kept && *session->options->now < (int64_t)run.stored.checkpoint.as_of;
    run.plan = (struct checkpoint_plan){ .stored = &run.stored,
                                         .source_identity = session->source_identity,
                                         .asked_full = true,
                                         .compares_all = true,
                                         .asked_now = true };
    int result = read_with_retries(&run, &run.plan, err);
    if (!result) {
        leave_later_jobs(&run);
        run.computation.record.started_at = again->started_at;
        result = fold_and_compute(&run, publisher, err) || publish(&run, publisher, err) ? -1 : 0;
        again->associations = run.computation.record.associations;
        computation_free(&run.computation);
        checkpoint_plan_free(&run.plan);
    }
    stored_checkpoint_free(&run.stored);
    ledger_book_free(&run.book);
    recorded_state_free(&run.recorded);
    return result;
}

/* A dry run does not need the results database, but uses the recorded state if it exists. */
static int ask_results(struct cluster_run *run, struct error *err)
{
    const struct settings *settings = run->session->settings;
    const int64_t *now = run->session->options->now;
    struct db *results;
    recorded_state_begin(&run->recorded, now);
    recorded_state_read_numbers(&run->recorded, NULL, run->cluster, err);
    if (results_open(&results, settings, DB_READER, err)) {
        if (err->class == ERROR_GONE)
            return -1;
        log_note("%s: %s; continuing without the records of earlier runs", run->cluster,
                 err->message);
        return 0;
    }
    int result = recorded_state_read_records(&run->recorded, results, run->cluster, now, err);
    db_close(results);
    return result ? results_explain(settings, err) : 0;
}

int show_cluster(struct run_session *session, const char *cluster, struct error *err)
{
    struct cluster_run run = { .session = session, .cluster = cluster };
    struct last_words last = { session, cluster, NULL, 0 };
    memory_before_end(end_without_memory, &last);
    int result = ask_results(&run, err) ||
                         ledger_look_up(session->settings, cluster, &run.recorded.ledger, err) ||
                         read_with_retries(&run, NULL, err)
                     ? -1
                     : 0;
    recorded_state_free(&run.recorded);
    if (!result) {
        result = compute_values(&run.computation, NULL, err);
        if (!result) {
            cluster_run_describe(cluster, &run.computation);
            result = session->options->show(session->settings, cluster, &run.computation, err);
        }
        computation_free(&run.computation);
    }
    memory_before_end(NULL, NULL);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "run/cluster_run.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "compute/compute.h"
#include "core/finding.h"
#include "core/usage/ledger.h"
#include "core/tree/past.h"
#include "db/db.h"
#include "run/retry.h"
#include "results/history.h"
#include "results/ledger_rows.h"
#include "results/publish.h"
#include "results/schema.h"
#include "results/seal_rows.h"
#include "results/share_rows.h"
#include "run/run.h"
#include "compute/seal_plan.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"

/* Read, again where the database lets go of us. */
static int read_with_retries(struct session *session, const char *cluster,
                             struct computation *computation, struct sealing *sealing,
                             struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    bool changing = false;
    for (;;) {
        if (!session->source &&
            open_source(&session->source, session->settings, session->deadline, err))
            return -1;
        const struct remembered remembered = { session->ledger, session->past };
        if (!compute_read(computation, session->settings, session->source, cluster, &remembered,
                          session->options->now, false, sealing, session->source_identity, err))
            return 0;
        if (sealing)
            sealing_free(sealing);
        /* What was there a moment ago and is not any more, somebody is just changing. */
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

/* After a session of ours broke the server holds its lock until it notices that nobody is there
 * any more: that is no other run. */
static int doubt_lock(const struct session *session, struct error *err)
{
    if (err->class != ERROR_LOCKED)
        return -1;
    return fail(err, ERROR_RETRY,
                "database '%s': the session broke, and the server still holds its lock",
                session->settings->results.database);
}

/* Take up a broken session's work with a new one; *published where its COMMIT had worked. */
static int resume(struct session *session, struct publisher *publisher, bool *published,
                  struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    for (;;) {
        publisher->locked = false;
        publisher->db = NULL;
        db_close(session->results);
        session->results = NULL;
        if (open_results(&session->results, session->settings, session->deadline, err))
            return -1;
        if (!publisher_resume(publisher, session->results, published, err))
            return 0;
        doubt_lock(session, err);
        if (!try_again(&retry, err))
            return -1;
    }
}

static void forget_ledger(struct session *session)
{
    ledger_destroy(session->ledger);
    session->ledger = NULL;
}

/* Before runs and the source tell of it. */
static void begin_past(struct session *session)
{
    const int64_t *now = session->options->now;
    past_destroy(session->past);
    session->past = now && *now < time(NULL) ? past_create(*now) : NULL;
}

/* What the results database keeps of earlier runs, with a new session where the old one broke. */
static int read_kept(struct session *session, struct publisher *publisher, struct kept_seal *kept,
                     struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    const int64_t *now = session->options->now;
    bool published;
    for (;;) {
        *kept = (struct kept_seal){ .findings = findings_create() };
        begin_past(session);
        if (!seal_read(publisher->db, publisher->cluster, kept, err) &&
            !ledger_read(publisher->db, publisher->cluster, &session->ledger, err) &&
            (!session->past ||
             !share_rows_read(publisher->db, publisher->cluster, session->past, err))) {
            kept->ahead = kept->seal.kept && now && *now < (int64_t)kept->seal.as_of;
            return 0;
        }
        kept_seal_free(kept);
        forget_ledger(session);
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&retry, err))
            return results_explain(session->settings, err);
        if (gone && resume(session, publisher, &published, err))
            return -1;
    }
}

/* Read, fold in what was kept, compute.  A kept sum that proves damaged makes it a full run. */
static int compute_from_kept(struct session *session, struct publisher *publisher,
                             struct kept_seal *kept, struct computation *computation,
                             struct sealing *sealing, struct error *err)
{
    bool damaged = false;
    *sealing = (struct sealing){ .kept = kept,
                                 .asked_full = session->options->full,
                                 .asked_now = session->options->now != NULL };
    do {
        kept->damaged |= damaged;
        if (read_with_retries(session, publisher->cluster, computation, sealing, err))
            return -1;
        if (sealing_fold(sealing, computation, publisher->db, publisher->cluster, &damaged, err)) {
            results_explain(session->settings, err);
            break;
        }
        if (damaged) {
            computation_free(computation);
            sealing_free(sealing);
        } else if (!compute_values(computation, session->settings, sealing, err)) {
            return 0;
        } else {
            break;
        }
    } while (damaged);
    computation_free(computation);
    sealing_free(sealing);
    return -1;
}

/* The same, again where the results' session broke over the kept sums. */
static int compute_sealed(struct session *session, struct publisher *publisher,
                          struct kept_seal *kept, struct computation *computation,
                          struct sealing *sealing, struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    bool published;
    while (compute_from_kept(session, publisher, kept, computation, sealing, err)) {
        bool gone = err->class == ERROR_GONE && session->source;
        if (!session->source || !try_again(&retry, err) ||
            (gone && resume(session, publisher, &published, err)))
            return -1;
    }
    return 0;
}

/* When the source had the associations so.  It cannot have been later than they were read. */
static int64_t seen_at(const struct computation *computation)
{
    const struct run_record *record = &computation->record;
    if (computation->told.unknown)
        return -1;
    return record->as_of < record->started_at ? record->as_of : record->started_at;
}

/* What took long to compute is not thrown away for a lock that is held for seconds: the first try
 * waits for it as long as any, and tries after it end with the deadline. */
#define FIRST_WAIT_MS 10000
static int publish_with_retries(struct session *session, struct publisher *publisher,
                                const struct computation *computation,
                                const struct sealing *sealing, struct error *err)
{
    static const struct usage_sums no_sums = { 0 };
    struct job_keys opened = { 0 };
    struct seal_change change = {
        .seal = &sealing->seal,
        .anew = sealing->anew,
        .sums = sealing->confirmed ? &no_sums : sealing->sums,
        .opened = &sealing->open,
        .ended = &sealing->ended,
        .findings = sealing->findings,
    };
    if (!sealing->anew) {
        opened = job_keys_without(&sealing->open, &sealing->kept->open);
        change.opened = &opened;
    }
    struct publication publication = {
        .tree = computation->tree,
        .values = computation->values,
        .names = computation->accounting->names,
        .queue = computation->queue,
        .findings = computation->findings,
        .source = session->source_identity,
        .seal = sealing->mode == SEALING_NONE ? NULL : &change,
        .seen_at = seen_at(computation),
        .days = sealing->days,
    };
    struct retry retry = { session->deadline, 0 };
    int64_t waits_end = clock_milliseconds() + FIRST_WAIT_MS;
    bool published = false;
    int result = 0;
    while (!result && !published &&
           (db_limit_waits(publisher->db, waits_end, err) ||
            publisher_publish(publisher, &publication, &computation->record, err))) {
        bool gone = err->class == ERROR_GONE;
        waits_end = session->deadline;
        if (!try_again(&retry, err))
            result = results_explain(session->settings, err);
        else if (gone)
            result = resume(session, publisher, &published, err);
    }
    job_keys_free(&opened);
    return result;
}

/* An instant older than what is published is refused: the clock jumped, or --now looks back. */
static int check_instant(const struct session *session, const struct publisher *publisher,
                         struct error *err)
{
    const struct run_options *options = session->options;
    int64_t now = options->now ? *options->now : time(NULL);
    if (options->replace || !publisher->has_published || now >= publisher->published_as_of)
        return 0;
    return fail(err, options->now ? ERROR_USAGE : ERROR_OTHER,
                "%s (%" PRId64 ") is before what is published (%" PRId64 "); --replace publishes "
                "it all the same",
                options->now ? "this instant" : "the clock", now, publisher->published_as_of);
}

static void describe(const char *cluster, const struct computation *computation)
{
    const struct run_record *record = &computation->record;
    log_note("%s: %s%s%s: %" PRId64 " associations, %" PRId64 " users, %" PRId64
             " jobs read, %" PRId64 " ms",
             cluster, record->kind, *record->why ? ", " : "", record->why, record->associations,
             record->users, record->jobs_read, record->duration_ms);
    if (*record->message)
        log_note("%s: %s", cluster, record->message);
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        if (computation->findings->kind[kind].seen)
            log_note("%s: %" PRIu64 " x %s: %s", cluster, computation->findings->kind[kind].seen,
                     finding_name(kind), finding_meaning(kind));
}

/* A run that failed leaves a row that says why, where the results can be written at all. */
static void record_failure(struct session *session, struct publisher *publisher, int64_t began,
                           const struct error *reason)
{
    struct error ignored;
    struct run_record record = run_record_empty;
    record.as_of = session->options->now ? *session->options->now : time(NULL);
    record.started_at = time(NULL);
    record.duration_ms = clock_milliseconds() - began;
    record.message = reason->message;
    if (reason->class != ERROR_LOCKED && session->results && publisher->locked &&
        !db_limit_waits(publisher->db, session->deadline, &ignored))
        publisher_record_failure(publisher, &record, &ignored);
}

/* The run is done whatever becomes of this, and the next one tries again. */
static void prune(const struct publisher *publisher, int64_t as_of)
{
    struct error err;
    if (history_prune(publisher, as_of, &err))
        log_note("%s: old rows stay for now: %s", publisher->cluster, err.message);
}

static int compute_and_publish(struct session *session, struct publisher *publisher, int64_t began,
                               struct kept_seal *kept, struct error *err)
{
    struct computation computation;
    struct sealing sealing;
    if (compute_sealed(session, publisher, kept, &computation, &sealing, err))
        return -1;
    computation.record.duration_ms = clock_milliseconds() - began;
    int result = publish_with_retries(session, publisher, &computation, &sealing, err);
    if (!result)
        prune(publisher, computation.record.as_of);
    describe(publisher->cluster, &computation);
    computation_free(&computation);
    sealing_free(&sealing);
    return result;
}

/* The path: lock, read, compute, publish. */
static int run_locked(struct session *session, struct publisher *publisher, struct error *err)
{
    int64_t began = clock_milliseconds();
    struct kept_seal kept;
    if (check_instant(session, publisher, err))
        return -1;
    int result = read_kept(session, publisher, &kept, err);
    if (!result) {
        result = compute_and_publish(session, publisher, began, &kept, err);
        kept_seal_free(&kept);
        forget_ledger(session);
    }
    if (result)
        record_failure(session, publisher, began, err);
    return result;
}

int start_publisher(struct session *session, const char *cluster, struct publisher *publisher,
                    struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    bool broke = false;
    for (;;) {
        if (!session->results &&
            open_results(&session->results, session->settings, session->deadline, err))
            return -1;
        if (!db_limit_waits(session->results, session->deadline, err) &&
            !publisher_start(publisher, session->results, session->settings, cluster, err))
            return 0;
        if (broke)
            doubt_lock(session, err);
        if (err->class == ERROR_GONE) {
            db_close(session->results);
            session->results = NULL;
            broke = true;
        }
        if (!try_again(&retry, err))
            return results_explain(session->settings, err);
    }
}

int run_cluster(struct session *session, const char *cluster, struct error *err)
{
    struct publisher publisher;
    if (start_publisher(session, cluster, &publisher, err))
        return -1;
    int result = run_locked(session, &publisher, err);
    publisher_end(&publisher);
    return result;
}

/* A dry run needs no results, and asks those that are there. */
static int ask_results(struct session *session, const char *cluster, struct error *err)
{
    struct db *results;
    begin_past(session);
    if (!session->past)
        return 0;
    if (results_open(&results, session->settings, DB_READER, err)) {
        if (err->class == ERROR_GONE)
            return -1;
        log_note("%s: %s; earlier runs tell nothing", cluster, err->message);
        return 0;
    }
    int result = share_rows_read(results, cluster, session->past, err);
    db_close(results);
    return result ? results_explain(session->settings, err) : 0;
}

int show_cluster(struct session *session, const char *cluster, struct error *err)
{
    struct computation computation;
    if (ask_results(session, cluster, err) ||
        ledger_look_up(session->settings, cluster, &session->ledger, err) ||
        read_with_retries(session, cluster, &computation, NULL, err)) {
        forget_ledger(session);
        return -1;
    }
    forget_ledger(session);
    int result = compute_values(&computation, session->settings, NULL, err);
    if (!result) {
        describe(cluster, &computation);
        result = session->options->show(session->settings, cluster, &computation, err);
    }
    computation_free(&computation);
    return result;
}

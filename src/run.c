/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clusters.h"
#include "compute.h"
#include "core/finding.h"
#include "core/ledger.h"
#include "core/past.h"
#include "db/db.h"
#include "patience.h"
#include "results/ledger_rows.h"
#include "results/history.h"
#include "results/publish.h"
#include "results/seal_rows.h"
#include "results/share_rows.h"
#include "results/schema.h"
#include "sealing.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

int run_open_source(struct db **source, const struct settings *settings, struct error *err)
{
    return open_source(source, settings, starting_deadline_of(settings), err);
}

int run_check_apart(const struct settings *settings, struct db *source, struct db *results,
                    struct error *err)
{
    if (settings->share_database)
        return 0;
    char *one = db_identity(source, err), *other = one ? db_identity(results, err) : NULL;
    int result = other ? 0 : -1;
    if (other && !strcmp(one, other))
        result = fail(err, ERROR_SETTINGS,
                      "'%s' is the accounting database itself; give the results one of their own, "
                      "or set [results] share_database = yes",
                      settings->results.database);
    free(one);
    free(other);
    return result;
}

/* What one call of run() has at hand. */
struct session {
    const struct settings *settings;
    const struct run_options *options;
    struct db *source, *results;
    char *source_identity;
    struct ledger *ledger; /* of the cluster that is at work */
    struct past *past;     /* likewise, where the run is of an instant that is over */
    int64_t deadline;      /* of what is done now, in clock_milliseconds() */
};

/* Read, again where the database lets go of us. */
static int read_patiently(struct session *session, const char *cluster,
                          struct computation *computation, struct sealing *sealing,
                          struct error *err)
{
    struct patience patience = { session->deadline, 0 };
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
        if (!try_again(&patience, err))
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
    struct patience patience = { session->deadline, 0 };
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
        if (!try_again(&patience, err))
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
    struct patience patience = { session->deadline, 0 };
    const int64_t *now = session->options->now;
    bool published;
    for (;;) {
        *kept = (struct kept_seal){ .findings = findings_create() };
        begin_past(session);
        if (!seal_read(publisher->db, publisher->cluster, &kept->seal, &kept->open, kept->findings,
                       &kept->damaged, err) &&
            !ledger_read(publisher->db, publisher->cluster, &session->ledger, err) &&
            (!session->past ||
             !share_rows_read(publisher->db, publisher->cluster, session->past, err))) {
            kept->ahead = kept->seal.kept && now && *now < (int64_t)kept->seal.as_of;
            return 0;
        }
        kept_seal_free(kept);
        forget_ledger(session);
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&patience, err))
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
        if (read_patiently(session, publisher->cluster, computation, sealing, err))
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
    struct patience patience = { session->deadline, 0 };
    bool published;
    while (compute_from_kept(session, publisher, kept, computation, sealing, err)) {
        bool gone = err->class == ERROR_GONE && session->source;
        if (!session->source || !try_again(&patience, err) ||
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

static int publish_patiently(struct session *session, struct publisher *publisher,
                             const struct computation *computation, const struct sealing *sealing,
                             struct error *err)
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
    struct patience patience = { session->deadline, 0 };
    bool published = false;
    int result = 0;
    while (!result && !published &&
           publisher_publish(publisher, &publication, &computation->record, err)) {
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&patience, err))
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
    if (reason->class != ERROR_LOCKED && session->results && publisher->locked)
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
    int result = publish_patiently(session, publisher, &computation, &sealing, err);
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

/* Take the cluster's lock, with a new session where the old one is gone. */
static int start_publisher(struct session *session, const char *cluster,
                           struct publisher *publisher, struct error *err)
{
    struct patience patience = { session->deadline, 0 };
    bool broke = false;
    for (;;) {
        if (!session->results &&
            open_results(&session->results, session->settings, session->deadline, err))
            return -1;
        if (!publisher_start(publisher, session->results, session->settings, cluster, err))
            return 0;
        if (broke)
            doubt_lock(session, err);
        if (err->class == ERROR_GONE) {
            db_close(session->results);
            session->results = NULL;
            broke = true;
        }
        if (!try_again(&patience, err))
            return results_explain(session->settings, err);
    }
}

static int run_cluster(struct session *session, const char *cluster, struct error *err)
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

static int show_cluster(struct session *session, const char *cluster, struct error *err)
{
    struct computation computation;
    if (ask_results(session, cluster, err) ||
        ledger_look_up(session->settings, cluster, &session->ledger, err) ||
        read_patiently(session, cluster, &computation, NULL, err)) {
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

struct retiring {
    const char *source;
    const struct cluster *all;
    size_t count;
    char **gone;
    size_t gone_count;
};

/* One that is marked as deleted is gone.  One that is not there at all is gone too, as slurmdbd
 * really deletes what is young, unless nothing is there: then somebody is loading a dump. */
static bool is_gone(const struct retiring *retiring, const char *cluster)
{
    bool any_live = false;
    for (size_t i = 0; i < retiring->count; i++) {
        any_live |= !retiring->all[i].deleted;
        if (!strcmp(retiring->all[i].name, cluster))
            return retiring->all[i].deleted;
    }
    return any_live;
}

static int note_gone(void *context, const char *cluster, const char *source)
{
    struct retiring *retiring = context;
    if (!strcmp(source, retiring->source) && is_gone(retiring, cluster)) {
        retiring->gone =
            memory_resized(retiring->gone, retiring->gone_count + 1, sizeof *retiring->gone);
        retiring->gone[retiring->gone_count++] = memory_text(cluster);
    }
    return 0;
}

static int retire_cluster(struct session *session, const char *cluster, struct error *err)
{
    struct publisher publisher;
    if (start_publisher(session, cluster, &publisher, err))
        return -1;
    int result = publisher_retire(&publisher, err);
    publisher_end(&publisher);
    if (!result)
        log_note("%s: retired, the accounting database has it no more", cluster);
    return result;
}

/* Take the rows of clusters that came from this source and are not there any more.  One that
 * cannot be retired now is complained of, and will be next time. */
static int retire_clusters(struct session *session, struct error *err)
{
    struct cluster *all;
    size_t count;
    const struct layout *layout = layout_of(session->settings);
    if (layout->clusters(session->source, session->settings, &all, &count, err))
        return -1;
    struct retiring retiring = { session->source_identity, all, count, NULL, 0 };
    int result = published_sources(session->results, note_gone, &retiring, err);
    if (result)
        results_explain(session->settings, err);
    for (size_t i = 0; !result && i < retiring.gone_count; i++) {
        struct error of_cluster;
        if (retire_cluster(session, retiring.gone[i], &of_cluster)) {
            fail_in(&of_cluster, "cluster '%s' cannot be retired", retiring.gone[i]);
            session->options->complain(&of_cluster);
        }
    }
    cluster_names_free(retiring.gone, retiring.gone_count);
    clusters_free(all, count);
    return result;
}

static void close_both(struct session *session)
{
    db_close(session->source);
    db_close(session->results);
    session->source = session->results = NULL;
}

static int open_both(struct session *session, struct error *err)
{
    if (open_source(&session->source, session->settings, session->deadline, err))
        return -1;
    if (session->options->dry_run)
        return 0;
    return open_results(&session->results, session->settings, session->deadline, err);
}

/* What is asked once a run: which databases these are, and which clusters there are. */
static int look_round(struct session *session, char ***clusters, size_t *count, struct error *err)
{
    const struct run_options *options = session->options;
    free(session->source_identity);
    session->source_identity = db_identity(session->source, err);
    if (!session->source_identity)
        return -1;
    if (!options->dry_run &&
        (run_check_apart(session->settings, session->source, session->results, err) ||
         (!options->cluster_count && retire_clusters(session, err))))
        return -1;
    return clusters_wanted(session->settings, session->source, options->clusters,
                           options->cluster_count, options->complain, clusters, count, err);
}

static int prepare(struct session *session, char ***clusters, size_t *count, struct error *err)
{
    struct patience patience = { session->deadline, 0 };
    for (;;) {
        if (open_both(session, err))
            return -1;
        if (!look_round(session, clusters, count, err))
            return 0;
        close_both(session);
        if (!try_again(&patience, err))
            return -1;
    }
}

/* One cluster, by itself: it is complained of, and the others go on.  Where a database is not to
 * be had within the deadline they get one try each, or a run would last a deadline a cluster. */
static void run_each(struct session *session, const char *cluster, bool *gave_up)
{
    struct error err;
    session->deadline = *gave_up ? clock_milliseconds() : deadline_of(session->settings);
    if (!(session->options->dry_run ? show_cluster(session, cluster, &err)
                                    : run_cluster(session, cluster, &err)))
        return;
    if (err.class == ERROR_GONE) {
        *gave_up = true;
        close_both(session);
    }
    fail_in(&err, "cluster '%s'", cluster);
    session->options->complain(&err);
}

int run(const struct settings *settings, const struct run_options *options, struct error *err)
{
    struct session session = { .settings = settings, .options = options };
    char **clusters = NULL;
    size_t count = 0;
    session.deadline = starting_deadline_of(settings);
    int result = prepare(&session, &clusters, &count, err);
    bool gave_up = false;
    for (size_t i = 0; !result && i < count; i++)
        run_each(&session, clusters[i], &gave_up);
    cluster_names_free(clusters, count);
    close_both(&session);
    free(session.source_identity);
    past_destroy(session.past);
    return result;
}

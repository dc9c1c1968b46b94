/* SPDX-License-Identifier: MIT */
#include "run/run_session.h"

#include <stdlib.h>
#include <string.h>

#include "compute/computation.h"
#include "results/health.h"
#include "results/history.h"
#include "results/publish.h"
#include "results/schema.h"
#include "results/settings_rows.h"
#include "run/retry.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

int run_session_open_source(struct run_session *session, struct error *err)
{
    return session->source
               ? 0
               : open_source(&session->source, session->settings, session->deadline, err);
}

int run_session_open_results(struct run_session *session, struct error *err)
{
    return session->results
               ? 0
               : open_results(&session->results, session->settings, session->deadline, err);
}

void run_session_close(struct run_session *session)
{
    db_close(session->source);
    db_close(session->results);
    session->source = session->results = NULL;
}

/*
 * After a session of this run broke, the server keeps the session's lock until it notices the
 * broken connection.  So the lock does not mean that there is another run.  Changes ERROR_LOCKED to
 * ERROR_RETRY.  Returns -1.
 */
static int doubt_lock(const struct run_session *session, struct error *err)
{
    if (err->class != ERROR_LOCKED)
        return -1;
    return fail(err, ERROR_RETRY,
                "database '%s': the session broke, and the server still holds its lock",
                session->settings->results.database);
}

int run_session_resume(struct run_session *session, struct publisher *publisher, bool *published,
                       struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    for (;;) {
        publisher->locked = false;
        publisher->db = NULL;
        db_close(session->results);
        session->results = NULL;
        if (run_session_open_results(session, err))
            return -1;
        if (!publisher_resume(publisher, session->results, published, err))
            return 0;
        doubt_lock(session, err);
        if (!try_again(&retry, err))
            return -1;
    }
}

int run_session_lock(struct run_session *session, const char *cluster, struct publisher *publisher,
                     struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    bool broke = false;
    for (;;) {
        if (run_session_open_results(session, err))
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

void failure_unrecorded(const struct run_session *session, const struct error *reason)
{
    if (session->options->unrecorded && reason->class != ERROR_LOCKED)
        *session->options->unrecorded = error_exit_status(reason->class);
}

void failure_record(struct run_session *session, struct publisher *publisher,
                    const struct failure *failure)
{
    struct error ignored;
    struct run_record record = run_record_empty;
    record.half_life_s = session->settings->half_life_s;
    record.started_at = clock_now();
    record.as_of = session->options->now ? *session->options->now : record.started_at;
    record.duration_ms = clock_milliseconds() - failure->began;
    record.message = failure->reason->message;
    if (failure->reason->class == ERROR_LOCKED)
        return;
    if (!session->results || !publisher->locked ||
        db_limit_waits(publisher->db, session->deadline, &ignored) ||
        publisher_record_failure(publisher, &record, failure->findings, &ignored)) {
        failure_unrecorded(session, failure->reason);
        return;
    }
    if (failure->is_there && finding_rows_end_vanished(publisher, &ignored))
        return;
    int64_t newest = INT64_MAX;
    if (session->options->now || !history_newest(publisher, &newest, &ignored))
        history_prune_runs(publisher, newest, &ignored);
}

void failure_record_of(struct run_session *session, const char *cluster,
                       const struct failure *failure)
{
    struct publisher publisher;
    struct error unlocked;
    if (!session->results || run_session_lock(session, cluster, &publisher, &unlocked)) {
        if (!session->results || unlocked.class != ERROR_LOCKED)
            failure_unrecorded(session, failure->reason);
        return;
    }
    failure_record(session, &publisher, failure);
    publisher_end(&publisher);
}

static bool same_text(const char *one, const char *other)
{
    return !strcmp(one ? one : "", other ? other : "");
}

/*
 * Returns true if the cluster's last run used this run's source.  Compares the recorded settings
 * with the current ones, because the source is not available.
 */
static bool has_source(struct run_session *session, const struct cluster_health *cluster)
{
    struct error ignored;
    char *text = settings_rows_text(session->results, cluster->settings_digest, &ignored);
    struct settings *last = settings_recorded(text ? text : "");
    const struct db_settings *one = &last->source, *other = &session->settings->source;
    bool same = same_text(one->driver, other->driver) && same_text(one->host, other->host) &&
                same_text(one->socket, other->socket) && one->port == other->port &&
                same_text(one->service, other->service) &&
                same_text(one->database, other->database);
    settings_destroy(last);
    free(text);
    return same;
}

/* Returns true if the run was for this cluster. */
static bool is_meant(const struct run_session *session, const char *cluster)
{
    const struct cluster_names *asked = &session->options->clusters;
    return asked->count ? cluster_is_listed(asked, cluster)
                        : settings_want_cluster(session->settings, cluster);
}

void failure_record_all(struct run_session *session, const struct failure *failure)
{
    struct error ignored;
    struct health health;
    size_t meant = 0, own = 0;
    bool read = session->results &&
                !health_read(session->results, session->settings, clock_now(), &health, &ignored);
    if (!read)
        failure_unrecorded(session, failure->reason);
    if (!session->results)
        return;
    bool *is_own = memory_zeroed(health.count + 1, sizeof *is_own);
    for (size_t i = 0; read && i < health.count; i++)
        if (is_meant(session, health.clusters[i].cluster)) {
            is_own[i] = has_source(session, &health.clusters[i]);
            own += is_own[i];
            meant++;
        }
    /* If no earlier run used this source, the settings may be wrong.  In this case, all clusters of
     * the run are affected. */
    for (size_t i = 0; read && i < health.count; i++)
        if (own ? is_own[i] : is_meant(session, health.clusters[i].cluster))
            failure_record_of(session, health.clusters[i].cluster, failure);
    if (read && !meant)
        failure_record_of(session, "", failure);
    free(is_own);
    health_free(&health);
}

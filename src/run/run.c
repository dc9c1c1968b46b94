/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "results/publish.h"
#include "results/schema.h"
#include "run/cluster_run.h"
#include "run/retry.h"
#include "run/run_session.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/log.h"

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
        result =
            fail(err, ERROR_SETTINGS,
                 "'%s' is the accounting database; use a separate database for the results, or "
                 "set [results] share_database = yes",
                 settings->results.database);
    free(one);
    free(other);
    return result;
}

/* The clusters of the accounting database, compared with the published ones. */
struct clusters_there {
    const char *source;
    struct cluster_list all;
    struct cluster_names deleted;  /* published clusters that are marked as deleted */
    struct cluster_names vanished; /* published clusters that are missing */
};

static int run_compare_cluster(void *context, const char *cluster, const char *source)
{
    struct clusters_there *there = context;
    if (strcmp(source, there->source) != 0)
        return 0;
    const struct cluster *found = cluster_named(&there->all, cluster);
    if (!found)
        cluster_names_add(&there->vanished, cluster);
    else if (found->deleted)
        cluster_names_add(&there->deleted, cluster);
    return 0;
}

/*
 * Finds a deleted cluster that has only failed runs.  Such a cluster was deleted before its first
 * successful run, or a run failed after the cluster was retired.
 */
static int compare_failed(void *context, const char *cluster, const char *source)
{
    struct clusters_there *there = context;
    const struct cluster *found = cluster_named(&there->all, cluster);
    (void)source;
    if (found && found->deleted)
        cluster_names_add(&there->deleted, cluster);
    return 0;
}

static int retire_cluster(struct run_session *session, const char *cluster, struct error *err)
{
    struct publisher publisher;
    if (run_session_lock(session, cluster, &publisher, err))
        return -1;
    int result = publisher_retire(&publisher, err);
    publisher_end(&publisher);
    if (!result)
        log_note("%s: retired, because it is marked as deleted in the accounting database",
                 cluster);
    return result;
}

/*
 * Removes the results of clusters that are marked as deleted.  If this fails, reports it; the next
 * run tries again.
 */
static void retire_deleted(struct run_session *session, const struct clusters_there *there)
{
    for (size_t i = 0; i < there->deleted.count; i++) {
        struct error err;
        if (retire_cluster(session, there->deleted.names[i], &err)) {
            fail_in(&err, "cluster '%s' cannot be retired", there->deleted.names[i]);
            session->options->complain(&err);
        }
    }
}

static void report_absent(struct run_session *session, const char *cluster,
                          const struct error *reason, const struct findings *findings)
{
    struct failure failure = { reason, clock_milliseconds(), findings, false };
    failure_record_of(session, cluster, &failure);
    session->options->complain(reason);
}

static void fail_vanished(const char *cluster, struct error *err)
{
    fail(
        err, ERROR_DATA,
        "cluster '%s' is missing in the accounting database but not marked as deleted; restore its "
        "row in cluster_table, or run `fairmill forget --cluster %s`",
        cluster, cluster);
}

/*
 * Reports clusters that are missing in the source.  slurmdbd does not remove the row of a cluster
 * that it deletes, but marks it.  So a missing row may be a mistake, an incomplete dump or the
 * wrong database.  The results are kept until an administrator runs `fairmill forget`.
 */
static void report_vanished(struct run_session *session, const struct clusters_there *there)
{
    for (size_t i = 0; i < there->vanished.count; i++) {
        const char *cluster = there->vanished.names[i];
        struct error err;
        struct findings *findings = findings_create();
        fail_vanished(cluster, &err);
        findings_add(findings, FINDING_CLUSTER_VANISHED, 0, "its results stay");
        report_absent(session, cluster, &err, findings);
        findings_destroy(findings);
    }
}

static void run_report_missing(struct run_session *session, const struct clusters_there *there)
{
    struct cluster_names missing = { 0 };
    clusters_missing(session->settings, &there->all, &missing);
    for (size_t i = 0; i < missing.count; i++) {
        struct error err;
        cluster_fail_missing(missing.names[i], &err);
        if (!cluster_is_listed(&there->vanished, missing.names[i]))
            report_absent(session, missing.names[i], &err, NULL);
    }
    cluster_names_free(&missing);
}

/* Compares the existing clusters with the published ones. */
static int settle_absent(struct run_session *session, struct clusters_there *there,
                         struct error *err)
{
    if (published_sources(session->results, run_compare_cluster, there, err) ||
        failed_clusters(session->results, compare_failed, there, err))
        return results_explain(session->settings, err);
    retire_deleted(session, there);
    report_vanished(session, there);
    run_report_missing(session, there);
    return 0;
}

static void clusters_there_free(struct clusters_there *there)
{
    cluster_list_free(&there->all);
    cluster_names_free(&there->deleted);
    cluster_names_free(&there->vanished);
}

int run_check_vanished(const struct settings *settings, struct db *source, struct db *results,
                       void (*tell)(const struct error *err), struct error *err)
{
    const struct source from = source_of(settings, source, NULL);
    char *identity = db_identity(source, err);
    struct clusters_there there = { .source = identity };
    int result = !identity || from.layout->clusters(&from, &there.all, err) ||
                         published_sources(results, run_compare_cluster, &there, err)
                     ? -1
                     : 0;
    for (size_t i = 0; !result && i < there.vanished.count; i++) {
        struct error vanished;
        fail_vanished(there.vanished.names[i], &vanished);
        tell(&vanished);
    }
    clusters_there_free(&there);
    free(identity);
    return result;
}

static int choose_clusters(struct run_session *session, struct cluster_names *clusters,
                           struct error *err)
{
    const struct run_options *options = session->options;
    if (options->dry_run)
        return clusters_wanted(session->settings, session->source, &options->clusters,
                               options->complain, clusters, err);
    const struct source source = source_of(session->settings, session->source, NULL);
    struct clusters_there there = { .source = session->source_identity };
    if (source.layout->clusters(&source, &there.all, err))
        return -1;
    int result = options->clusters.count ? 0 : settle_absent(session, &there, err);
    if (!result)
        result = clusters_choose(session->settings, &there.all, &options->clusters,
                                 options->complain, clusters, err);
    if (result)
        cluster_names_free(clusters);
    clusters_there_free(&there);
    return result;
}

/* Opens the results first, so that a failure of the source can be recorded there. */
static int run_open_both(struct run_session *session, struct error *err)
{
    return (!session->options->dry_run && run_session_open_results(session, err)) ||
                   run_session_open_source(session, err)
               ? -1
               : 0;
}

/*
 * Prepares a run: fails if the results are in the accounting database, unless share_database is
 * set, and selects the clusters.
 */
static int look_round(struct run_session *session, struct cluster_names *clusters,
                      struct error *err)
{
    free(session->source_identity);
    session->source_identity = db_identity(session->source, err);
    if (!session->source_identity)
        return -1;
    if (!session->options->dry_run &&
        run_check_apart(session->settings, session->source, session->results, err))
        return -1;
    return choose_clusters(session, clusters, err);
}

static int run_prepare(struct run_session *session, struct cluster_names *clusters,
                       struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    for (;;) {
        if (run_open_both(session, err))
            return -1;
        if (!look_round(session, clusters, err))
            return 0;
        /* On failure, keep the results open, so that the failure can be recorded. */
        if (!try_again(&retry, err))
            return -1;
        run_session_close(session);
    }
}

/*
 * Makes a run for one cluster.  A failure is reported and does not affect other clusters.  If a
 * database was not available until the deadline, each later cluster gets only one attempt.
 * Otherwise a run could wait until a deadline for every cluster.
 */
static void run_each(struct run_session *session, const char *cluster, bool *gave_up)
{
    struct error err;
    session->deadline = *gave_up ? clock_milliseconds() : deadline_of(session->settings);
    if (!(session->options->dry_run ? show_cluster(session, cluster, &err)
                                    : run_cluster(session, cluster, &err)))
        return;
    if (err.class == ERROR_GONE) {
        *gave_up = true;
        run_session_close(session);
    }
    fail_in(&err, "cluster '%s'", cluster);
    session->options->complain(&err);
}

int run(const struct settings *settings, const struct run_options *options, struct error *err)
{
    struct run_session session = { .settings = settings, .options = options };
    struct cluster_names clusters = { 0 };
    session.deadline = starting_deadline_of(settings);
    int64_t began = clock_milliseconds();
    int result = run_prepare(&session, &clusters, err);
    if (result && !options->dry_run)
        failure_record_all(&session, &(struct failure){ .reason = err, .began = began });
    bool gave_up = false;
    for (size_t i = 0; !result && i < clusters.count; i++)
        run_each(&session, clusters.names[i], &gave_up);
    cluster_names_free(&clusters);
    run_session_close(&session);
    free(session.source_identity);
    return result;
}

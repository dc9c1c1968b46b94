/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "run/retry.h"
#include "results/publish.h"
#include "results/schema.h"
#include "run/cluster_run.h"
#include "settings/settings.h"
#include "source/source.h"
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

struct retiring {
    const char *source;
    struct cluster_list all;
    struct cluster_names gone;
};

/* One that is marked as deleted is gone.  One that is not there at all is gone too, as slurmdbd
 * really deletes what is young, unless nothing is there: then somebody is loading a dump. */
static bool is_gone(const struct retiring *retiring, const char *cluster)
{
    bool any_live = false;
    for (size_t i = 0; i < retiring->all.count; i++) {
        const struct cluster *each = &retiring->all.clusters[i];
        any_live |= !each->deleted;
        if (!strcmp(each->name, cluster))
            return each->deleted;
    }
    return any_live;
}

static int note_gone(void *context, const char *cluster, const char *source)
{
    struct retiring *retiring = context;
    struct cluster_names *gone = &retiring->gone;
    if (!strcmp(source, retiring->source) && is_gone(retiring, cluster)) {
        gone->names = memory_grown(gone->names, gone->count, sizeof *gone->names);
        gone->names[gone->count++] = memory_text(cluster);
    }
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
        log_note("%s: retired, the accounting database has it no more", cluster);
    return result;
}

/* Take the rows of clusters that came from this source and are not there any more.  One that
 * cannot be retired now is complained of, and will be next time. */
static int retire_clusters(struct run_session *session, struct error *err)
{
    const struct source source = source_of(session->settings, session->source, NULL);
    struct retiring retiring = { .source = session->source_identity };
    if (source.layout->clusters(&source, &retiring.all, err))
        return -1;
    int result = published_sources(session->results, note_gone, &retiring, err);
    if (result)
        results_explain(session->settings, err);
    for (size_t i = 0; !result && i < retiring.gone.count; i++) {
        struct error of_cluster;
        if (retire_cluster(session, retiring.gone.names[i], &of_cluster)) {
            fail_in(&of_cluster, "cluster '%s' cannot be retired", retiring.gone.names[i]);
            session->options->complain(&of_cluster);
        }
    }
    cluster_names_free(&retiring.gone);
    cluster_list_free(&retiring.all);
    return result;
}

static int open_both(struct run_session *session, struct error *err)
{
    if (run_session_open_source(session, err))
        return -1;
    return session->options->dry_run ? 0 : run_session_open_results(session, err);
}

/* What is asked once a run: which databases these are, and which clusters there are. */
static int look_round(struct run_session *session, struct cluster_names *clusters,
                      struct error *err)
{
    const struct run_options *options = session->options;
    free(session->source_identity);
    session->source_identity = db_identity(session->source, err);
    if (!session->source_identity)
        return -1;
    if (!options->dry_run &&
        (run_check_apart(session->settings, session->source, session->results, err) ||
         (!options->clusters.count && retire_clusters(session, err))))
        return -1;
    return clusters_wanted(session->settings, session->source, &options->clusters,
                           options->complain, clusters, err);
}

static int prepare(struct run_session *session, struct cluster_names *clusters, struct error *err)
{
    struct retry retry = { session->deadline, 0 };
    for (;;) {
        if (open_both(session, err))
            return -1;
        if (!look_round(session, clusters, err))
            return 0;
        run_session_close(session);
        if (!try_again(&retry, err))
            return -1;
    }
}

/* One cluster, by itself: it is complained of, and the others go on.  Where a database is not to
 * be had within the deadline each gets one attempt; otherwise a run could last one deadline per
 * cluster. */
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
    int result = prepare(&session, &clusters, err);
    bool gave_up = false;
    for (size_t i = 0; !result && i < clusters.count; i++)
        run_each(&session, clusters.names[i], &gave_up);
    cluster_names_free(&clusters);
    run_session_close(&session);
    free(session.source_identity);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/notify/notify_sender.h"
#include "command/notify/notify_statements.h"
#include "command/notify/notify_thresholds.h"
#include "core/tree/tree.h"
#include "report/terminal.h"
#include "results/health.h"
#include "run/clusters.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* Width of a message in columns, which quoted-printable does not break. */
#define MAIL_WIDTH 72

struct notify_options {
    struct shared_options shared;
};

/* ---- Coordinators ---- */

static void notify_take_coordinator(void *context, const char *account, const char *user)
{
    struct notify *notify = context;
    *memory_append(&notify->coordinators, &notify->coordinator_count) =
        (struct coordinator){ memory_text(account), memory_text(user) };
}

/* Reads the coordinators, and keeps only the published clusters that the source contains. */
static int notify_read_source(struct notify *notify, struct cluster_list *clusters,
                              struct error *err)
{
    struct db *db = NULL;
    const struct layout *layout = layout_of(notify->settings);
    if (!layout->read_coordinators)
        return fail(err, ERROR_SETTINGS,
                    "notify: sources with layout = %s have no coordinators, so there is no "
                    "recipient",
                    layout->name);
    if (run_open_source(&db, notify->settings, err))
        return -1;
    const struct source source = source_of(notify->settings, db, NULL);
    int result = layout->clusters(&source, clusters, err);
    if (!result)
        result = layout->read_coordinators(&source, notify_take_coordinator, notify, err);
    db_close(db);
    return result;
}

/* ---- Clusters ---- */

static void notify_find_users(struct notify_cluster *of)
{
    const struct tree *tree = of->cluster->tree;
    of->has_users = memory_zeroed(tree->count, sizeof *of->has_users);
    for (uint32_t i = tree->count; i-- > 1;)
        if (tree->nodes[i].is_user || of->has_users[i])
            of->has_users[tree->nodes[i].parent] = true;
}

/* Stale values can be below or above a threshold by now.  A statement is about a month that is
 * over. */
static int notify_cluster_health(struct notify_cluster *of, const struct health *health,
                                 struct error *err)
{
    const struct cluster_health *found = health_of(health, of->cluster->name);
    if (!(of->notify->settings->mail_budget > 0 || of->notify->settings->mail_share > 0))
        return 0;
    if (!found || !(found->problems[HEALTH_STALE] || found->problems[HEALTH_IN_FUTURE]))
        return notify_thresholds(of, err);
    struct text reason = { 0 };
    health_add_words(&reason, found);
    fail(err, ERROR_OTHER, "notify: cluster '%s': thresholds were not checked: %s",
         of->cluster->name, reason.bytes);
    text_free(&reason);
    complain(err);
    return 0;
}

static int notify_cluster(struct notify *notify, struct published_cluster *cluster,
                          const struct health *health, struct error *err)
{
    struct notify_cluster of = { notify, cluster, .has_users = NULL };
    int result = published_read_tree(notify->published, cluster, err);
    if (!result)
        result =
            notices_read(&of.notices, notify->dry_run ? notify->published->db : notify->writer.db,
                         cluster->name, err);
    if (!result) {
        notify_find_users(&of);
        result = notify->settings->mail_statements ? notify_statements(&of, err) : 0;
    }
    if (!result)
        result = notify_cluster_health(&of, health, err);
    notices_free(&of.notices);
    free(of.has_users);
    return result;
}

static int notify_clusters(struct notify *notify, const struct cluster_list *clusters,
                           struct error *err)
{
    struct published *published = notify->published;
    struct health health = { 0 };
    int result = health_read(published->db, notify->settings, clock_now(), &health, err);
    for (size_t i = 0; !result && i < published->count; i++) {
        const char *name = published->clusters[i].name;
        const struct cluster *found = cluster_named(clusters, name);
        if (found && !found->deleted && settings_want_cluster(notify->settings, name))
            result = notify_cluster(notify, &published->clusters[i], &health, err);
    }
    health_free(&health);
    return result;
}

static int notify_all(struct notify *notify, struct error *err)
{
    struct cluster_list clusters = { 0 };
    int result = notify_read_source(notify, &clusters, err);
    if (!result && !notify->dry_run)
        result = notice_writer_open(&notify->writer, err);
    if (!result)
        result = notify_clusters(notify, &clusters, err);
    notice_writer_close(&notify->writer);
    cluster_list_free(&clusters);
    return result;
}

static int notify_answer(struct command_context *context, struct error *err)
{
    const struct terminal mail_terminal = { .columns = MAIL_WIDTH, .utf8 = true };
    struct notify notify = { .settings = context->settings,
                             .published = &context->published,
                             .dry_run = context->shared->dry_run,
                             .writer = { .settings = context->settings } };
    if (!*context->settings->mail_from)
        return fail(err, ERROR_SETTINGS,
                    "notify: [notify] from is not set; set it to the sender of the messages");
    terminal_set(&mail_terminal);
    int result = notify_all(&notify, err);
    terminal_set(NULL);
    for (size_t i = 0; i < notify.coordinator_count; i++) {
        free(notify.coordinators[i].account);
        free(notify.coordinators[i].user);
    }
    free(notify.coordinators);
    return result;
}

static int notify_check(struct command_context *context, struct error *err)
{
    (void)err;
    context->filter.of_any_age = true;
    return 0;
}

const struct command command_notify = {
    .name = "notify",
    .group = GROUP_MONITOR,
    .summary = "Mail statements and thresholds to coordinators",
    .usage = "[OPTION...]",
    .description =
        "Send messages to the coordinators of accounts: the statement of the last month,\n"
        "and budgets and shares that reached a threshold.  Send each message once.\n",
    .shared = TAKES_CLUSTERS | TAKES_DRY_RUN | TAKES_VERBOSE,
    .options_size = sizeof(struct notify_options),
    .use = SETTINGS_FOR_ALL,
    .results = RESULTS_OPEN,
    .check = notify_check,
    .answer = notify_answer,
};

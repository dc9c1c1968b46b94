/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "command/command.h"
#include "results/history.h"
#include "results/publish.h"
#include "results/schema.h"
#include "run/clusters.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"

static int forget_ask(const char *cluster, struct error *err)
{
    struct text question = { 0 };
    if (!isatty(STDIN_FILENO))
        return fail(err, ERROR_USAGE,
                    "forget: standard input is not a terminal; use --yes to confirm");
    text_add(&question, "Delete all results of cluster '");
    text_add_printable(&question, cluster);
    text_add(&question, "'? [y/N] ");
    int result = command_confirm(question.bytes, "forget: nothing was deleted", err);
    text_free(&question);
    return result;
}

/* Rejects a cluster that the accounting database contains and does not mark as deleted: the next
 * run would publish it again, without its history. */
static int check_source(const struct settings *settings, const char *cluster, struct error *err)
{
    struct db *db = NULL;
    struct cluster_list all = { 0 };
    if (run_open_source(&db, settings, err))
        return -1;
    const struct source source = source_of(settings, db, NULL);
    int result = source.layout->clusters(&source, &all, err);
    const struct cluster *found = result ? NULL : cluster_named(&all, cluster);
    if (found && !found->deleted)
        result = fail(err, ERROR_USAGE,
                      "cannot forget cluster '%s': the accounting database contains it and does "
                      "not mark it as deleted",
                      cluster);
    if (!result || found)
        cluster_list_free(&all);
    db_close(db);
    return result;
}

/* results_explain() suggests GRANTs for the results database, so it applies only to errors from
 * there. */
static int command_forget_check(struct db *db, const struct settings *settings, const char *cluster,
                                struct error *err)
{
    if (forget_check(db, cluster, err)) {
        results_explain(settings, err);
        return -1;
    }
    return check_source(settings, cluster, err);
}

static int remove_all(struct db *db, const struct settings *settings, const char *cluster,
                      struct error *err)
{
    struct publisher publisher;
    if (publisher_start(&publisher, db, settings, cluster, err))
        return results_explain(settings, err);
    /* The cluster may have returned while the command waited for confirmation. */
    int result = command_forget_check(db, settings, cluster, err);
    if (!result && forget_cluster(&publisher, err))
        result = results_explain(settings, err);
    publisher_end(&publisher);
    return result;
}

static int forget(const struct settings *settings, const char *cluster, bool yes, struct error *err)
{
    struct db *db;
    if (results_open(&db, settings, DB_RESULTS, err))
        return -1;
    int result = command_forget_check(db, settings, cluster, err);
    if (!result && !yes)
        result = forget_ask(cluster, err);
    if (!result)
        result = remove_all(db, settings, cluster, err);
    db_close(db);
    return result;
}

struct forget_options {
    struct shared_options shared;
    const char *cluster;
};

static const struct command_option own_options[] = {
    { "cluster", "clusters", 'M', OPTION_ONE, AT(forget_options, cluster), "NAME",
      .help = "Delete the results of this cluster (required)" },
    { .name = NULL },
};

static int forget_check_options(struct command_context *context, struct error *err)
{
    const struct forget_options *options = context->options;
    return options->cluster ? 0 : fail(err, ERROR_USAGE, "forget: missing --cluster NAME");
}

static int forget_answer(struct command_context *context, struct error *err)
{
    const struct forget_options *options = context->options;
    return forget(context->settings, options->cluster, context->shared->yes, err);
}

const struct command command_forget = {
    .name = "forget",
    .group = GROUP_SETUP,
    .summary = "Delete the results of a retired cluster, not its ledger",
    .usage = "--cluster NAME [OPTION...]",
    .description = "Delete the results of a cluster that is deleted in the accounting database or\n"
                   "missing from it.  Keep its ledger.\n",
    .shared = TAKES_YES,
    .options = own_options,
    .options_size = sizeof(struct forget_options),
    .use = SETTINGS_FOR_ALL,
    .check = forget_check_options,
    .answer = forget_answer,
};

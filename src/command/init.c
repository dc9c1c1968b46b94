/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "results/schema.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/log.h"

/* Returns NULL if the accounting database cannot be opened; the caller then skips the steps that
 * need it. */
static struct db *source_if_there(const struct settings *settings)
{
    struct error ignored;
    struct db *source = NULL;
    if (db_open(&source, &settings->source, DB_SOURCE, &ignored))
        return NULL;
    return source;
}

static int init_make(const struct settings *settings, struct error *err)
{
    struct db *results = NULL, *source = NULL;
    int result = -1;
    if (results_open(&results, settings, DB_OWNER, err) ||
        schema_refuse_accounting(results, settings, err))
        goto done;
    source = source_if_there(settings);
    if (source && run_check_apart(settings, source, results, err))
        goto done;
    result = schema_make(results, settings, err);
    if (!result)
        log_note("the result tables are up to date");
done:
    db_close(source);
    db_close(results);
    return result;
}

/* Adds the GRANTs for the clusters in --cluster.  Without --cluster, uses [source] clusters or, if
 * its value is `all`, all clusters in the accounting database. */
static void add_source_grants(struct text *text, const struct settings *settings,
                              const struct name_list *asked)
{
    const struct db_driver *source_driver = db_driver_named(settings->source.driver);
    text_add(text, "\n-- Privileges to read the accounting database, and no more.  Each new "
                   "cluster needs its own.\n");
    source_driver->privileges->add_before_grants(text, &settings->source);
    layout_of(settings)->add_grants(text, settings, NULL);
    if (settings->max_lag_s >= 0 && source_driver->privileges->add_lag_grant)
        source_driver->privileges->add_lag_grant(text, &settings->source);

    struct error ignored;
    struct db *source = NULL;
    struct cluster_names clusters = { 0 };
    if (asked->count) {
        for (size_t i = 0; i < asked->count; i++)
            layout_of(settings)->add_grants(text, settings, asked->values[i]);
    } else if (strcmp(settings->clusters, "all")) {
        const char *at = settings->clusters;
        for (char *name; (name = list_next(&at)); free(name))
            layout_of(settings)->add_grants(text, settings, name);
    } else if ((source = source_if_there(settings)) &&
               !clusters_wanted(settings, source, NULL, complain, &clusters, &ignored)) {
        for (size_t i = 0; i < clusters.count; i++)
            layout_of(settings)->add_grants(text, settings, clusters.names[i]);
    } else {
        text_add(text, "-- The clusters cannot be read yet; name them with --cluster, or replace "
                       "CLUSTER with each name:\n");
        layout_of(settings)->add_grants(text, settings, "CLUSTER");
    }
    cluster_names_free(&clusters);
    db_close(source);
}

static int init_print(const struct settings *settings, const struct name_list *clusters,
                      struct error *err)
{
    const struct db_driver *results = db_driver_named(settings->results.driver);
    const struct db_driver *source = db_driver_named(settings->source.driver);
    struct text text = { 0 };
    text_format(
        &text,
        "-- The result tables for %s, as `fairmill init` creates them, and their privileges.\n"
        "-- If the tables of an earlier release exist, run `fairmill init` before this SQL.\n",
        results->name);
    if (results->privileges)
        results->privileges->add_before_tables(&text, &settings->results);
    schema_print(results, &text);
    if (results->privileges)
        schema_print_privileges(results, &settings->results, &text);
    if (source->privileges)
        add_source_grants(&text, settings, clusters);
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

struct init_options {
    struct shared_options shared;
    bool print;
};

static const struct command_option own_options[] = {
    { "print", NULL, 0, OPTION_FLAG, AT(init_options, print), NULL,
      .help = "Print the SQL, roles and GRANTs instead; change nothing" },
    { .name = NULL },
};

static int init_answer(struct command_context *context, struct error *err)
{
    const struct init_options *options = context->options;
    return options->print ? init_print(context->settings, &context->shared->clusters, err)
                          : init_make(context->settings, err);
}

const struct command command_init = {
    .name = "init",
    .group = GROUP_SETUP,
    .summary = "Create or upgrade the result tables",
    .usage = "[OPTION...]",
    .description = "Create the result tables, or upgrade the tables of an earlier release.  It is\n"
                   "safe to run the command again.\n",
    .shared = TAKES_CLUSTERS | TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct init_options),
    .use = SETTINGS_FOR_ALL,
    .answer = init_answer,
};

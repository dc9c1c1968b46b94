/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "command/command.h"
#include "db/db.h"
#include "results/schema.h"
#include "run.h"
#include "settings/settings.h"
#include "source/slurmdbd.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

/* Whether the accounting database can be asked today: if not, what would be asked is skipped. */
static struct db *source_if_there(const struct settings *settings)
{
    struct error ignored;
    struct db *source = NULL;
    if (db_open(&source, &settings->source, DB_SOURCE, &ignored))
        return NULL;
    return source;
}

static int make(const struct settings *settings, struct error *err)
{
    struct db *results = NULL, *source = NULL;
    int result = -1;
    if (results_open(&results, settings, DB_OWNER, err))
        goto done;
    source = source_if_there(settings);
    if (source && run_check_apart(settings, source, results, err))
        goto done;
    result = schema_make(results, err);
    if (!result)
        log_note("the result tables are there");
done:
    db_close(source);
    db_close(results);
    return result;
}

/* 'user'@'host' as GRANT takes it. */
static void add_account(struct text *text, const struct db_settings *settings)
{
    const char *user = settings->user && *settings->user ? settings->user : "fairmill";
    const char *host = settings->host && *settings->host ? settings->host : "localhost";
    bool here = !strcmp(host, "localhost") || !strcmp(host, "127.0.0.1") || !strcmp(host, "::1");
    text_add(text, "'");
    for (; *user; user++)
        text_add_bytes(text, *user == '\'' ? "''" : user, *user == '\'' ? 2 : 1);
    text_format(text, "'@'%s'", here ? host : "%");
}

/* The clusters to grant: those asked for, else those of the settings or the database. */
static void add_source_grants(struct text *text, const struct settings *settings,
                              const struct option_list *asked)
{
    const char *database = settings->source.database;
    struct text account = { 0 };
    add_account(&account, &settings->source);
    text_format(text,
                "\n-- What reading the accounting database needs, and no more.  A new cluster "
                "needs its own.\n"
                "-- First: CREATE USER %s IDENTIFIED ...\n",
                account.bytes);
    slurmdbd_grants(text, database, account.bytes);

    struct error ignored;
    struct db *source = NULL;
    char **clusters = NULL;
    size_t count = 0;
    if (asked->count) {
        for (size_t i = 0; i < asked->count; i++)
            slurmdbd_cluster_grants(text, database, account.bytes, asked->values[i]);
    } else if (strcmp(settings->clusters, "all")) {
        const char *at = settings->clusters;
        for (char *name; (name = list_next(&at)); free(name))
            slurmdbd_cluster_grants(text, database, account.bytes, name);
    } else if ((source = source_if_there(settings)) &&
               !clusters_wanted(settings, source, NULL, 0, complain, &clusters, &count,
                                &ignored)) {
        for (size_t i = 0; i < count; i++)
            slurmdbd_cluster_grants(text, database, account.bytes, clusters[i]);
    } else {
        text_add(text, "-- Not readable yet; CLUSTER stands for each cluster's name.\n");
        slurmdbd_cluster_grants(text, database, account.bytes, "CLUSTER");
    }
    cluster_names_free(clusters, count);
    db_close(source);
    text_free(&account);
}

static void add_roles(struct text *text, const char *database)
{
    static const struct {
        const char *role, *privileges, *comment;
    } roles[] = {
        { "fairmill_owner",
          "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW",
          "runs `fairmill init`" },
        { "fairmill_writer", "SELECT, INSERT, UPDATE, DELETE", "runs `fairmill run`" },
        { "fairmill_reader", "SELECT", "reads results" },
    };
    text_add(text, "\n-- Roles of the results: grant them to accounts.\n");
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        text_format(text, "CREATE ROLE IF NOT EXISTS %s; -- %s\n", roles[i].role,
                    roles[i].comment);
        text_format(text, "GRANT %s ON `%s`.* TO %s;\n", roles[i].privileges, database,
                    roles[i].role);
    }
}

static int print(const struct settings *settings, const struct option_list *clusters,
                 struct error *err)
{
    struct text text = { 0 };
    bool mysql_results = !strcmp(settings->results.driver, "mysql");
    text_format(&text, "-- The result tables, for %s.\n", settings->results.driver);
    if (mysql_results)
        text_format(&text,
                    "CREATE DATABASE IF NOT EXISTS `%s` DEFAULT CHARACTER SET utf8mb4 COLLATE "
                    "utf8mb4_bin;\nUSE `%s`;\n"
                    "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES');\n",
                    settings->results.database, settings->results.database);
    schema_print(db_driver_named(settings->results.driver), &text);
    if (mysql_results)
        add_roles(&text, settings->results.database);
    if (!strcmp(settings->source.driver, "mysql"))
        add_source_grants(&text, settings, clusters);
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int init_command(const struct invocation *invocation, struct error *err)
{
    bool print_only = false, verbose = false;
    struct option_list clusters = { 0 };
    const struct command_option known[] = {
        { "print", 0, &print_only, NULL, NULL },
        { "cluster", 'M', NULL, NULL, &clusters },
        { "verbose", 'v', &verbose, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (!command_options(invocation, known, err) &&
        !settings_load(&settings, invocation->settings_path, err)) {
        log_set_verbose(verbose);
        result = print_only ? print(settings, &clusters, err) : make(settings, err);
    }
    option_list_free(&clusters);
    settings_destroy(settings);
    return result;
}

const struct command command_init = {
    "init",
    "init [--print [--cluster NAME]...] [-v]",
    "make the result tables, or bring them up to date",
    "  --print          do nothing; print the SQL, the roles and the GRANTs\n"
    "  -M, --cluster NAME\n"
    "                   with --print: GRANTs for this cluster; may be given again\n"
    "  -v, --verbose    tell what was done\n",
    init_command,
};

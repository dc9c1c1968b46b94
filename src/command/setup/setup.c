/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/setup/machine.h"
#include "command/setup/script.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

struct setup_options {
    struct shared_options shared;
    const char *results;
};

static const struct command_option own_options[] = {
    { "results", NULL, 0, OPTION_VALUE, AT(setup_options, results), "DRIVER",
      .help = "Publish to mysql, pgsql or sqlite (default: as found)" },
    { .name = NULL },
};

/* Names of clusters become part of the settings and of commands. */
static int setup_check_clusters(const struct name_list *clusters, struct error *err)
{
    for (size_t i = 0; i < clusters->count; i++) {
        const char *name = clusters->values[i];
        if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_.-")])
            return fail(err, ERROR_USAGE, "setup: '%s' is not the name of a cluster in Slurm",
                        name);
    }
    return 0;
}

static int setup_check(struct command_context *context, struct error *err)
{
    const struct setup_options *options = context->options;
    const char *results = options->results;
    if (results && strcmp(results, "mysql") != 0 && strcmp(results, "pgsql") != 0 &&
        strcmp(results, "sqlite") != 0)
        return fail(err, ERROR_USAGE, "setup: --results '%s': use mysql, pgsql or sqlite", results);
    return setup_check_clusters(&context->shared->clusters, err);
}

/* Sets `fairmill` to the path of this program, and `conf` to that of the settings. */
static void setup_add_paths(struct script *script, const char *asked)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    script_set(script, "fairmill", length > 0 ? path : "/usr/bin/fairmill");
    script_set(script, "conf", settings_path(asked));
}

/* Sets `existing` to the driver of the results in existing settings, if they can be read. */
static void setup_read_settings(struct script *script, const char *asked)
{
    struct error unread;
    struct settings *settings = NULL;
    if (settings_load(&settings, asked, SETTINGS_FOR_READING, &unread))
        return;
    script_set(script, "existing", settings->results.driver);
    script_note(script, "'%s' exists: results in %s", settings->path, settings->results.driver);
    settings_destroy(settings);
}

static void setup_conclude(struct script *script, const struct setup_options *options)
{
    const char *existing = script_fact(script, "existing");
    const char *results = options->results ? options->results : *existing ? existing : "mysql";
    struct text clusters = { 0 };
    for (size_t i = 0; i < options->shared.clusters.count; i++)
        text_format(&clusters, "%s%s", i ? "," : "", options->shared.clusters.values[i]);
    script_set(script, "results", results);
    /* The script asks the accounting database for its clusters if the server is on this host. */
    if (clusters.length || *script_fact(script, "remote"))
        script_set(script, "clusters",
                   clusters.length ? clusters.bytes : script_fact(script, "cluster"));
    text_free(&clusters);
    script_note(script, "results: %s%s (change this with --results)", results,
                options->results ? ", as requested" : "");
}

static int setup_answer(struct command_context *context, struct error *err)
{
    struct script script = script_create();
    struct text text = { 0 };
    text_add(&script.findings, "# Found on this host:\n");
    machine_find_slurm(&script);
    machine_find_servers(&script);
    machine_find_services(&script);
    setup_read_settings(&script, context->invocation->settings_path);
    setup_add_paths(&script, context->invocation->settings_path);
    setup_conclude(&script, context->options);
    script_add(&text, &script, setup_script);
    int result = command_print(&text, err);
    text_free(&text);
    script_free(&script);
    return result;
}

const struct command command_setup = {
    .name = "setup",
    .group = GROUP_SETUP,
    .summary = "Print a script that sets up fairmill on this host",
    .usage = "[OPTION...] >setup.sh",
    .description =
        "Look at this host and print a shell script that sets up everything: user,\n"
        "settings, databases, runs, socket and page.  Read it, then run it with sudo sh.\n"
        "The command itself changes nothing.\n",
    .shared = TAKES_CLUSTERS,
    .options = own_options,
    .options_size = sizeof(struct setup_options),
    .use = SETTINGS_NONE,
    .check = setup_check,
    .answer = setup_answer,
};

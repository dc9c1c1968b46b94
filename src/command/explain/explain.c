/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "command/command.h"
#include "command/explain/explain.h"
#include "results/published_find.h"
#include "core/insight/explain.h"
#include "core/tree/tree.h"
#include "report/explanation.h"
#include "results/published.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/text.h"

struct options {
    struct shared_options shared;
    bool jobs;
    const struct settings *settings;
};

static int explain_found(const struct options *options, const char *login,
                         const struct published_cluster *cluster, uint32_t one, uint32_t other,
                         struct error *err)
{
    struct explain_input input = { cluster->tree, &cluster->options, cluster->algorithm,
                                   cluster->values, cluster->half_life != 0 };
    struct explanation explanation;
    if (!explain(&input, one, other, &explanation))
        return fail(err, ERROR_USAGE, "'%s' is %s '%s'", options->shared.operands[0],
                    one == other  ? "the same as"
                    : one < other ? "above"
                                  : "below",
                    options->shared.operands[1]);
    struct explained explained = { cluster->name, cluster->as_of, cluster->names,
                                   &input,        &explanation,   login };
    struct text text = { 0 };
    struct job_weights *jobs = NULL;
    if (options->jobs && !(jobs = job_weights_read(options->settings, &explained, err)))
        return -1;
    const struct weights *weights = jobs ? job_weights_told(jobs) : NULL;
    if (options->shared.json)
        explanation_add_json(&text, &explained, weights);
    else
        explanation_add(&text, &explained);
    if (weights && !options->shared.json)
        explanation_add_weights(&text, &explained, weights);
    int result = command_print(&text, err);
    text_free(&text);
    job_weights_free(jobs);
    return result;
}

static int explain_published(const struct settings *settings, const struct options *options,
                             struct error *err)
{
    struct published published = { 0 };
    struct published_node one = { .node = NO_NODE }, other = one;
    int result = published_read(&published, settings, &options->shared.clusters, err);
    if (!result)
        result = published_find(&published, NULL, options->shared.operands[0], &one, err);
    if (!result && options->shared.operands[1])
        result = published_find(&published, one.cluster, options->shared.operands[1], &other, err);
    if (!result)
        result = explain_found(options, published.login, one.cluster, one.node, other.node, err);
    published_free(&published);
    return result;
}

static const struct command_option own_options[] = {
    { "jobs", NULL, 'j', OPTION_FLAG, AT(jobs), NULL,
      .help = "the jobs and siblings that weigh most, from the accounting database" },
    { .name = NULL },
};

static int explain_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    int result = -1;
    if (options_read(invocation, &options, err))
        goto done;
    if (!options.shared.operands[0]) {
        fail(err, ERROR_USAGE, "explain: whom? see `fairmill explain --help`");
        goto done;
    }
    if (!settings_load(&settings, invocation->settings_path,
                       options.jobs ? SETTINGS_FOR_ALL : SETTINGS_FOR_READING, err)) {
        options.settings = settings;
        result = explain_published(settings, &options, err);
    }
done:
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_explain = {
    .name = "explain",
    .operands = "NAME [NAME]",
    .operand_count = 2,
    .summary = "why a user or account has its fairshare, or ranks behind another",
    .notes = "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n",
    .shared = TAKES_CLUSTERS | TAKES_JSON,
    .options = own_options,
    .run = explain_command,
};

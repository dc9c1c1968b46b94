/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "command/command.h"
#include "command/explain/explain.h"
#include "command/named.h"
#include "core/insight/explain.h"
#include "core/tree/tree.h"
#include "report/explanation.h"
#include "results/snapshot.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/text.h"

struct wish {
    const char *names[2];
    struct option_list clusters;
    bool json, jobs;
    const struct settings *settings;
};

static int explain_found(const struct wish *wish, const char *login,
                         const struct snapshot *snapshot, uint32_t one, uint32_t other,
                         struct error *err)
{
    struct explain_input input = { snapshot->tree, &snapshot->options, snapshot->algorithm,
                                   snapshot->values, snapshot->half_life != 0 };
    struct explanation explanation;
    if (!explain(&input, one, other, &explanation))
        return fail(err, ERROR_USAGE, "'%s' is %s '%s'", wish->names[0],
                    one == other  ? "the same as"
                    : one < other ? "above"
                                  : "below",
                    wish->names[1]);
    struct explained explained = { snapshot->cluster, snapshot->as_of,
                                   snapshot->names,   &input,
                                   &explanation,      login };
    struct text text = { 0 };
    struct job_weights *jobs = NULL;
    if (wish->jobs && !(jobs = job_weights_read(wish->settings, &explained, err)))
        return -1;
    const struct weights *weights = jobs ? job_weights_told(jobs) : NULL;
    if (wish->json)
        explanation_add_json(&text, &explained, weights);
    else
        explanation_add(&text, &explained);
    if (weights && !wish->json)
        explanation_add_weights(&text, &explained, weights);
    int result = command_print(&text, err);
    text_free(&text);
    job_weights_free(jobs);
    return result;
}

static int explain_published(const struct settings *settings, const struct wish *wish,
                             struct error *err)
{
    struct snapshots snapshots = { 0 };
    struct named one = { .node = NO_NODE }, other = one;
    int result = named_read(settings, &wish->clusters, &snapshots, err);
    if (!result)
        result = named_find(&snapshots, NULL, wish->names[0], &one, err);
    if (!result && wish->names[1])
        result = named_find(&snapshots, one.snapshot, wish->names[1], &other, err);
    if (!result)
        result = explain_found(wish, snapshots.login, one.snapshot, one.node, other.node, err);
    snapshots_free(&snapshots);
    return result;
}

static int explain_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { 0 };
    const struct command_option known[] = {
        { "cluster", 'M', NULL, NULL, &wish.clusters },
        { "jobs", 'j', &wish.jobs, NULL, NULL },
        { "json", 0, &wish.json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (command_operands(invocation, known, wish.names, 2, err))
        goto done;
    if (!wish.names[0]) {
        fail(err, ERROR_USAGE, "explain: whom? see `fairmill explain --help`");
        goto done;
    }
    if (!settings_load(&settings, invocation->settings_path,
                       wish.jobs ? SETTINGS_FOR_ALL : SETTINGS_FOR_READING, err)) {
        wish.settings = settings;
        result = explain_published(settings, &wish, err);
    }
done:
    option_list_free(&wish.clusters);
    settings_destroy(settings);
    return result;
}

const struct command command_explain = {
    "explain",
    "explain NAME [NAME] [--cluster NAME]... [--jobs]\n"
    "       [--json]",
    "why a user or account has its fairshare, or ranks behind another",
    "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
    "\n"
    "  -M, --cluster NAME  only this cluster; may be given again\n"
    "  -j, --jobs          the jobs and siblings that weigh most, from the accounting\n"
    "                      database\n"
    "      --json          one JSON object\n",
    explain_command,
};

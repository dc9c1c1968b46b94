/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/explain.h"
#include "core/explain.h"
#include "core/tree.h"
#include "db/db.h"
#include "report/explanation.h"
#include "results/schema.h"
#include "results/snapshot.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* More candidates than these say nothing any more. */
#define CANDIDATES_NAMED 10

struct wish {
    const char *names[2];
    struct option_list clusters;
    bool json, jobs;
    const struct settings *settings;
};

/* Where a name was found. */
struct found {
    const struct snapshot *snapshot;
    uint32_t node;
    size_t count;           /* associations that answer to it */
    struct text candidates; /* the first few, for the message */
};

/* How an association is told from all others: `account/`, `account/user`,
 * `account/user/partition`. */
static struct text full_name(const struct snapshot *snapshot, const struct node *node)
{
    struct text text = { 0 };
    text_add(&text, names_text(snapshot->names, node->account));
    text_add(&text, "/");
    text_add(&text, names_text(snapshot->names, node->user));
    if (*names_text(snapshot->names, node->partition)) {
        text_add(&text, "/");
        text_add(&text, names_text(snapshot->names, node->partition));
    }
    return text;
}

static bool is_name(const struct snapshot *snapshot, uint32_t name, const char *asked)
{
    return reads_as(asked, strlen(asked), names_text(snapshot->names, name));
}

/* 2: this one and no other; 1: one of those that may be meant; 0: another one. */
static int answers(const struct snapshot *snapshot, const struct node *node, const char *asked)
{
    if (is_name(snapshot, node->is_user ? node->user : node->account, asked))
        return 1;
    struct text full = full_name(snapshot, node);
    int answer = reads_as(asked, strlen(asked), full.bytes) ? 2 : 0;
    /* All partitions of a user of an account. */
    if (!answer && node->is_user && *names_text(snapshot->names, node->partition)) {
        full.length -= strlen(names_text(snapshot->names, node->partition)) + 1;
        full.bytes[full.length] = '\0';
        answer = reads_as(asked, strlen(asked), full.bytes) ? 1 : 0;
    }
    text_free(&full);
    return answer;
}

static void add_candidate(struct found *found, const struct snapshot *snapshot, uint32_t node,
                          bool clusters)
{
    found->snapshot = snapshot;
    found->node = node;
    if (found->count++ >= CANDIDATES_NAMED)
        return;
    struct text full = full_name(snapshot, &snapshot->tree->nodes[node]);
    text_format(&found->candidates, "%s'%s'", found->candidates.length ? ", " : "", full.bytes);
    if (clusters)
        text_format(&found->candidates, " on '%s'", snapshot->cluster);
    text_free(&full);
}

/* Find a name in the trees that were read. */
static int find(const struct snapshots *snapshots, const struct snapshot *only, const char *asked,
                struct found *found, struct error *err)
{
    *found = (struct found){ 0 };
    int best = 0;
    for (size_t i = 0; i < snapshots->count; i++) {
        const struct snapshot *snapshot = &snapshots->clusters[i];
        if (!snapshot->tree || (only && snapshot != only))
            continue;
        for (uint32_t node = 0; node < snapshot->tree->count; node++) {
            int answer = answers(snapshot, &snapshot->tree->nodes[node], asked);
            if (answer > best) {
                best = answer;
                text_free(&found->candidates);
                *found = (struct found){ 0 };
            }
            if (answer && answer == best)
                add_candidate(found, snapshot, node, snapshots->count > 1);
        }
    }
    int result = 0;
    if (!found->count)
        result = fail(err, ERROR_USAGE, "there is no user or account '%s'", asked);
    else if (found->count > CANDIDATES_NAMED)
        result = fail(err, ERROR_USAGE, "'%s' may be %s, or one of %zu more", asked,
                      found->candidates.bytes, found->count - CANDIDATES_NAMED);
    else if (found->count > 1)
        result = fail(err, ERROR_USAGE, "'%s' may be %s", asked, found->candidates.bytes);
    text_free(&found->candidates);
    return result;
}

static int explain_found(const struct wish *wish, const struct snapshot *snapshot, uint32_t one,
                         uint32_t other, struct error *err)
{
    struct case_file file = { snapshot->tree, &snapshot->options, snapshot->algorithm,
                              snapshot->values, snapshot->decayed };
    struct explanation explanation;
    if (!explain(&file, one, other, &explanation))
        return fail(err, ERROR_USAGE, "'%s' is %s '%s'", wish->names[0],
                    one == other  ? "the same as"
                    : one < other ? "above"
                                  : "below",
                    wish->names[1]);
    struct explained explained = { snapshot->cluster, snapshot->as_of, snapshot->names, &file,
                                   &explanation };
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

static bool is_wanted(const struct wish *wish, const char *cluster)
{
    for (size_t i = 0; i < wish->clusters.count; i++)
        if (reads_as(wish->clusters.values[i], strlen(wish->clusters.values[i]), cluster))
            return true;
    return wish->clusters.count == 0;
}

static int read_wanted(struct db *db, const struct wish *wish, struct snapshots *snapshots,
                       struct error *err)
{
    size_t wanted = 0;
    if (snapshots_read(db, snapshots, err))
        return -1;
    if (!snapshots->count)
        return fail(err, ERROR_OTHER, "no results yet");
    for (size_t i = 0; i < snapshots->count; i++) {
        if (!is_wanted(wish, snapshots->clusters[i].cluster))
            continue;
        wanted++;
        if (snapshot_read(db, &snapshots->clusters[i], err))
            return -1;
    }
    return wanted ? 0
                  : fail(err, ERROR_USAGE, "there are no results of a cluster '%s'",
                         wish->clusters.values[0]);
}

static int explain_published(const struct settings *settings, const struct wish *wish,
                             struct error *err)
{
    struct db *db;
    struct snapshots snapshots = { 0 };
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(db, err)) {
        result = read_wanted(db, wish, &snapshots, err);
        db_rollback(db);
    }
    db_close(db);
    struct found one, other = { .node = NO_NODE };
    if (!result)
        result = find(&snapshots, NULL, wish->names[0], &one, err);
    if (!result && wish->names[1])
        result = find(&snapshots, one.snapshot, wish->names[1], &other, err);
    if (!result)
        result = explain_found(wish, one.snapshot, one.node, other.node, err);
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
    "explain NAME [NAME] [--cluster NAME]... [--jobs] [--json]",
    "why a user or account has its fairshare, or ranks behind another",
    "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
    "\n"
    "  -M, --cluster NAME  only this cluster; may be given again\n"
    "  -j, --jobs          the jobs and siblings that weigh most, from the accounting database\n"
    "      --json          one JSON object\n",
    explain_command,
};

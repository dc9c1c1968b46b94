/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/named.h"

#include <string.h>

#include "command/command.h"
#include "core/tree/tree.h"
#include "command/private.h"
#include "db/db.h"
#include "results/schema.h"
#include "results/snapshot.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

/* More candidates than these say nothing any more. */
#define CANDIDATES_NAMED 10

static bool is_wanted(const struct option_list *clusters, const char *cluster)
{
    for (size_t i = 0; i < clusters->count; i++)
        if (reads_as(clusters->values[i], strlen(clusters->values[i]), cluster))
            return true;
    return clusters->count == 0;
}

static int read_wanted(struct db *db, const struct option_list *clusters,
                       struct snapshots *snapshots, struct error *err)
{
    size_t wanted = 0;
    if (snapshots_read(db, snapshots, err))
        return -1;
    if (!snapshots->count)
        return fail(err, ERROR_OTHER, "no results yet");
    for (size_t i = 0; i < snapshots->count; i++) {
        if (!is_wanted(clusters, snapshots->clusters[i].cluster))
            continue;
        wanted++;
        if (snapshot_read(db, &snapshots->clusters[i], err))
            return -1;
    }
    return wanted ? 0
                  : fail(err, ERROR_USAGE, "there are no results of a cluster '%s'",
                         clusters->values[0]);
}

int named_read(const struct settings *settings, const struct option_list *clusters,
               struct snapshots *snapshots, struct error *err)
{
    struct db *db;
    snapshots->login = private_login(settings);
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(db, err)) {
        result = read_wanted(db, clusters, snapshots, err);
        db_rollback(db);
    }
    db_close(db);
    return result;
}

/* What was found. */
struct found {
    struct named named;     /* the last of them */
    size_t count;           /* associations that answer to the name */
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
    found->named = (struct named){ snapshot, node };
    if (found->count++ >= CANDIDATES_NAMED)
        return;
    struct text full = full_name(snapshot, &snapshot->tree->nodes[node]);
    text_format(&found->candidates, "%s'%s'", found->candidates.length ? ", " : "", full.bytes);
    if (clusters)
        text_format(&found->candidates, " on '%s'", snapshot->cluster);
    text_free(&full);
}

/* What is looked for: users and accounts, or accounts only; with `login` no user but this one. */
struct sought {
    const char *asked;
    bool accounts_only;
    const char *login;
};

static bool may_be_found(const struct snapshot *snapshot, const struct node *node,
                         const struct sought *sought)
{
    if (!node->is_user)
        return true;
    return !sought->accounts_only &&
           (!sought->login || !strcmp(names_text(snapshot->names, node->user), sought->login));
}

static void find(const struct snapshots *snapshots, const struct snapshot *only,
                 struct sought sought, struct found *found)
{
    int best = 0;
    for (size_t i = 0; i < snapshots->count; i++) {
        const struct snapshot *snapshot = &snapshots->clusters[i];
        if (!snapshot->tree || (only && snapshot != only))
            continue;
        for (uint32_t node = 0; node < snapshot->tree->count; node++) {
            if (!may_be_found(snapshot, &snapshot->tree->nodes[node], &sought))
                continue;
            int answer = answers(snapshot, &snapshot->tree->nodes[node], sought.asked);
            if (answer > best) {
                best = answer;
                text_free(&found->candidates);
                *found = (struct found){ 0 };
            }
            if (answer && answer == best)
                add_candidate(found, snapshot, node, snapshots->count > 1);
        }
    }
}

/* Where only an account can be meant users count where no account has that name. */
static int find_one(const struct snapshots *snapshots, const struct snapshot *only,
                    const char *asked, bool account, struct named *named, struct error *err)
{
    struct found found = { 0 };
    const char *login = snapshots->login;
    if (account)
        find(snapshots, only, (struct sought){ asked, true, login }, &found);
    if (!found.count)
        find(snapshots, only, (struct sought){ asked, false, login }, &found);
    /* What others are called is not told either: they are looked for only to be refused. */
    bool others = login && !found.count;
    if (others)
        find(snapshots, only, (struct sought){ asked, false, NULL }, &found);
    *named = found.named;
    int result = 0;
    if (!found.count)
        result = fail(err, ERROR_USAGE, "there is no user or account '%s'", asked);
    else if (others)
        ; /* as one of them is */
    else if (found.count > CANDIDATES_NAMED)
        result = fail(err, ERROR_USAGE, "'%s' may be %s, or one of %zu more", asked,
                      found.candidates.bytes, found.count - CANDIDATES_NAMED);
    else if (found.count > 1)
        result = fail(err, ERROR_USAGE, "'%s' may be %s", asked, found.candidates.bytes);
    if (!result) {
        const struct node *node = &named->snapshot->tree->nodes[named->node];
        result = private_check(login, names_text(named->snapshot->names, node->user), err);
    }
    text_free(&found.candidates);
    return result;
}

int named_find(const struct snapshots *snapshots, const struct snapshot *only, const char *asked,
               struct named *named, struct error *err)
{
    return find_one(snapshots, only, asked, false, named, err);
}

int named_find_account(const struct snapshots *snapshots, const struct snapshot *only,
                       const char *asked, struct named *named, struct error *err)
{
    return find_one(snapshots, only, asked, true, named, err);
}

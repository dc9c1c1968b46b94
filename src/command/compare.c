/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/named.h"
#include "core/insight/correlation.h"
#include "core/fairshare/fairshare.h"
#include "core/tree/tree.h"
#include "report/comparison.h"
#include "results/snapshot.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

struct wish {
    struct option_list clusters;
    uint64_t top; /* 0: all */
    const struct comparison_form *form;
};

static size_t count_algorithms(void)
{
    size_t count = 0;
    while (algorithms[count])
        count++;
    return count;
}

static enum conformance other_than(enum conformance conformance)
{
    return conformance == CONFORMANCE_DOCUMENTS ? CONFORMANCE_SLURMCTLD : CONFORMANCE_DOCUMENTS;
}

/* The ways of one conformance, the run's own first. */
static void fill_ways(struct comparison *comparison, const struct snapshot *snapshot,
                      enum conformance conformance, const struct values *values)
{
    const struct tree *tree = snapshot->tree;
    for (const struct algorithm *const *each = algorithms; *each; each++) {
        struct way *way = &comparison->ways[comparison->way_count++];
        *way = (struct way){
            .algorithm = *each,
            .conformance = conformance,
            .factors = memory_zeroed(tree->user_count + 1, sizeof *way->factors),
            .ranks = memory_zeroed(tree->user_count + 1, sizeof *way->ranks),
            .known = true,
        };
        uint32_t user = 0;
        for (uint32_t i = 0; i < tree->count; i++)
            if (tree->nodes[i].is_user)
                way->factors[user++] = (*each)->factor(&values[i]);
        for (user = 0; user < tree->user_count; user++)
            way->known &= !isnan(way->factors[user]);
        way->shown = way->known && conformance == comparison->conformance;
        if (way->known)
            ranks_of(way->factors, tree->user_count, way->ranks);
    }
}

/* A way of the other conformance is shown where it gives anybody another rank. */
static void find_differing(struct comparison *comparison, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct way *own = &comparison->ways[i];
        struct way *other = &comparison->ways[i + count];
        for (uint32_t user = 0; user < comparison->user_count; user++)
            other->differs += own->ranks[user] != other->ranks[user];
        other->shown = other->known && other->differs;
    }
}

static void fill_users(struct comparison *comparison, const struct snapshot *snapshot)
{
    const struct tree *tree = snapshot->tree;
    comparison->users = memory_zeroed(tree->user_count + 1, sizeof *comparison->users);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (!node->is_user)
            continue;
        uint32_t user = comparison->user_count++, lowest = UINT32_MAX, highest = 0;
        for (size_t way = 0; way < comparison->way_count; way++) {
            uint32_t rank = comparison->ways[way].ranks[user];
            if (!comparison->ways[way].known)
                continue;
            lowest = rank < lowest ? rank : lowest;
            highest = rank > highest ? rank : highest;
        }
        comparison->users[user] = (struct compared_user){
            node->id, highest - lowest, names_text(snapshot->names, node->account),
            names_text(snapshot->names, node->user), names_text(snapshot->names, node->partition)
        };
    }
}

static int by_spread(const void *a, const void *b)
{
    const struct compared_user *one = *(const struct compared_user *const *)a,
                               *other = *(const struct compared_user *const *)b;
    if (one->spread != other->spread)
        return one->spread > other->spread ? -1 : 1;
    int order = strcmp(one->account, other->account);
    order = order ? order : strcmp(one->user, other->user);
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

/* Of those that may be told of. */
static void sort_users(struct comparison *comparison, const char *login, uint64_t top)
{
    uint32_t count = 0;
    const struct compared_user **sorted = memory_zeroed(comparison->user_count + 1, sizeof(void *));
    for (uint32_t i = 0; i < comparison->user_count; i++)
        if (!login || !strcmp(comparison->users[i].user, login))
            sorted[count++] = &comparison->users[i];
    qsort(sorted, count, sizeof *sorted, by_spread);
    comparison->by_spread = memory_zeroed(count + 1, sizeof *comparison->by_spread);
    for (uint32_t i = 0; i < count; i++)
        comparison->by_spread[i] = (uint32_t)(sorted[i] - comparison->users);
    comparison->listed = count;
    comparison->top = top && top < count ? (uint32_t)top : count;
    free(sorted);
}

static void comparison_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->way_count; i++) {
        free(comparison->ways[i].factors);
        free(comparison->ways[i].ranks);
    }
    free(comparison->ways);
    free(comparison->users);
    free(comparison->by_spread);
}

/* What is published, and the same shares and usage by the other conformance. */
static void compare_snapshot(struct text *text, const struct snapshot *snapshot, const char *login,
                             const struct wish *wish, bool first)
{
    size_t count = count_algorithms();
    struct fairshare_options options = snapshot->options;
    struct values *others = memory_zeroed(snapshot->tree->count, sizeof *others);
    struct comparison comparison = {
        .cluster = snapshot->cluster,
        .as_of = snapshot->as_of,
        .algorithm = snapshot->algorithm,
        .conformance = snapshot->options.conformance,
        .conformances = { conformance_name(CONFORMANCE_DOCUMENTS),
                          conformance_name(CONFORMANCE_SLURMCTLD) },
        .ways = memory_zeroed(2 * count, sizeof *comparison.ways),
    };
    options.conformance = other_than(options.conformance);
    fairshare_compute(snapshot->tree, &options, others);
    fill_ways(&comparison, snapshot, comparison.conformance, snapshot->values);
    fill_ways(&comparison, snapshot, options.conformance, others);
    free(others);
    fill_users(&comparison, snapshot);
    find_differing(&comparison, count);
    sort_users(&comparison, login, wish->top);
    wish->form->add(text, &comparison, first);
    comparison_free(&comparison);
}

static int compare_published(const struct settings *settings, const struct wish *wish,
                             struct error *err)
{
    struct snapshots snapshots = { 0 };
    struct text text = { 0 };
    bool first = true;
    int result = named_read(settings, &wish->clusters, &snapshots, err);
    wish->form->begin(&text);
    for (size_t i = 0; !result && i < snapshots.count; i++)
        if (snapshots.clusters[i].tree) {
            compare_snapshot(&text, &snapshots.clusters[i], snapshots.login, wish, first);
            first = false;
        }
    wish->form->end(&text);
    if (!result)
        result = command_print(&text, err);
    text_free(&text);
    snapshots_free(&snapshots);
    return result;
}

static int compare_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { 0 };
    const char *top = NULL;
    bool json = false, csv = false;
    const struct command_option known[] = {
        { "cluster", 'M', NULL, NULL, &wish.clusters },
        { "top", 'n', NULL, &top, NULL },
        { "csv", 0, &csv, NULL, NULL },
        { "json", 0, &json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (command_options(invocation, known, err))
        goto done;
    if (csv && json) {
        fail(err, ERROR_USAGE, "compare: --csv and --json exclude each other");
        goto done;
    }
    if (top && (!number_unsigned(top, strlen(top), &wish.top) || !wish.top)) {
        fail(err, ERROR_USAGE, "compare: --top '%s' must be a number from 1 on", top);
        goto done;
    }
    wish.form = csv ? &comparison_csv : json ? &comparison_json : &comparison_table;
    if (!settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        result = compare_published(settings, &wish, err);
done:
    option_list_free(&wish.clusters);
    settings_destroy(settings);
    return result;
}

const struct command command_compare = {
    "compare",
    "compare [--top N] [--cluster NAME]... [--csv | --json]",
    "every algorithm and both conformances side by side",
    "  -n, --top N         only the N users who move most\n"
    "  -M, --cluster NAME  only this cluster; may be given again\n"
    "      --csv           comma-separated values, a line for each user and algorithm\n"
    "      --json          one JSON object\n",
    compare_command,
};

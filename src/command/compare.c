/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "core/fairshare/algorithm.h"
#include "core/insight/correlation.h"
#include "report/comparison.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

struct compare_options {
    struct shared_options shared;
    const char *top_text;
    uint64_t top; /* 0 means all */
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

/* Fills the ranks as a run computes them.  Exact integers decide the order, because different
 * factors can be equal, or 0, as doubles. */
static void fill_ranks(struct variant *variant, const struct published_cluster *cluster,
                       const struct fairshare_options *options, const struct values *values)
{
    const struct tree *tree = cluster->tree;
    bool own = variant->algorithm == cluster->algorithm &&
               variant->conformance == cluster->options.conformance;
    uint32_t *order = own ? NULL : order_of_all(tree, options, variant->algorithm, values);
    uint32_t *ranks = user_ranks(tree, own ? cluster->order : order), user = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user)
            variant->ranks[user++] = ranks[i];
    variant->ordering = ordering_of(variant->ranks, tree->user_count);
    free(order);
    free(ranks);
}

/* Fills the variants of one conformance mode, one for each algorithm. */
static void fill_variants(struct comparison *comparison, const struct published_cluster *cluster,
                          const struct fairshare_options *options, const struct values *values)
{
    const struct tree *tree = cluster->tree;
    enum conformance conformance = options->conformance;
    for (const struct algorithm *const *each = algorithms; *each; each++) {
        struct variant *variant = &comparison->variants[comparison->variant_count++];
        *variant = (struct variant){
            .algorithm = *each,
            .conformance = conformance,
            .factors = memory_zeroed(tree->user_count + 1, sizeof *variant->factors),
            .ranks = memory_zeroed(tree->user_count + 1, sizeof *variant->ranks),
            .known = true,
        };
        uint32_t user = 0;
        for (uint32_t i = 0; i < tree->count; i++)
            if (tree->nodes[i].is_user)
                variant->factors[user++] = (*each)->factor(&values[i]);
        for (user = 0; user < tree->user_count; user++)
            variant->known &= !isnan(variant->factors[user]);
        variant->shown = variant->known && conformance == comparison->conformance;
        if (variant->known)
            fill_ranks(variant, cluster, options, values);
    }
}

/* Shows a variant of the other conformance mode only if a user's rank differs in it. */
static void find_differing(struct comparison *comparison, size_t count, uint32_t users)
{
    for (size_t i = 0; i < count; i++) {
        const struct variant *own = &comparison->variants[i];
        struct variant *other = &comparison->variants[i + count];
        for (uint32_t user = 0; user < users; user++)
            other->differs += own->ranks[user] != other->ranks[user];
        other->shown = other->known && other->differs;
    }
}

static void fill_users(struct comparison *comparison, const struct published_cluster *cluster)
{
    const struct tree *tree = cluster->tree;
    comparison->users = memory_zeroed(tree->user_count + 1, sizeof *comparison->users);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (!node->is_user)
            continue;
        uint32_t user = comparison->user_count++, lowest = UINT32_MAX, highest = 0;
        for (size_t variant = 0; variant < comparison->variant_count; variant++) {
            uint32_t rank = comparison->variants[variant].ranks[user];
            if (!comparison->variants[variant].known)
                continue;
            lowest = rank < lowest ? rank : lowest;
            highest = rank > highest ? rank : highest;
        }
        comparison->users[user] = (struct compared_user){
            node->id, highest - lowest, names_text(cluster->names, node->account),
            names_text(cluster->names, node->user), names_text(cluster->names, node->partition)
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

/* Sorts the selected users that the requesting user may see, the largest spread of ranks first. */
static void sort_users(struct comparison *comparison, const struct published_cluster *cluster,
                       const struct published *published, const struct compare_options *options)
{
    uint32_t count = 0, user = 0;
    const struct compared_user **sorted = memory_zeroed(comparison->user_count + 1, sizeof(void *));
    uint32_t *chosen = selection_of_tree(&published->selection, cluster->tree, cluster->names);
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        const struct compared_user *compared = &comparison->users[user];
        if (!cluster->tree->nodes[i].is_user)
            continue;
        user++;
        if (chosen[i] && permissions_show(&published->permissions, comparison->cluster,
                                          compared->account, compared->user))
            sorted[count++] = compared;
    }
    free(chosen);
    qsort(sorted, count, sizeof *sorted, by_spread);
    comparison->by_spread = memory_zeroed(count + 1, sizeof *comparison->by_spread);
    for (uint32_t i = 0; i < count; i++)
        comparison->by_spread[i] = (uint32_t)(sorted[i] - comparison->users);
    comparison->listed = count;
    comparison->top = options->top && options->top < count ? (uint32_t)options->top : count;
    free(sorted);
}

static void comparison_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->variant_count; i++) {
        free(comparison->variants[i].factors);
        free(comparison->variants[i].ranks);
        ordering_free(&comparison->variants[i].ordering);
    }
    free(comparison->variants);
    free(comparison->users);
    free(comparison->by_spread);
}

/* Compares the algorithms for the published shares and usage.  For Slurm clusters, includes the
 * other conformance mode. */
static struct comparison compare_cluster(const struct published_cluster *cluster,
                                         const struct published *published,
                                         const struct compare_options *options)
{
    size_t count = count_algorithms();
    struct fairshare_options fairshare = cluster->options;
    struct values *others = memory_zeroed(cluster->tree->count, sizeof *others);
    struct comparison comparison = {
        .cluster = cluster->name,
        .terms = terminology_of(cluster->settings),
        .as_of = cluster->as_of,
        .algorithm = cluster->algorithm,
        .conformance = cluster->options.conformance,
        .conformances = { conformance_name(CONFORMANCE_DOCUMENTS),
                          conformance_name(CONFORMANCE_SLURMCTLD) },
        .variants = memory_zeroed(2 * count, sizeof *comparison.variants),
    };
    /* If there is no usage, the published values do not contain the capacity, but every capacity
     * gives the same values. */
    if (isnan(fairshare.capacity) && !isnan(cluster->values[0].capacity_usage))
        fairshare.capacity = 1;
    fill_variants(&comparison, cluster, &fairshare, cluster->values);
    if (scheduler_of(cluster->settings)->has_conformances) {
        fairshare.conformance = other_than(fairshare.conformance);
        fairshare_compute(cluster->tree, &fairshare, others);
        fill_variants(&comparison, cluster, &fairshare, others);
        find_differing(&comparison, count, cluster->tree->user_count);
    }
    free(others);
    fill_users(&comparison, cluster);
    sort_users(&comparison, cluster, published, options);
    return comparison;
}

static int compare_check(struct command_context *context, struct error *err)
{
    struct compare_options *options = context->options;
    return option_count("top", options->top_text, &options->top, err);
}

static int compare_answer(struct command_context *context, struct error *err)
{
    struct compare_options *options = context->options;
    if (published_check_names(&context->published, err))
        return -1;
    published_close(&context->published);
    for (size_t i = 0; i < context->published.count; i++) {
        struct comparison comparison =
            compare_cluster(&context->published.clusters[i], &context->published, options);
        comparison_answer(&comparison, context->answer);
        comparison_free(&comparison);
    }
    return 0;
}

static const struct command_option own_options[] = {
    { "top", NULL, 0, OPTION_VALUE, AT(compare_options, top_text), "NUMBER",
      .help = "Show only the NUMBER users whose places differ most", .former = 'n' },
    { .name = NULL },
};

const struct command command_compare = {
    .name = "compare",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_TRY,
    .summary = "Compare algorithms and conformance modes",
    .usage = "[OPTION...] [NAME...]",
    .description = "Compare the values of users under each algorithm and conformance mode.\n"
                   "\n" HELP_OF_NAMES,
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct compare_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_TREES,
    .layout = &comparison_layout,
    .check = compare_check,
    .answer = compare_answer,
};

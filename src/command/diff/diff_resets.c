/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_resets.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/computation.h"
#include "core/usage/ledger.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The associations of which something is missing, and the numbers that are kept for them. */
#define SHORT_AT_MOST 256
#define NUMBERS_AT_MOST 8000000

/* What ended up to the reset is gone, and of what ran what was charged up to the step before. */
struct finder {
    const struct reset_search *search;
    const struct tree *tree;
    struct usage_bounds *own; /* by node: of what was printed, without what is below */
    uint32_t *shorts;         /* the nodes of which something is missing */
    size_t short_count;
    struct usage_since *since; /* of these: by step, and by how much later the reset was */
    bool *is_short;            /* by node */
    size_t *shorts_below;      /* by node, itself included */
};

static double slack_of(const struct finder *finder, uint32_t node)
{
    return finder->search->blur[node] + 8 * DBL_EPSILON * finder->search->printed[node].high;
}

/* What was printed less what was printed below. */
static void find_own(struct finder *finder)
{
    const struct usage_bounds *printed = finder->search->printed;
    for (uint32_t i = 0; i < finder->tree->count; i++)
        finder->own[i] = printed[i];
    for (uint32_t i = 1; i < finder->tree->count; i++) {
        struct usage_bounds *above = &finder->own[finder->tree->nodes[i].parent];
        above->low -= printed[i].high;
        above->high -= printed[i].low;
    }
}

static bool lacks(const struct finder *finder, uint32_t node)
{
    return !isnan(finder->own[node].high) &&
           finder->search->own[node] - slack_of(finder, node) > fmax(finder->own[node].high, 0);
}

static bool agrees(const struct finder *finder, uint32_t node)
{
    return !lacks(finder, node) &&
           finder->search->own[node] + slack_of(finder, node) >= finder->own[node].low;
}

static uint32_t place_in(const struct finder *finder, uint32_t node)
{
    const struct tree *tree = finder->search->computation->tree;
    uint32_t place = tree_place(tree, finder->tree->nodes[node].id);
    return place != NO_NODE && tree->nodes[place].id == finder->tree->nodes[node].id ? place
                                                                                     : NO_NODE;
}

static uint64_t begun_of(const struct finder *finder, uint32_t node)
{
    uint32_t place = place_in(finder, node);
    return place == NO_NODE ? 0 : finder->search->stepped->begun[place];
}

/* List those of which something is missing; false where there are none, or too many. */
static bool list_short(struct finder *finder)
{
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        finder->is_short[i] = place_in(finder, i) != NO_NODE && lacks(finder, i);
        finder->shorts_below[i] = finder->is_short[i];
        if (finder->is_short[i])
            finder->shorts[finder->short_count++] = i;
    }
    for (uint32_t i = finder->tree->count; i-- > 1;)
        finder->shorts_below[finder->tree->nodes[i].parent] += finder->shorts_below[i];
    return finder->short_count && finder->short_count <= SHORT_AT_MOST;
}

/* Read what each would have after a reset.  Where there is room, the step may have been at any
 * second, as it was before slurmctld was started again; else it was a whole number of periods ago,
 * and as long ago as there is room for. */
static int read_since(struct finder *finder, struct error *err)
{
    const struct stepped_usage *stepped = finder->search->stepped;
    uint64_t newest = stepped->newest, period = stepped->period, oldest = newest;
    for (size_t i = 0; i < finder->short_count; i++) {
        uint64_t begun = begun_of(finder, finder->shorts[i]);
        oldest = begun < oldest ? begun : oldest;
    }
    uint64_t room = NUMBERS_AT_MOST / finder->short_count;
    bool any = (newest - oldest + period) * period <= room;
    uint64_t steps = (newest - oldest) / period + 1;
    steps = steps * period > room ? room / period : steps;
    struct usage_since part = { .begin = newest - steps * period,
                                .stride = any ? 1 : period,
                                .count = (size_t)(any ? steps * period + 1 : steps + 1),
                                .depth = (size_t)period };
    for (size_t i = 0; i < finder->short_count; i++) {
        finder->since[i] = part;
        finder->since[i].node = place_in(finder, finder->shorts[i]);
    }
    return stepped_usage_since(stepped, finder->search->computation, finder->since,
                               finder->short_count, err);
}

static bool is_below(const struct tree *tree, uint32_t node, uint32_t above)
{
    while (node > above)
        node = tree->nodes[node].parent;
    return node == above;
}

/* Whether a reset then leaves what was printed. */
static bool leaves_printed(const struct finder *finder, size_t i, size_t step, size_t later)
{
    uint32_t node = finder->shorts[i];
    double usage = finder->since[i].usage[step * finder->since[i].depth + later];
    double slack = slack_of(finder, node);
    return usage + slack >= finder->own[node].low && usage - slack <= finder->own[node].high;
}

/* The last instant before which nothing has charged of that of which nothing is missing; 0 where
 * something differs otherwise. */
static uint64_t limit_of(const struct finder *finder, uint32_t node)
{
    uint64_t limit = UINT64_MAX;
    for (uint32_t i = node; i < finder->tree->count; i++) {
        if (finder->is_short[i] || !is_below(finder->tree, i, node))
            continue;
        uint64_t begun = begun_of(finder, i);
        if (!agrees(finder, i))
            return 0;
        limit = begun && begun < limit ? begun : limit;
    }
    return limit;
}

struct attempt {
    const struct finder *finder;
    uint32_t node;
    uint64_t limit;
    struct found_reset *found;
};

static bool holds(const struct attempt *attempt, size_t step, size_t later)
{
    const struct finder *finder = attempt->finder;
    const struct usage_since *since = finder->since;
    if (since->begin + step * since->stride + later > attempt->limit)
        return false;
    for (size_t i = 0; i < finder->short_count; i++)
        if (is_below(finder->tree, finder->shorts[i], attempt->node) &&
            !leaves_printed(finder, i, step, later))
            return false;
    return true;
}

/* Try every `stride`th step from the first one on, with each delay. */
static bool try_steps(const struct attempt *attempt, size_t first, size_t stride)
{
    const struct usage_since *since = attempt->finder->since;
    for (size_t later = 0; later < since->depth; later++)
        for (size_t step = first; step < since->count; step += stride) {
            if (!holds(attempt, step, later))
                continue;
            attempt->found->node = attempt->node;
            attempt->found->step = since->begin + step * since->stride;
            attempt->found->later = later;
            return true;
        }
    return false;
}

/* When our ledger has a reset of all that something is missing of; 0 where it has not. */
static uint64_t in_ledger(const struct finder *finder, uint32_t node)
{
    const struct ledger_state *ledger = finder->search->ledger;
    uint64_t all = 0;
    for (size_t i = 0; i < finder->short_count; i++) {
        if (!is_below(finder->tree, finder->shorts[i], node))
            continue;
        uint64_t id = finder->tree->nodes[finder->shorts[i]].id;
        uint64_t instant = ledger_reset_before(ledger, id, UINT64_MAX);
        instant = instant > ledger->cluster_reset ? instant : ledger->cluster_reset;
        if (all && instant != all)
            return 0;
        all = instant;
    }
    return all;
}

/* First as our ledger has it, then with the steps of today, then with those at any second. */
static bool find_reset(const struct finder *finder, uint32_t node, struct found_reset *found)
{
    const struct usage_since *since = finder->since;
    const struct attempt attempt = { finder, node, limit_of(finder, node), found };
    uint64_t noted = in_ledger(finder, node), period = finder->search->stepped->period;
    if (noted >= since->begin && (noted - since->begin) % since->stride == 0 &&
        try_steps(&attempt, (size_t)((noted - since->begin) / since->stride), since->count)) {
        found->in_ledger = true;
        return true;
    }
    return try_steps(&attempt, 0, (size_t)(period / since->stride)) ||
           (since->stride == 1 && try_steps(&attempt, 0, 1));
}

static void take(const struct finder *finder, struct resets *resets,
                 const struct found_reset *found)
{
    const struct usage_since *since = finder->since;
    size_t step = (size_t)((found->step - since->begin) / since->stride);
    for (size_t i = 0; i < finder->short_count; i++)
        if (resets->cover[finder->shorts[i]] == found->node)
            resets->own[finder->shorts[i]] =
                finder->since[i].usage[step * since->depth + found->later];
}

/* Highest first, but below an account of which only one member has something missing. */
static void take_all(const struct finder *finder, struct resets *resets)
{
    const struct tree *tree = finder->tree;
    bool *sound = memory_zeroed(tree->count, sizeof *sound); /* sums above it are as printed */
    bool *one_below = memory_zeroed(tree->count, sizeof *one_below);
    for (uint32_t i = 1; i < tree->count; i++)
        if (finder->shorts_below[i] &&
            finder->shorts_below[i] == finder->shorts_below[tree->nodes[i].parent])
            one_below[tree->nodes[i].parent] = true;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t above = i ? tree->nodes[i].parent : 0;
        struct found_reset found = { 0 };
        sound[i] = !i || (sound[above] && agrees(finder, above));
        resets->cover[i] = i ? resets->cover[above] : NO_NODE;
        if (resets->cover[i] == NO_NODE && sound[i] && finder->shorts_below[i] && !one_below[i] &&
            find_reset(finder, i, &found)) {
            resets->list[resets->count++] = found;
            resets->cover[i] = i;
        }
    }
    for (size_t i = 0; i < resets->count; i++)
        take(finder, resets, &resets->list[i]);
    free(sound);
    free(one_below);
}

/* The jobs that ended between the step and the reset, which a reset as of the step leaves. */
static int list_ended(struct finder *finder, struct found_reset *found, struct error *err)
{
    struct usage_since *list = memory_zeroed(finder->short_count, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < finder->short_count; i++)
        if (is_below(finder->tree, finder->shorts[i], found->node)) {
            list[count] = (struct usage_since){ .node = finder->since[i].node,
                                                .begin = found->step,
                                                .stride = 1,
                                                .count = 1,
                                                .depth = (size_t)found->later + 1,
                                                .ended = &found->ended };
            count++;
        }
    int result =
        stepped_usage_since(finder->search->stepped, finder->search->computation, list, count, err);
    for (size_t i = 0; i < count; i++)
        free(list[i].usage);
    free(list);
    job_keys_sort(&found->ended);
    return result;
}

static int find_resets(struct finder *finder, struct resets *resets, struct error *err)
{
    if (read_since(finder, err))
        return -1;
    take_all(finder, resets);
    for (size_t i = 0; i < resets->count; i++)
        if (resets->list[i].later && !resets->list[i].in_ledger &&
            list_ended(finder, &resets->list[i], err))
            return -1;
    return 0;
}

int resets_find(struct resets *resets, const struct reset_search *search, struct error *err)
{
    uint32_t count = search->tree->count;
    int result = 0;
    struct finder finder = { .search = search,
                             .tree = search->tree,
                             .own = memory_zeroed(count, sizeof *finder.own),
                             .shorts = memory_zeroed(count, sizeof *finder.shorts),
                             .since = memory_zeroed(count, sizeof *finder.since),
                             .is_short = memory_zeroed(count, sizeof *finder.is_short),
                             .shorts_below = memory_zeroed(count, sizeof *finder.shorts_below) };
    *resets = (struct resets){ .list = memory_zeroed(count, sizeof *resets->list),
                               .own = memory_zeroed(count, sizeof *resets->own),
                               .cover = memory_zeroed(count, sizeof *resets->cover) };
    for (uint32_t i = 0; i < count; i++) {
        resets->own[i] = search->own[i];
        resets->cover[i] = NO_NODE;
    }
    find_own(&finder);
    if (list_short(&finder))
        result = find_resets(&finder, resets, err);
    for (size_t i = 0; i < finder.short_count; i++)
        free(finder.since[i].usage);
    free(finder.own);
    free(finder.shorts);
    free(finder.since);
    free(finder.is_short);
    free(finder.shorts_below);
    if (result)
        resets_free(resets);
    return result;
}

void resets_free(struct resets *resets)
{
    for (size_t i = 0; i < resets->count; i++)
        job_keys_free(&resets->list[i].ended);
    free(resets->list);
    free(resets->own);
    free(resets->cover);
    *resets = (struct resets){ 0 };
}

/* Add it as a word of a shell's command line. */
static void add_word(struct text *text, const char *option, const char *word)
{
    if (!*word)
        return;
    text_format(text, " %s ", option);
    if (!word[strspn(word,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@%+-/:,")]) {
        text_add(text, word);
        return;
    }
    text_add(text, "'");
    for (; *word; word++)
        *word == '\'' ? text_add(text, "'\\''") : text_add_bytes(text, word, 1);
    text_add(text, "'");
}

void reset_add_command(struct text *text, const struct reset_search *search,
                       const struct found_reset *reset, const struct names *names,
                       const char *cluster)
{
    const struct node *node = &search->tree->nodes[reset->node];
    text_add(text, "fairmill ledger reset");
    if (reset->node) {
        add_word(text, "-u", names_text(names, node->user));
        add_word(text, "-A", names_text(names, node->account));
        add_word(text, "--partition", names_text(names, node->partition));
    } else {
        text_add(text, " --all");
    }
    add_word(text, "-M", cluster);
    text_format(text, " --at %" PRIu64 " -w 'rawusage=0'", reset->step);
}

void reset_add_refund(struct text *text, const struct found_reset *reset, uint64_t job,
                      const char *cluster)
{
    text_format(text, "fairmill ledger refund %" PRIu64, job);
    add_word(text, "-M", cluster);
    text_format(text, " --at %" PRIu64 " -w 'rawusage=0'", reset->step + reset->later);
}

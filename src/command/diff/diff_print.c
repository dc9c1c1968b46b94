/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/fairshare.h"
#include "report/differences.h"
#include "report/sshare_print.h"
#include "compute/stepped_usage.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* An association by its names. */
struct named_node {
    const char *account, *user, *partition;
    uint32_t order, node;
};

static int by_name(const void *a, const void *b)
{
    const struct named_node *one = a, *other = b;
    int order = strcmp(one->account, other->account);
    order = order ? order : strcmp(one->user, other->user);
    if (!order && one->order != other->order)
        return one->order < other->order ? -1 : 1;
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

static struct named_node *sorted_names(const struct tree *tree, const struct names *names,
                                       bool ordered)
{
    struct named_node *list = memory_zeroed(tree->count, sizeof *list);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        list[i] =
            (struct named_node){ names_text(names, node->account), names_text(names, node->user),
                                 names_text(names, node->partition), ordered ? node->order : 0, i };
    }
    qsort(list, tree->count, sizeof *list, by_name);
    return list;
}

static int compare_name(const char *name, const char *printed, bool cut)
{
    return cut ? strncmp(name, printed, strlen(printed)) : strcmp(name, printed);
}

static bool is_named(const struct named_node *named, const struct printed_row *row)
{
    return !compare_name(named->account, row->account, row->account_cut) &&
           !compare_name(named->user, row->user, row->user_cut) &&
           (!row->partition || !strcmp(named->partition, row->partition));
}

/* The first that is not before the row's account. */
static uint32_t first_named(const struct named_node *list, uint32_t count,
                            const struct printed_row *row)
{
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = compare_name(list[middle].account, row->account, row->account_cut);
        if (!order && !row->account_cut)
            order = compare_name(list[middle].user, row->user, row->user_cut);
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool has_shares_of(const struct node *node, const struct printed_row *row)
{
    return !row->has_shares || (row->parent_shares ? node_has_parent_shares(node)
                                                   : node->shares == printed_shares(row));
}

/* The association that a line is, if no line before was; NO_NODE where there is none. */
static uint32_t find_node(const struct printed_match *match, const struct named_node *list,
                          const struct tree *tree, const struct printed_row *row)
{
    if (row->id > 0) {
        uint32_t node = tree_place(tree, (uint64_t)row->id);
        bool there = node != NO_NODE && tree->nodes[node].id == row->id && !match->rows[node];
        return there ? node : NO_NODE;
    }
    uint32_t found = NO_NODE;
    for (uint32_t i = first_named(list, tree->count, row);
         i < tree->count && !compare_name(list[i].account, row->account, row->account_cut); i++) {
        uint32_t node = list[i].node;
        if (match->rows[node] || !is_named(&list[i], row))
            continue;
        if (has_shares_of(&tree->nodes[node], row))
            return node;
        found = found == NO_NODE ? node : found;
    }
    return found;
}

static const char *name_copy(struct differences *differences, const char *name)
{
    struct text text = { 0 };
    text_add(&text, "");
    text_add_as_utf8(&text, name, strlen(name));
    const char *copy = arena_copy(differences->texts, text.bytes, text.length);
    text_free(&text);
    return copy;
}

static void add_row(struct differences *differences, const struct tree *tree, uint32_t node,
                    const struct names *names)
{
    const struct node *at = &tree->nodes[node];
    differences->rows[differences->count++] = (struct compared_association){
        .id = at->id,
        .is_user = at->is_user,
        .account = name_copy(differences, names_text(names, at->account)),
        .user = name_copy(differences, names_text(names, at->user)),
        .partition = name_copy(differences, names_text(names, at->partition)),
    };
}

static void note_missing(struct differences *differences, const char *account, const char *user,
                         bool printed)
{
    struct text text = { 0 };
    size_t *count = printed ? &differences->only_printed : &differences->only_ours;
    const char **first = printed ? &differences->first_only_printed : &differences->first_only_ours;
    text_format(&text, "%s%s%s", account, *user ? "/" : "", user);
    if (!(*count)++)
        *first = name_copy(differences, text.bytes);
    text_free(&text);
}

/* Of associations that may be shown. */
static void note_only_ours(const struct printed_match *match, const struct tree *tree,
                           const struct names *names, struct differences *differences)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const char *user = names_text(names, tree->nodes[i].user);
        if (!match->rows[i] && (!differences->login || !*user || !strcmp(user, differences->login)))
            note_missing(differences, names_text(names, tree->nodes[i].account), user, false);
    }
}

/* Its part of the root's usage; the root's own is blank. */
static struct printed_number part_of_root(const struct printed_row *row, uint32_t node)
{
    return node || printed_is_there(&row->norm_usage) ? row->norm_usage
                                                      : (struct printed_number){ 1, 1 };
}

/* The bounds of the root's usage; false where the print has none, or they contradict each other. */
static bool bound_root(const struct printed_match *match, uint32_t count, double *low, double *high)
{
    *low = 0;
    *high = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (!match->rows[i])
            continue;
        struct printed_number part = part_of_root(match->rows[i], i);
        if (!(part.low > 0))
            continue;
        *low = fmax(*low, match->bounds[i].low / part.high);
        *high = fmin(*high, match->bounds[i].high / part.low);
    }
    return *low <= *high && isfinite(*high);
}

static void narrow_bounds(struct printed_match *match, uint32_t count)
{
    double root_low, root_high;
    if (!bound_root(match, count, &root_low, &root_high))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct usage_bounds *bounds = &match->bounds[i];
        if (!match->rows[i])
            continue;
        struct printed_number part = part_of_root(match->rows[i], i);
        double low = fmax(bounds->low, part.low * root_low);
        double high = fmin(bounds->high, part.high * root_high);
        if (low <= high)
            *bounds = (struct usage_bounds){ low, high };
    }
}

void printed_match_make(struct printed_match *match, const struct sshare_print *print,
                        const struct tree *tree, const struct names *names, bool ordered,
                        struct differences *differences)
{
    struct named_node *list = sorted_names(tree, names, ordered);
    match->rows = memory_zeroed(tree->count, sizeof *match->rows);
    match->bounds = memory_zeroed(tree->count, sizeof *match->bounds);
    match->nodes = memory_zeroed(print->count + 1, sizeof *match->nodes);
    differences->rows = memory_zeroed(print->count + 1, sizeof *differences->rows);
    differences->texts = arena_create();
    for (uint32_t i = 0; i < tree->count; i++)
        match->bounds[i] = (struct usage_bounds){ NAN, NAN };
    for (size_t i = 0; i < print->count; i++) {
        const struct printed_row *row = &print->rows[i];
        uint32_t node = find_node(match, list, tree, row);
        if (node == NO_NODE) {
            note_missing(differences, row->account, row->user, true);
            continue;
        }
        match->rows[node] = row;
        match->bounds[node] = (struct usage_bounds){ row->raw_usage.low, row->raw_usage.high };
        match->nodes[differences->count] = node;
        add_row(differences, tree, node, names);
    }
    note_only_ours(match, tree, names, differences);
    if (differences->algorithm->ranks_users)
        narrow_bounds(match, tree->count);
    free(list);
}

void printed_match_free(struct printed_match *match)
{
    free(match->rows);
    free(match->bounds);
    free(match->nodes);
}

int32_t printed_shares(const struct printed_row *row)
{
    return row->shares < 0 ? 0 : row->shares > INT32_MAX ? INT32_MAX : (int32_t)row->shares;
}

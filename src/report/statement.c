/* SPDX-License-Identifier: MIT */
#include "report/statement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/insight/statement.h"
#include "report/answer.h"
#include "report/permissions.h"
#include "report/selection.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/times.h"

struct report_statement_row {
    int64_t from, to, id;
    bool is_total;
    const char *account, *user, *partition;
    uint32_t depth;
    double due, used; /* in the view's unit; `due` is NAN without an own entitlement */
    double due_percent, used_percent, used_of_due;
};

/* ---- The columns ---- */

static void get_from(const void *of, struct cell *cell)
{
    const struct report_statement_row *row = of;
    if (row->is_total)
        cell_text(cell, "total");
    else
        cell_integer(cell, row->from);
}

#define ROW(member) MEMBER(struct report_statement_row, member)
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "from", "From", COLUMN_DAY, .get = get_from },
    { "to", "To", COLUMN_TIME, ROW(to), .hidden = NOT_FOR_PEOPLE },
    { "id_assoc", "ID", COLUMN_INTEGER, ROW(id), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, ROW(account), DEPTH(struct report_statement_row, depth) },
    { "username", "User", COLUMN_TEXT, ROW(user) },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "due_percent", "Due%", COLUMN_REAL, ROW(due_percent), .decimals = 2, .expendable = 1 },
    { "due", "Due", COLUMN_REAL, ROW(due), .decimals = 1 },
    { "used_percent", "Used%", COLUMN_REAL, ROW(used_percent), .decimals = 2, .expendable = 2 },
    { "used", "Used", COLUMN_REAL, ROW(used), .decimals = 1 },
    { "used_of_due", "Used/Due", COLUMN_REAL, ROW(used_of_due), .unit = "%", .decimals = 1 },
    { .name = NULL },
};
const struct table_layout statement_layout = { columns, "rows", .by_cluster = true };

/* ---- Order of the tree ---- */

/* Sorts siblings: users first, then by name. */
struct report_statement_ordering {
    const struct tree *tree;
    const struct names *names;
};

static int report_statement_by_parent_and_name(const void *a, const void *b, void *context)
{
    const struct report_statement_ordering *of = context;
    const struct node *one = &of->tree->nodes[*(const uint32_t *)a],
                      *other = &of->tree->nodes[*(const uint32_t *)b];
    if (one->parent != other->parent)
        return one->parent < other->parent ? -1 : 1;
    if (one->is_user != other->is_user)
        return one->is_user ? -1 : 1;
    int order = strcmp(names_text(of->names, one->user), names_text(of->names, other->user));
    if (!order)
        order = strcmp(names_text(of->names, one->account), names_text(of->names, other->account));
    if (!order)
        order =
            strcmp(names_text(of->names, one->partition), names_text(of->names, other->partition));
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

/*
 * Returns all nodes in depth-first order; the caller frees the array.  Parents come first in the
 * tree.  So the position of a node follows from its parent's position and the sizes of the subtrees
 * of its earlier siblings.
 */
static uint32_t *depth_first(const struct tree *tree, const struct names *names)
{
    struct report_statement_ordering ordering = { tree, names };
    uint32_t *sorted = memory_zeroed(tree->count, sizeof *sorted);
    uint32_t *below = memory_zeroed(tree->count, sizeof *below); /* size of the subtree */
    uint32_t *place = memory_zeroed(tree->count, sizeof *place); /* position of the next child */
    uint32_t *order = memory_zeroed(tree->count, sizeof *order);
    for (uint32_t i = 0; i < tree->count; i++)
        sorted[i] = i;
    qsort_r(sorted + 1, tree->count - 1, sizeof *sorted, report_statement_by_parent_and_name,
            &ordering);
    for (uint32_t i = tree->count; i-- > 0;)
        if (below[i]++, i)
            below[tree->nodes[i].parent] += below[i];
    place[0] = 1;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t node = sorted[i], parent = tree->nodes[node].parent;
        uint32_t at = place[parent];
        order[at] = node;
        place[node] = at + 1;
        place[parent] = at + below[node];
    }
    free(sorted);
    free(below);
    free(place);
    return order;
}

/* ---- Rows ---- */

static bool report_statement_is_shown(const struct statement_view *view, const struct node *node,
                                      double due, double used)
{
    return (due > 0 || used != 0) && permissions_show(view->permissions, view->cluster,
                                                      names_text(view->names, node->account),
                                                      names_text(view->names, node->user));
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

void statement_add_period(const struct statement_view *view, const struct statement_period *period,
                          struct answer *answer)
{
    const struct tree *tree = period->tree;
    if (period->is_total && !answer_is_for_people(answer))
        return;
    uint32_t *from = selection_of_tree(view->selection, tree, view->names);
    uint32_t *order = depth_first(tree, view->names);
    double whole = period->due[0] / view->scale;
    bool of_users = view->selection->lists[SELECTION_USERS].count > 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t at = order[i];
        const struct node *node = &tree->nodes[at];
        if (!from[at] || !report_statement_is_shown(view, node, period->due[at], period->used[at]))
            continue;
        double due = period->due[at] / view->scale, used = period->used[at] / view->scale;
        answer_row(answer, &(const struct report_statement_row){
                               .from = period->from,
                               .to = period->to,
                               .id = node->id,
                               .is_total = period->is_total,
                               .account = names_text(view->names, node->account),
                               .user = names_text(view->names, node->user),
                               .partition = names_text(view->names, node->partition),
                               .depth = of_users ? 0 : node->depth + 1 - from[at],
                               .due = due,
                               .used = used,
                               .due_percent = percent(due, whole),
                               .used_percent = percent(used, whole),
                               .used_of_due = percent(used, due),
                           });
    }
    free(from);
    free(order);
}

/* ---- Title and facts ---- */

/* The days before the first usage of a TRES may be days on which its usage was not kept yet. */
static void report_statement_add_reach(struct answer *answer, const struct statement_view *view)
{
    if (view->days_from == INT64_MAX && view->tres)
        answer_say(answer, "No usage of %s is recorded.\n", view->tres);
    else if (view->days_from == INT64_MAX)
        answer_say(answer, "No usage is known.\n");
    else if (view->days_from > view->from && view->tres)
        answer_say(answer, "No usage of %s is recorded before %s.\n", view->tres,
                   time_day_text(view->days_from).bytes);
    else if (view->days_from > view->from)
        answer_say(answer, "Usage before %s is unknown.\n", time_day_text(view->days_from).bytes);
}

static void report_statement_add_title(struct answer *answer, const struct statement_view *view)
{
    answer_say(answer, "Cluster %s, %s to %s, by %s\n", view->cluster, time_text(view->from).bytes,
               time_text(view->to).bytes, view->by);
    if (view->tres)
        answer_say(answer, "Used: %s, without usage factors.\n", view->unit_text);
    else
        answer_say(answer, "Used: %s, as charged for fairshare.\n", view->unit_text);
    if (view->unit_definition)
        answer_say(answer, "%s\n", view->unit_definition);
    if (view->tres)
        answer_say(answer, "Due: a share of the %s of the whole cluster.\n", view->unit_text);
    else
        answer_say(answer, "Due: a share of %s.\n",
                   view->of_capacity ? "the cluster's capacity" : "the usage of the whole cluster");
    if (view->shares_from == INT64_MAX)
        answer_say(answer, "Shares are the published ones, because no run has recorded changes.\n");
    else if (view->shares_from > view->from)
        answer_say(answer, "Shares before %s are %s.\n", time_text(view->shares_from).bytes,
                   view->earlier_shares ? "from the accounting database"
                                        : "as the first run recorded them");
    report_statement_add_reach(answer, view);
}

static json_t *report_statement_facts_of(const struct statement_view *view)
{
    json_t *known = view->shares_from == INT64_MAX ? json_null() : json_integer(view->shares_from);
    json_t *oldest = view->days_from == INT64_MAX ? json_null() : json_integer(view->days_from);
    return json_pack("{s:I, s:I, s:s, s:s, s:s?, s:s, s:s, s:o, s:o}", "from",
                     (json_int_t)view->from, "to", (json_int_t)view->to, "by", view->by, "charged",
                     view->tres ? "tres" : "fairshare", "tres", view->tres, "unit", view->unit,
                     "due_of", view->of_capacity ? "capacity" : "delivered", "shares_known_from",
                     known, "days_known_from", oldest);
}

void statement_open(const struct statement_view *view, struct answer *answer)
{
    answer_cluster(answer,
                   &(const struct table_cluster){
                       .name = view->cluster,
                       .facts = answer_wants_facts(answer) ? report_statement_facts_of(view) : NULL,
                       .terms = view->terms,
                   });
    report_statement_add_title(answer, view);
}

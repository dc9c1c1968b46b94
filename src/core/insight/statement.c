/* SPDX-License-Identifier: MIT */
#include "core/insight/statement.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "util/index.h"
#include "util/memory.h"

/* statement_add() collects the usage of one interval in a pile.  When the interval changes,
 * spread_pile() distributes the pile over the slices that the interval overlaps.  close_slice()
 * computes the entitlements of a slice with the tree of that time and adds the slice to the period.
 * close_period() passes the period to the caller and adds it to the total. */

/* Sums over an interval.  The arrays are indexed by place, which is the index of the association
 * among all ids in ascending order. */
struct insight_statement_sums {
    double *due, *used;
};

struct statement {
    struct statement_options options;
    struct association_since *changes; /* only rows that change something; ascending by time */
    size_t change_count, change;       /* index of the next change */
    struct association *rows;          /* indexed by place: the state in the current slice */
    uint32_t count;
    struct id_index *places;
    uint32_t root;             /* place of the association without a parent */
    struct tree *tree;         /* built from the current rows; NULL if they changed */
    struct values *values;     /* of the tree: the values that come from shares */
    bool computed;             /* `values` are up to date */
    uint32_t *places_of_nodes; /* indexed by node of the tree */
    int64_t at;                /* start of the current slice */
    int64_t period_from, period_to;
    size_t periods; /* number of finished periods */
    /* `slice` contains only own usage until it is closed. */
    struct insight_statement_sums slice, total;
    struct insight_statement_sums period;
    int64_t pile_from, pile_to; /* added usage that is not spread yet, all for one interval */
    double *pile;               /* indexed by place */
    uint32_t *piled;            /* the places in the pile: few of all have usage on a day */
    bool *is_piled;             /* indexed by place */
    uint32_t piled_count;
};

/* ---- associations over time ---- */

static int statement_by_time(const void *a, const void *b)
{
    const struct association_since *one = a, *other = b;
    return (one->at > other->at) - (one->at < other->at);
}

static int statement_by_id_and_time(const void *a, const void *b)
{
    const struct association_since *one = a, *other = b;
    if (one->row.id != other->row.id)
        return one->row.id < other->row.id ? -1 : 1;
    return statement_by_time(a, b);
}

static bool statement_differs(const struct association *one, const struct association *other)
{
    return one->deleted != other->deleted || one->parent_id != other->parent_id ||
           one->shares != other->shares || one->account != other->account ||
           one->user != other->user || one->partition != other->partition;
}

/* Collects the rows that change something, and the first row of each association.  Until its first
 * row, an association is treated as deleted. */
static void statement_take_times(struct statement *statement, const struct association_times *times)
{
    struct association_since *sorted = memory_zeroed(times->count + 1, sizeof *sorted);
    statement->rows = memory_zeroed(times->count + 1, sizeof *statement->rows);
    if (times->count) {
        memcpy(sorted, times->rows, times->count * sizeof *sorted);
        qsort(sorted, times->count, sizeof *sorted, statement_by_id_and_time);
    }
    statement->changes = sorted;
    for (size_t i = 0; i < times->count; i++) {
        bool first = !i || sorted[i].row.id != statement->rows[statement->count - 1].id;
        if (first) {
            statement->rows[statement->count] = sorted[i].row;
            statement->rows[statement->count++].deleted = true;
        }
        if (first || statement_differs(&sorted[i].row, &sorted[statement->change_count - 1].row))
            sorted[statement->change_count++] = sorted[i];
    }
    if (statement->change_count)
        qsort(sorted, statement->change_count, sizeof *sorted, statement_by_time);
    statement->places = id_index_create();
    for (uint32_t i = 0; i < statement->count; i++) {
        id_index_add(statement->places, statement->rows[i].id, i);
        if (!statement->rows[i].parent_id)
            statement->root = i;
    }
}

static void forget_tree(struct statement *statement)
{
    tree_destroy(statement->tree);
    free(statement->values);
    free(statement->places_of_nodes);
    statement->tree = NULL;
    statement->values = NULL;
    statement->places_of_nodes = NULL;
}

/* Returns the shares that a row has in the tree.  A deleted association is kept in the tree because
 * of its usage, but its entitlement is 0. */
static int32_t statement_shares_of(const struct association *row)
{
    return row->deleted ? 0 : row->shares;
}

/* Changes only shares in the tree.  Most changes are of this kind, including creation and removal,
 * which set shares from or to 0.  Returns false if the tree must be rebuilt. */
static bool statement_change_shares(struct statement *statement, const struct association *current,
                                    const struct association *row)
{
    int32_t before = statement_shares_of(current), after = statement_shares_of(row);
    struct tree *tree = statement->tree;
    uint32_t node = tree ? tree_place(tree, row->id) : NO_NODE;
    if (!node || node == NO_NODE || before == SHARES_PARENT || after == SHARES_PARENT ||
        row->parent_id != current->parent_id || row->account != current->account ||
        row->user != current->user || row->partition != current->partition)
        return false;
    struct level *level = &tree->levels[tree->nodes[tree->nodes[node].fairshare_parent].level];
    level->shares += (uint64_t)after - (uint64_t)before;
    tree->nodes[node].shares = after;
    statement->computed = false;
    return true;
}

/* Applies all changes up to the start of the slice. */
static void apply_changes(struct statement *statement)
{
    while (statement->change < statement->change_count &&
           statement->changes[statement->change].at <= statement->at) {
        const struct association *row = &statement->changes[statement->change++].row;
        struct association *current = &statement->rows[id_index_find(statement->places, row->id)];
        if (!statement_change_shares(statement, current, row))
            forget_tree(statement);
        *current = *row;
    }
}

static int64_t statement_next_change(const struct statement *statement)
{
    return statement->change < statement->change_count ? statement->changes[statement->change].at
                                                       : INT64_MAX;
}

static int statement_make_tree(struct statement *statement, struct error *err)
{
    const struct association_times *times = statement->options.times;
    struct association *rows = memory_zeroed(statement->count + 1, sizeof *rows);
    struct findings *findings = findings_create();
    for (uint32_t i = 0; i < statement->count; i++) {
        rows[i] = statement->rows[i];
        rows[i].shares = statement_shares_of(&rows[i]);
        rows[i].deleted = false;
    }
    const struct associations all = { rows, statement->count, times->names, times->empty_name,
                                      .linked_by_id = true };
    int result = tree_build(&statement->tree, &all, BAD_ROWS_SKIP, findings, err);
    findings_destroy(findings);
    free(rows);
    if (result)
        return -1;
    const struct tree *tree = statement->tree;
    statement->values = memory_zeroed(tree->count, sizeof *statement->values);
    statement->places_of_nodes = memory_zeroed(tree->count, sizeof(uint32_t));
    statement->computed = false;
    for (uint32_t i = 0; i < tree->count; i++)
        statement->places_of_nodes[i] = id_index_find(statement->places, tree->nodes[i].id);
    return 0;
}

/* ---- slices and periods ---- */

static struct insight_statement_sums sums_create(uint32_t count)
{
    struct insight_statement_sums sums = { memory_zeroed(count + 1, sizeof(double)),
                                           memory_zeroed(count + 1, sizeof(double)) };
    for (uint32_t i = 0; i < count; i++)
        sums.due[i] = NAN;
    return sums;
}

static void sums_free(struct insight_statement_sums *sums)
{
    free(sums->due);
    free(sums->used);
}

static double plus(double sum, double more)
{
    return isnan(sum) ? more : isnan(more) ? sum : sum + more;
}

static void sums_move(struct insight_statement_sums *to, struct insight_statement_sums *from,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to->due[i] = plus(to->due[i], from->due[i]);
        to->used[i] += from->used[i];
        from->due[i] = NAN;
        from->used[i] = 0;
    }
}

/* Adds the usage and the entitlement of each node to its ancestors.  An account with `parent`
 * shares has the sum of the entitlements below it. */
static void statement_roll_up(const struct tree *tree, double *due, double *used)
{
    double *below = memory_zeroed(tree->count, sizeof *below);
    for (uint32_t i = 0; i < tree->count; i++)
        below[i] = NAN;
    for (uint32_t i = tree->count; i-- > 1;) {
        const struct node *node = &tree->nodes[i];
        if (node_has_parent_shares(node))
            due[i] = node->is_user ? NAN : below[i];
        below[node->parent] = plus(below[node->parent], due[i]);
        used[node->parent] += used[i];
    }
    free(below);
}

/* Returns the usage of the slice.  Moves usage of associations that are not in the tree, because
 * their rows are damaged, to the root. */
static double sum_slice(struct statement *statement)
{
    double sum = 0, *used = statement->slice.used;
    for (uint32_t i = 0; i < statement->count; i++)
        sum += used[i];
    for (uint32_t i = 0; i < statement->count; i++)
        if (used[i] != 0 && tree_place(statement->tree, statement->rows[i].id) == NO_NODE) {
            used[statement->root] += used[i];
            used[i] = 0;
        }
    return sum;
}

/* Adds the entitlements and the usage of the slice, including descendants, to the period. */
static int close_slice(struct statement *statement, int64_t to, struct error *err)
{
    struct insight_statement_sums *slice = &statement->slice;
    if (!statement->tree && statement_make_tree(statement, err))
        return -1;
    const struct tree *tree = statement->tree;
    if (!statement->computed)
        fairshare_compute_shares(tree, statement->options.fairshare, statement->values);
    statement->computed = true;
    double whole = sum_slice(statement), capacity = statement->options.capacity;
    if (!isnan(capacity))
        whole = capacity * (double)(to - statement->at);
    double *due = memory_zeroed(tree->count, sizeof *due);
    double *used = memory_zeroed(tree->count, sizeof *used);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t place = statement->places_of_nodes[i];
        used[i] = slice->used[place];
        due[i] = statement->rows[place].deleted ? NAN : statement->values[i].shares_norm * whole;
    }
    statement_roll_up(tree, due, used);
    for (uint32_t i = 0; i < tree->count; i++) {
        slice->due[statement->places_of_nodes[i]] = due[i];
        slice->used[statement->places_of_nodes[i]] = used[i];
    }
    free(due);
    free(used);
    sums_move(&statement->period, slice, statement->count);
    statement->at = to;
    return 0;
}

static void statement_hand_out(struct statement *statement,
                               const struct insight_statement_sums *sums, int64_t from, int64_t to,
                               bool is_total)
{
    const struct tree *tree = statement->tree;
    double *due = memory_zeroed(tree->count, sizeof *due);
    double *used = memory_zeroed(tree->count, sizeof *used);
    for (uint32_t i = 0; i < tree->count; i++) {
        due[i] = sums->due[statement->places_of_nodes[i]];
        used[i] = sums->used[statement->places_of_nodes[i]];
    }
    statement->options.take(statement->options.context, &(const struct statement_period){
                                                            from, to, is_total, tree, due, used });
    free(due);
    free(used);
}

static void close_period(struct statement *statement)
{
    statement_hand_out(statement, &statement->period, statement->period_from, statement->period_to,
                       false);
    sums_move(&statement->total, &statement->period, statement->count);
    statement->periods++;
}

static void open_period(struct statement *statement)
{
    int64_t end = statement->options.end_of(statement->at);
    statement->period_from = statement->at;
    statement->period_to = end < statement->options.to ? end : statement->options.to;
}

/* Returns the end of the current slice. */
static int64_t slice_end(const struct statement *statement)
{
    int64_t change = statement_next_change(statement);
    return change < statement->period_to ? change : statement->period_to;
}

static int end_slice(struct statement *statement, int64_t to, struct error *err)
{
    if (close_slice(statement, to, err))
        return -1;
    if (to == statement->period_to) {
        close_period(statement);
        if (to < statement->options.to)
            open_period(statement);
    }
    apply_changes(statement);
    return 0;
}

/* ---- usage ---- */

/* Spreads the collected usage over the slices that its interval overlaps. */
static int spread_pile(struct statement *statement, struct error *err)
{
    int64_t from = statement->pile_from, to = statement->pile_to;
    double seconds = (double)(to - from);
    while (from < to && statement->at < statement->options.to) {
        int64_t end = slice_end(statement), until = end < to ? end : to;
        int64_t begin = from > statement->at ? from : statement->at;
        double part = begin < until ? (double)(until - begin) / seconds : 0;
        for (uint32_t k = 0; part > 0 && k < statement->piled_count; k++) {
            uint32_t i = statement->piled[k];
            statement->slice.used[i] += part == 1 ? statement->pile[i] : part * statement->pile[i];
        }
        if (end > to)
            break;
        if (end_slice(statement, end, err))
            return -1;
    }
    for (uint32_t k = 0; k < statement->piled_count; k++) {
        statement->pile[statement->piled[k]] = 0;
        statement->is_piled[statement->piled[k]] = false;
    }
    statement->piled_count = 0;
    statement->pile_from = statement->pile_to;
    return 0;
}

int statement_add(struct statement *statement, uint64_t association, int64_t from, int64_t to,
                  double used, struct error *err)
{
    if ((from != statement->pile_from || to != statement->pile_to) && spread_pile(statement, err))
        return -1;
    statement->pile_from = from;
    statement->pile_to = to;
    uint32_t place = id_index_find(statement->places, association);
    place = place == INDEX_NONE ? statement->root : place;
    if (!statement->is_piled[place])
        statement->piled[statement->piled_count++] = place;
    statement->is_piled[place] = true;
    statement->pile[place] += used;
    return 0;
}

int statement_end(struct statement *statement, struct error *err)
{
    if (spread_pile(statement, err))
        return -1;
    while (statement->at < statement->options.to)
        if (end_slice(statement, slice_end(statement), err))
            return -1;
    if (statement->periods > 1) {
        if (!statement->tree && statement_make_tree(statement, err))
            return -1;
        statement_hand_out(statement, &statement->total, statement->options.from,
                           statement->options.to, true);
    }
    return 0;
}

struct statement *statement_create(const struct statement_options *options)
{
    struct statement *statement = memory_zeroed(1, sizeof *statement);
    *statement = (struct statement){
        .options = *options,
        .at = options->from,
    };
    statement_take_times(statement, options->times);
    statement->slice = sums_create(statement->count);
    statement->period = sums_create(statement->count);
    statement->total = sums_create(statement->count);
    statement->pile = memory_zeroed(statement->count + 1, sizeof *statement->pile);
    statement->piled = memory_zeroed(statement->count + 1, sizeof *statement->piled);
    statement->is_piled = memory_zeroed(statement->count + 1, sizeof *statement->is_piled);
    apply_changes(statement);
    open_period(statement);
    return statement;
}

void statement_destroy(struct statement *statement)
{
    if (!statement)
        return;
    forget_tree(statement);
    free(statement->changes);
    free(statement->rows);
    id_index_destroy(statement->places);
    sums_free(&statement->slice);
    sums_free(&statement->period);
    sums_free(&statement->total);
    free(statement->pile);
    free(statement->piled);
    free(statement->is_piled);
    free(statement);
}

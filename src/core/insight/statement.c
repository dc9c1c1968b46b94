/* SPDX-License-Identifier: MIT */
#include "core/insight/statement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "util/index.h"
#include "util/memory.h"

/* Sums of a span of time, by place: the association's rank among all ids. */
struct insight_statement_sums {
    double *due, *used;
};

struct statement {
    struct statement_options options;
    struct association_since *changes; /* by time, without those that change nothing */
    size_t change_count, change;       /* the next one */
    struct association *rows;          /* by place: what it is in this slice */
    uint32_t count;
    struct id_index *places;
    uint32_t root;             /* the place of the one without a parent */
    struct tree *tree;         /* of the rows as they are; NULL: they have changed */
    struct values *values;     /* of the tree: what comes from shares, */
    bool computed;             /* as they are */
    uint32_t *places_of_nodes; /* likewise */
    int64_t at;                /* where the slice begins */
    int64_t period_from, period_to;
    size_t periods;                             /* that were handed out */
    struct insight_statement_sums slice, total; /* of the slice only own use */
    struct insight_statement_sums period;
    int64_t pile_from, pile_to; /* use that was added, all of one span */
    double *pile;               /* by place */
};

/* ---- Associations over time ---- */

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

/* Take what changes something, and everybody once as first known: who was not there by then is
 * gone. */
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

/* The shares that one has in the tree.  Who is gone is there for what it used, and due nothing. */
static int32_t statement_shares_of(const struct association *row)
{
    return row->deleted ? 0 : row->shares;
}

/* Most changes are of shares, or of a life, which is the same: then the tree stays as it is. */
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

/* Let all changes up to where the slice begins hold. */
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

/* ---- Slices and periods ---- */

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

/* By node, from below: an account with its parent's shares has what those below it have. */
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

/* What was used in the slice; of damaged rows, which are not in the tree, it is the root's. */
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

/* What was due in a slice, and who got what with all below. */
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

/* Where the slice ends. */
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

/* ---- Use ---- */

/* Spread what lies on the pile over the slices that its time reaches into. */
static int spread_pile(struct statement *statement, struct error *err)
{
    int64_t from = statement->pile_from, to = statement->pile_to;
    double seconds = (double)(to - from);
    while (from < to && statement->at < statement->options.to) {
        int64_t end = slice_end(statement), until = end < to ? end : to;
        int64_t begin = from > statement->at ? from : statement->at;
        double part = begin < until ? (double)(until - begin) / seconds : 0;
        for (uint32_t i = 0; part > 0 && i < statement->count; i++)
            statement->slice.used[i] += part == 1 ? statement->pile[i] : part * statement->pile[i];
        if (end > to)
            break;
        if (end_slice(statement, end, err))
            return -1;
    }
    memset(statement->pile, 0, statement->count * sizeof *statement->pile);
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
    statement->pile[place == INDEX_NONE ? statement->root : place] += used;
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
    free(statement);
}

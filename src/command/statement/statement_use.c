/* SPDX-License-Identifier: MIT */
#include "command/statement/statement_use.h"

#include <math.h>
#include <stdlib.h>

#include "core/finding.h"
#include "core/insight/statement.h"
#include "core/usage/calendar.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "source/source.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* ---- Daily usage of runs ---- */

int statement_days_reach(struct db *results, const char *cluster, int64_t *until, int64_t *oldest,
                         struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    int found = rows_read_integer(results, sql_query_usage_day_oldest, &name, 1, oldest, err);
    if (found < 0)
        return -1;
    if (!found)
        *oldest = INT64_MAX;
    struct db_rows *rows = db_query(results, sql_query_usage_span_read, &name, 1, "iii", err);
    *until = 0;
    if (db_fetch(rows, &row, err) > 0)
        *until = row[0].integer;
    return db_finish(rows);
}

int statement_add_days(struct statement *statement, struct db *results, const char *cluster,
                       int64_t from, int64_t until, struct error *err)
{
    const struct db_value *row,
        arguments[] = { db_text(cluster), db_integer(from), db_integer(until - 1) };
    int64_t day = INT64_MIN, end = 0;
    int result = 0;
    struct db_rows *rows =
        db_query(results, sql_query_usage_day_span, arguments, COUNT(arguments), "iin", err);
    while (!result && db_fetch(rows, &row, err) > 0) {
        double used = db_value_real(&row[2]);
        if (row[0].integer != day) {
            day = row[0].integer;
            end = (int64_t)calendar_next_day((uint64_t)day);
            end = end < until ? end : until;
        }
        if (isfinite(used))
            result = statement_add(statement, (uint64_t)row[1].integer, day, end, used, err);
    }
    return db_finish(rows) || result ? -1 : 0;
}

/* ---- Rollups of slurmdbd ---- */

int statement_sums_reach(const struct source *source, bool needed, int64_t *until, int64_t *oldest,
                         struct error *err)
{
    uint64_t from, to;
    if (!source->layout->past)
        return fail(err, ERROR_USAGE,
                    "statement: --as-sreport requires Slurm's accounting database");
    if (source->layout->past->rollup_reach(source, INT64_MAX, needed, &from, &to, err))
        return -1;
    *until = (int64_t)to;
    *oldest = to ? (int64_t)from : INT64_MAX;
    return 0;
}

/* Builds the tree of all rows, including removed associations. */
static int build_all(const struct accounting *accounting, struct tree **tree, struct error *err)
{
    struct association *rows = memory_zeroed(accounting->count + 1, sizeof *rows);
    struct findings *findings = findings_create();
    for (size_t i = 0; i < accounting->count; i++) {
        rows[i] = accounting->rows[i];
        rows[i].deleted = false;
    }
    const struct associations all = { rows, accounting->count, accounting->names,
                                      accounting->empty_name, false };
    int result = tree_build(tree, &all, BAD_ROWS_SKIP, findings, err);
    findings_destroy(findings);
    free(rows);
    return result;
}

static uint32_t statement_use_take_name(struct association_times *times, const struct names *names,
                                        uint32_t number)
{
    struct text text = { 0 };
    text_add_as_utf8(&text, names_text(names, number), names_length(names, number));
    uint32_t taken = names_add(times->names, text.bytes, text.length);
    text_free(&text);
    return taken;
}

/* Adds an association that no run has recorded, with its current state. */
static void add_unseen(struct association_times *times, const struct accounting *accounting,
                       const struct association *row, uint32_t parent)
{
    struct association_since now = { SINCE_EVER, *row };
    now.row.parent_id = parent;
    now.row.account = statement_use_take_name(times, accounting->names, row->account);
    now.row.user = statement_use_take_name(times, accounting->names, row->user);
    now.row.partition = statement_use_take_name(times, accounting->names, row->partition);
    now.row.parent_account = times->empty_name;
    association_times_add(times, &now);
}

static void hang(struct association_times *times, const struct accounting *accounting,
                 const struct tree *tree)
{
    struct id_index *seen = id_index_create();
    size_t kept = 0;
    for (size_t i = 0; i < times->count; i++) {
        struct association_since *each = &times->rows[i];
        uint32_t node = tree_place(tree, each->row.id);
        if (node == NO_NODE)
            continue;
        each->row.parent_id = node ? tree->nodes[tree->nodes[node].parent].id : 0;
        id_index_add(seen, each->row.id, 0);
        times->rows[kept++] = *each;
    }
    times->count = kept;
    for (size_t i = 0; i < accounting->count; i++) {
        const struct association *row = &accounting->rows[i];
        uint32_t node = tree_place(tree, row->id);
        if (node != NO_NODE && id_index_find(seen, row->id) == INDEX_NONE)
            add_unseen(times, accounting, row, node ? tree->nodes[tree->nodes[node].parent].id : 0);
    }
    id_index_destroy(seen);
}

int statement_hang_as_now(const struct settings *settings, struct db *source, const char *cluster,
                          struct association_times *times, struct error *err)
{
    struct source of = source_of(settings, source, cluster);
    struct accounting *accounting = NULL;
    struct tree *tree = NULL;
    of.ordered = false;
    int result = of.layout->read(&of, &accounting, err);
    if (!result)
        result = build_all(accounting, &tree, err);
    if (!result)
        hang(times, accounting, tree);
    tree_destroy(tree);
    accounting_destroy(accounting);
    return result;
}

struct adding {
    struct statement *statement;
    struct id_index *known;
};

static int add_sum(void *context, const struct sum_row *row, struct error *err)
{
    const struct adding *adding = context;
    if (id_index_find(adding->known, row->association) == INDEX_NONE)
        return 0;
    return statement_add(adding->statement, row->association, (int64_t)row->from, (int64_t)row->to,
                         (double)row->tres_seconds, err);
}

int statement_add_sums(const struct statement_sums *sums, const struct settings *settings,
                       struct db *source, const char *cluster, struct error *err)
{
    const struct source of = source_of(settings, source, cluster);
    struct adding adding = { sums->statement, id_index_create() };
    for (size_t i = 0; i < sums->times->count; i++)
        id_index_add(adding.known, sums->times->rows[i].row.id, 0);
    const struct sum_range range = { sums->tres, (uint64_t)sums->from, (uint64_t)sums->until };
    int result = of.layout->past->read_sums(&of, &range, add_sum, &adding, err);
    id_index_destroy(adding.known);
    return result;
}

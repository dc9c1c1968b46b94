/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/insight/correlation.h"
#include "report/csv.h"
#include "report/forms.h"
#include "report/grid.h"
#include "util/text.h"

static void nothing(struct text *text)
{
    (void)text;
}

/* `account/user`, with the partition where there is one. */
static void add_name(struct text *text, const struct compared_user *user)
{
    text_add_printable(text, user->account);
    text_add(text, "/");
    text_add_printable(text, user->user);
    if (*user->partition) {
        text_add(text, "/");
        text_add_printable(text, user->partition);
    }
}

/* A heading no wider than its numbers; a star is for the other conformance. */
static const char *heading(struct grid *grid, const struct comparison *comparison,
                           const struct way *way)
{
    return grid_cell(grid, "%s%s", way->algorithm->short_name,
                     way->conformance == comparison->conformance ? "" : "*");
}

static void add_users(struct text *text, const struct comparison *comparison)
{
    struct grid *grid = grid_create(comparison->way_count + 1);
    for (uint32_t row = 0; row <= comparison->top; row++) {
        const char **cells = grid_row(grid);
        size_t column = 1;
        uint32_t user = row ? comparison->by_spread[row - 1] : 0;
        struct text name = { 0 };
        if (row)
            add_name(&name, &comparison->users[user]);
        cells[0] = grid_cell(grid, "%s", row ? name.bytes : "User");
        text_free(&name);
        for (size_t i = 0; i < comparison->way_count; i++) {
            const struct way *way = &comparison->ways[i];
            if (way->shown)
                cells[column++] =
                    row ? grid_cell(grid, "%" PRIu32 " %.3f", way->ranks[user], way->factors[user])
                        : heading(grid, comparison, way);
        }
    }
    grid_add(text, grid);
    grid_destroy(grid);
}

static struct correlation correlation_between(const struct comparison *comparison, size_t one,
                                              size_t other)
{
    if (!comparison->ways[one].known || !comparison->ways[other].known)
        return (struct correlation){ NAN, NAN };
    return correlation_of(comparison->ways[one].factors, comparison->ways[other].factors,
                          comparison->user_count);
}

static const char *coefficient(struct grid *grid, double number)
{
    return isnan(number) ? "-" : grid_cell(grid, "%.4f", number);
}

static void add_correlations(struct text *text, const struct comparison *comparison)
{
    struct grid *grid = grid_create(comparison->way_count + 1);
    const char **cells = grid_row(grid);
    size_t column = 1;
    for (size_t i = 0; i < comparison->way_count; i++)
        if (comparison->ways[i].shown)
            cells[column++] = heading(grid, comparison, &comparison->ways[i]);
    for (size_t i = 0; i < comparison->way_count; i++) {
        if (!comparison->ways[i].shown)
            continue;
        cells = grid_row(grid);
        cells[0] = heading(grid, comparison, &comparison->ways[i]);
        column = 1;
        for (size_t j = 0; j < comparison->way_count; j++) {
            if (!comparison->ways[j].shown)
                continue;
            struct correlation found = correlation_between(comparison, i, j);
            cells[column++] =
                i == j ? "." : coefficient(grid, i < j ? found.spearman : found.kendall);
        }
    }
    grid_add(text, grid);
    grid_destroy(grid);
}

/* The shown way in which the user's rank is the highest, or the lowest. */
static const struct way *extreme_of(const struct comparison *comparison, uint32_t user,
                                    bool highest)
{
    const struct way *found = NULL;
    for (size_t i = 0; i < comparison->way_count; i++) {
        const struct way *way = &comparison->ways[i];
        if (way->shown && (!found || (highest ? way->ranks[user] > found->ranks[user]
                                              : way->ranks[user] < found->ranks[user])))
            found = way;
    }
    return found;
}

static void add_mover(struct text *text, const struct comparison *comparison)
{
    uint32_t user = comparison->by_spread[0];
    const struct way *lowest = extreme_of(comparison, user, false);
    const struct way *highest = extreme_of(comparison, user, true);
    if (!comparison->users[user].spread) {
        text_add(text, "nobody's rank is another\n");
        return;
    }
    text_add(text, "moves most: ");
    add_name(text, &comparison->users[user]);
    text_format(text, ", from %" PRIu32 " (%s) to %" PRIu32 " (%s)\n", lowest->ranks[user],
                lowest->algorithm->name, highest->ranks[user], highest->algorithm->name);
}

static void add_conformance(struct text *text, const struct comparison *comparison)
{
    const char *own = comparison->conformances[comparison->conformance];
    const char *other = comparison->conformances[comparison->conformance == CONFORMANCE_DOCUMENTS
                                                     ? CONFORMANCE_SLURMCTLD
                                                     : CONFORMANCE_DOCUMENTS];
    bool any = false;
    for (size_t i = 0; i < comparison->way_count; i++) {
        const struct way *way = &comparison->ways[i];
        if (way->conformance == comparison->conformance || !way->differs)
            continue;
        text_format(text, "%s%s has %" PRIu32 " other ranks", any ? ", " : "", way->algorithm->name,
                    way->differs);
        any = true;
    }
    if (any)
        text_format(text, " under %s (*) than under %s\n", other, own);
    else
        text_format(text, "under %s every rank is the same as under %s\n", other, own);
}

static void add_table(struct text *text, const struct comparison *comparison, bool first)
{
    text_add(text, first ? "" : "\n");
    text_add_printable(text, comparison->cluster);
    text_add(text, ", as of ");
    form_add_instant(text, comparison->as_of);
    text_format(text, ": ranks of %" PRIu32 " users, and factors\n\n", comparison->user_count);
    add_users(text, comparison);
    if (comparison->top < comparison->listed)
        text_format(text, "... and %" PRIu32 " that move less\n",
                    comparison->listed - comparison->top);
    text_add(text, "\n");
    if (comparison->listed)
        add_mover(text, comparison);
    add_conformance(text, comparison);
    for (size_t i = 0; i < comparison->way_count; i++)
        if (!comparison->ways[i].known &&
            comparison->ways[i].conformance == comparison->conformance)
            text_format(text, "%s is not known, as is what the cluster could deliver\n",
                        comparison->ways[i].algorithm->name);
    text_add(text, "\nhow alike: Spearman's rho above the diagonal, Kendall's tau-b below\n\n");
    add_correlations(text, comparison);
}

const struct comparison_form comparison_table = { nothing, add_table, nothing };

static json_t *json_of_user(const struct comparison *comparison, uint32_t user)
{
    const struct compared_user *named = &comparison->users[user];
    json_t *ways = json_array();
    for (size_t i = 0; i < comparison->way_count; i++) {
        const struct way *way = &comparison->ways[i];
        json_array_append_new(
            ways, json_pack("{s:s, s:s, s:o, s:o}", "algorithm", way->algorithm->name,
                            "conformance", comparison->conformances[way->conformance], "factor",
                            form_json_real(way->factors[user]), "rank",
                            way->known ? json_integer((json_int_t)way->ranks[user]) : json_null()));
    }
    return json_pack("{s:I, s:s, s:s, s:s, s:I, s:o}", "id_assoc", (json_int_t)named->id, "account",
                     named->account, "user", named->user, "partition", named->partition, "spread",
                     (json_int_t)named->spread, "ways", ways);
}

static json_t *json_of_pair(const struct comparison *comparison, size_t one, size_t other)
{
    const struct way *first = &comparison->ways[one], *second = &comparison->ways[other];
    struct correlation found = correlation_between(comparison, one, other);
    return json_pack("{s:[s, s], s:[s, s], s:o, s:o}", "algorithms", first->algorithm->name,
                     second->algorithm->name, "conformances",
                     comparison->conformances[first->conformance],
                     comparison->conformances[second->conformance], "spearman",
                     form_json_real(found.spearman), "kendall", form_json_real(found.kendall));
}

static void begin_json(struct text *text)
{
    text_add(text, "{\"clusters\":[");
}

static void add_json(struct text *text, const struct comparison *comparison, bool first)
{
    json_t *users = json_array(), *pairs = json_array();
    for (uint32_t i = 0; i < comparison->top; i++)
        json_array_append_new(users, json_of_user(comparison, comparison->by_spread[i]));
    for (size_t i = 0; i < comparison->way_count; i++)
        for (size_t j = i + 1; j < comparison->way_count; j++)
            json_array_append_new(pairs, json_of_pair(comparison, i, j));
    text_add(text, first ? "" : ",");
    form_add_json(text, json_pack("{s:s, s:I, s:s, s:s, s:I, s:o, s:o}", "cluster",
                                  comparison->cluster, "as_of", (json_int_t)comparison->as_of,
                                  "algorithm", comparison->algorithm->name, "conformance",
                                  comparison->conformances[comparison->conformance], "users",
                                  (json_int_t)comparison->user_count, "correlations", pairs,
                                  "associations", users));
}

static void end_json(struct text *text)
{
    text_add(text, "]}\n");
}

const struct comparison_form comparison_json = { begin_json, add_json, end_json };

static void begin_csv(struct text *text)
{
    text_add(text, "cluster,id_assoc,account,user,partition,algorithm,conformance,factor,"
                   "rank" CSV_LINE);
}

static void add_csv(struct text *text, const struct comparison *comparison, bool first)
{
    (void)first;
    for (uint32_t i = 0; i < comparison->top; i++) {
        uint32_t user = comparison->by_spread[i];
        for (size_t j = 0; j < comparison->way_count; j++) {
            const struct way *way = &comparison->ways[j];
            csv_add_name(text, comparison->cluster, CSV_NEXT);
            text_format(text, "%" PRIu32 CSV_NEXT, comparison->users[user].id);
            csv_add_name(text, comparison->users[user].account, CSV_NEXT);
            csv_add_name(text, comparison->users[user].user, CSV_NEXT);
            csv_add_name(text, comparison->users[user].partition, CSV_NEXT);
            text_format(text, "%s" CSV_NEXT "%s" CSV_NEXT, way->algorithm->name,
                        comparison->conformances[way->conformance]);
            csv_add_real(text, way->factors[user], CSV_NEXT);
            if (way->known)
                text_format(text, "%" PRIu32, way->ranks[user]);
            text_add(text, CSV_LINE);
        }
    }
}

const struct comparison_form comparison_csv = { begin_csv, add_csv, nothing };

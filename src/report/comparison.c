/* SPDX-License-Identifier: MIT */
#include "report/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/fairshare/algorithm.h"
#include "core/insight/correlation.h"
#include "report/answer.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/times.h"

#define FIRST_AT_MOST 36 /* maximum width in terminal columns */

/* Adds the short name of the variant's algorithm.  A star marks the other conformance mode. */
static void comparison_add_heading(struct text *text, const struct comparison *comparison,
                                   const struct variant *variant)
{
    text_add(text, variant->algorithm->short_name);
    text_add(text, variant->conformance == comparison->conformance ? "" : "*");
}

/*
 * Returns `first`, which identifies the row, and then a copy of `variant` for each shown variant.
 */
static struct column *columns_of(const struct comparison *comparison, struct arena *arena,
                                 struct column first, struct column variant)
{
    struct column *columns = arena_take(arena, (comparison->variant_count + 2) * sizeof *columns);
    size_t count = 0;
    columns[count++] = first;
    for (size_t i = 0; i < comparison->variant_count; i++) {
        const struct variant *each = &comparison->variants[i];
        if (!each->shown)
            continue;
        struct text heading = { 0 };
        comparison_add_heading(&heading, comparison, each);
        columns[count] = variant;
        columns[count].heading = arena_copy(arena, heading.bytes, heading.length);
        columns[count++].index = (int)i;
        text_free(&heading);
    }
    columns[count].name = NULL;
    return columns;
}

/* Returns the index of the row's user or variant. */
static size_t index_of(const void *row)
{
    return *(const uint32_t *)row;
}

static void get_user(const void *row, struct cell *cell)
{
    const struct comparison *comparison = cell->context;
    const struct compared_user *user = &comparison->users[index_of(row)];
    cell_format(cell, "%s/%s%s%s", user->account, user->user, *user->partition ? "/" : "",
                user->partition);
}

static void get_place_and_factor(const void *row, struct cell *cell)
{
    const struct comparison *comparison = cell->context;
    const struct variant *variant = &comparison->variants[cell->column->index];
    struct text *text = cell_compose(cell);
    text_add_integer(text, place_of_rank(variant->ranks[index_of(row)], comparison->user_count));
    text_add(text, " ");
    text_add_fixed(text, variant->factors[index_of(row)], 3);
}

/*
 * Adds a table of users or variants. columns[0] identifies the row, and columns[1] is repeated for
 * each variant.
 */
static void add_matrix(struct answer *answer, const struct comparison *comparison,
                       const struct column columns[2], const uint32_t *rows, size_t count)
{
    struct arena *arena = arena_create();
    table_add_paragraph(answer_text(answer), columns_of(comparison, arena, columns[0], columns[1]),
                        &(struct table_rows){ rows, count, sizeof *rows, .context = comparison,
                                              .terms = comparison->terms });
    arena_destroy(arena);
}

static void comparison_add_users(struct answer *answer, const struct comparison *comparison)
{
    static const struct column columns[] = {
        { "user", "User", COLUMN_TEXT, .get = get_user, .at_most = FIRST_AT_MOST },
        { "variant", "", COLUMN_TEXT, .get = get_place_and_factor, .right = true },
    };
    add_matrix(answer, comparison, columns, comparison->by_spread, comparison->top);
}

/* Returns the correlation of two variants, or NAN if it is unknown.  `of`, which computes it, is
 * spearman_of() or kendall_of(). */
static double correlation_between(const struct comparison *comparison, size_t one, size_t other,
                                  double (*of)(const struct ordering *, const struct ordering *))
{
    const struct variant *first = &comparison->variants[one],
                         *second = &comparison->variants[other];
    return first->known && second->known ? of(&first->ordering, &second->ordering) : NAN;
}

static void get_variant(const void *row, struct cell *cell)
{
    const struct comparison *comparison = cell->context;
    const struct variant *variant = &comparison->variants[index_of(row)];
    comparison_add_heading(cell_compose(cell), comparison, variant);
}

static void get_coefficient(const void *row, struct cell *cell)
{
    const struct comparison *comparison = cell->context;
    size_t one = index_of(row), other = (size_t)cell->column->index;
    if (one == other) {
        cell_text(cell, ".");
        return;
    }
    double coefficient = one < other ? correlation_between(comparison, one, other, spearman_of)
                                     : correlation_between(comparison, other, one, kendall_of);
    if (isnan(coefficient))
        cell_text(cell, "-");
    else
        cell_real(cell, coefficient);
}

static void add_correlations(struct answer *answer, const struct comparison *comparison)
{
    static const struct column columns[] = {
        { "variant", "", COLUMN_TEXT, .get = get_variant },
        { "other", "", COLUMN_REAL, .get = get_coefficient, .decimals = 4 },
    };
    uint32_t *rows = memory_zeroed(comparison->variant_count + 1, sizeof *rows);
    size_t count = 0;
    for (uint32_t i = 0; i < comparison->variant_count; i++)
        if (comparison->variants[i].shown)
            rows[count++] = i;
    add_matrix(answer, comparison, columns, rows, count);
    free(rows);
}

/* Returns the shown variant with the user's highest or lowest rank. */
static const struct variant *extreme_of(const struct comparison *comparison, uint32_t user,
                                        bool highest)
{
    const struct variant *found = NULL;
    for (size_t i = 0; i < comparison->variant_count; i++) {
        const struct variant *variant = &comparison->variants[i];
        if (variant->shown && (!found || (highest ? variant->ranks[user] > found->ranks[user]
                                                  : variant->ranks[user] < found->ranks[user])))
            found = variant;
    }
    return found;
}

static void add_mover(struct answer *answer, const struct comparison *comparison)
{
    uint32_t user = comparison->by_spread[0];
    const struct variant *lowest = extreme_of(comparison, user, false);
    const struct variant *highest = extreme_of(comparison, user, true);
    const struct compared_user *mover = &comparison->users[user];
    if (!mover->spread)
        answer_say(answer, "no user changes places\n");
    else
        answer_say(
            answer, "moves most: %s/%s%s%s, from place %" PRIu32 " (%s) to %" PRIu32 " (%s)\n",
            mover->account, mover->user, *mover->partition ? "/" : "", mover->partition,
            place_of_rank(lowest->ranks[user], comparison->user_count), lowest->algorithm->name,
            place_of_rank(highest->ranks[user], comparison->user_count), highest->algorithm->name);
}

static void add_conformance(struct answer *answer, const struct comparison *comparison)
{
    const char *own = comparison->conformances[comparison->conformance];
    const char *other = comparison->conformances[comparison->conformance == CONFORMANCE_DOCUMENTS
                                                     ? CONFORMANCE_SLURMCTLD
                                                     : CONFORMANCE_DOCUMENTS];
    bool any = false;
    if (comparison->variants[comparison->variant_count - 1].conformance == comparison->conformance)
        return;
    for (size_t i = 0; i < comparison->variant_count; i++) {
        const struct variant *variant = &comparison->variants[i];
        if (variant->conformance == comparison->conformance || !variant->differs)
            continue;
        answer_say(answer, "%s%s has %" PRIu32 " different places", any ? ", " : "",
                   variant->algorithm->name, variant->differs);
        any = true;
    }
    if (any)
        answer_say(answer, " under %s (*) than under %s\n", other, own);
    else
        answer_say(answer, "all places are the same under %s and under %s\n", other, own);
}

static void comparison_add_page(struct answer *answer, const struct comparison *comparison)
{
    answer_say(answer, "%s, as of %s: places of %" PRIu32 " %s, and factors\n\n",
               comparison->cluster, time_text(comparison->as_of).bytes, comparison->user_count,
               comparison->terms->users);
    comparison_add_users(answer, comparison);
    if (comparison->top < comparison->listed)
        answer_say(answer, "... and %" PRIu32 " with smaller changes\n",
                   comparison->listed - comparison->top);
    answer_say(answer, "\n");
    if (comparison->listed)
        add_mover(answer, comparison);
    add_conformance(answer, comparison);
    for (size_t i = 0; i < comparison->variant_count; i++)
        if (!comparison->variants[i].known &&
            comparison->variants[i].conformance == comparison->conformance)
            answer_say(answer, "%s cannot be computed, because the cluster's capacity is unknown\n",
                       comparison->variants[i].algorithm->name);
    answer_say(answer,
               "\ncorrelation: Spearman's rho above the diagonal, Kendall's tau-b below it\n\n");
    add_correlations(answer, comparison);
}

/* A user in one variant. */
struct comparison_compared_value {
    struct compared_user user;
    const char *algorithm, *conformance;
    double factor;
    uint32_t rank, place; /* 0: unknown */
};

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "id_assoc", "ID", COLUMN_INTEGER, MEMBER(struct comparison_compared_value, user.id) },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct comparison_compared_value, user.account) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct comparison_compared_value, user.user) },
    { "partition", "Partition", COLUMN_TEXT,
      MEMBER(struct comparison_compared_value, user.partition), .optional = true },
    { "spread", "Spread", COLUMN_INTEGER, MEMBER(struct comparison_compared_value, user.spread) },
    { "algorithm", "Algorithm", COLUMN_TEXT, MEMBER(struct comparison_compared_value, algorithm) },
    { "conformance", "Conformance", COLUMN_TEXT,
      MEMBER(struct comparison_compared_value, conformance) },
    { "factor", "Factor", COLUMN_REAL, MEMBER(struct comparison_compared_value, factor) },
    { "rank", "Rank", COLUMN_INTEGER, MEMBER(struct comparison_compared_value, rank),
      .zero_is_none = true, .hidden = NOT_FOR_PEOPLE },
    { "place", "Place", COLUMN_INTEGER, MEMBER(struct comparison_compared_value, place),
      .zero_is_none = true },
    { .name = NULL },
};

const struct table_layout comparison_layout = { columns, "factors", .by_cluster = true,
                                                .has_page = true };

static json_t *json_of_pair(const struct comparison *comparison, size_t one, size_t other)
{
    const struct variant *first = &comparison->variants[one],
                         *second = &comparison->variants[other];
    double spearman = correlation_between(comparison, one, other, spearman_of);
    double kendall = correlation_between(comparison, one, other, kendall_of);
    return json_pack("{s:[s, s], s:[s, s], s:o, s:o}", "algorithms", first->algorithm->name,
                     second->algorithm->name, "conformances",
                     comparison->conformances[first->conformance],
                     comparison->conformances[second->conformance], "spearman",
                     form_json_real(spearman), "kendall", form_json_real(kendall));
}

static json_t *comparison_facts_of(const struct comparison *comparison)
{
    json_t *pairs = json_array();
    for (size_t i = 0; i < comparison->variant_count; i++)
        for (size_t j = i + 1; j < comparison->variant_count; j++)
            json_array_append_new(pairs, json_of_pair(comparison, i, j));
    return json_pack("{s:I, s:s, s:s, s:I, s:o}", "as_of", (json_int_t)comparison->as_of,
                     "algorithm", comparison->algorithm->name, "conformance",
                     comparison->conformances[comparison->conformance], "users",
                     (json_int_t)comparison->user_count, "correlations", pairs);
}

void comparison_answer(const struct comparison *comparison, struct answer *answer)
{
    answer_cluster(answer, &(struct table_cluster){ .name = comparison->cluster,
                                                    .terms = comparison->terms,
                                                    .facts = answer_wants_facts(answer)
                                                                 ? comparison_facts_of(comparison)
                                                                 : NULL });
    if (answer_wants_page(answer)) {
        comparison_add_page(answer, comparison);
        return;
    }
    for (uint32_t i = 0; i < comparison->top; i++)
        for (size_t j = 0; j < comparison->variant_count; j++) {
            uint32_t user = comparison->by_spread[i];
            const struct variant *variant = &comparison->variants[j];
            uint32_t rank = variant->known ? variant->ranks[user] : 0;
            answer_row(answer,
                       &(struct comparison_compared_value){
                           comparison->users[user], variant->algorithm->name,
                           comparison->conformances[variant->conformance], variant->factors[user],
                           rank, place_of_rank(rank, comparison->user_count) });
        }
}

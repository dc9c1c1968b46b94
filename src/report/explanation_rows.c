/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/release.h"
#include "core/number/figure.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "report/answer.h"
#include "report/explained.h"
#include "report/terminal.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define MOST_DIGITS 15
#define NAME_AT_MOST 36 /* maximum width in terminal columns */

struct path_row {
    uint32_t node, depth;
};

/* Returns the path to `one`, then the nodes on the path to `other` that are not on the path to
 * `one`. */
static struct path_row *path_rows_of(const struct explained *explained, size_t *count)
{
    const struct explanation *explanation = explained->explanation;
    const struct tree *tree = explained->input->tree;
    struct path first = path_to(tree, explanation->one, false), second = { 0 };
    if (explanation->other != NO_NODE)
        second = path_to(tree, explanation->other, false);
    struct path_row *rows = memory_zeroed(first.count + second.count, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < first.count; i++)
        rows[(*count)++] = (struct path_row){ first.nodes[i], i };
    for (uint32_t i = 0; i < second.count; i++)
        if (i >= first.count || first.nodes[i] != second.nodes[i])
            rows[(*count)++] = (struct path_row){ second.nodes[i], i };
    path_free(&first);
    path_free(&second);
    return rows;
}

struct numbers_context {
    const struct explained *explained;
    struct explain_context numbers;
};

static void get_node_name(const void *row, struct cell *cell)
{
    const struct path_row *at = row;
    const struct explained *explained = ((const struct numbers_context *)cell->context)->explained;
    const struct node *node = &explained->input->tree->nodes[at->node];
    const char *partition = names_text(explained->names, node->partition);
    cell_format(cell, "%s%s%s",
                names_text(explained->names, node->is_user ? node->user : node->account),
                *partition ? "@" : "", partition);
    cell->depth = at->depth;
}

static void explanation_rows_get_number(const void *row, struct cell *cell)
{
    const struct numbers_context *context = cell->context;
    const struct algorithm *algorithm = context->numbers.algorithm;
    algorithm->columns[cell->column->index].add(cell_compose(cell), &context->numbers,
                                                ((const struct path_row *)row)->node);
}

static void add_formulas(struct text *text, const struct explain_input *input)
{
    for (const char *at = input->algorithm->formulas; *at; at++)
        if (*at == '%')
            text_add_figure(text, input->options->dampening, MOST_DIGITS);
        else
            text_add_bytes(text, at, 1);
    const struct release *release = rules_of(input->options);
    if (input->algorithm->by_rules && release_follows(release, RULE_ROOTS_FACTOR))
        text_format(text, "In Slurm %s `parent` directly below the root has F = 2^-(1 / %g)\n",
                    release->name, input->options->dampening);
    if (input->algorithm->add_note)
        input->algorithm->add_note(text, input->options);
}

static void add_wrapped_formulas(struct text *text, const struct explain_input *input)
{
    struct text formulas = { 0 };
    add_formulas(&formulas, input);
    for (char *line = formulas.bytes, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        terminal_add_wrapped(text, line, 2);
    }
    text_free(&formulas);
}

static bool all_follow(const struct explain_context *context, const struct path_row *rows,
                       size_t count)
{
    bool follow = true;
    for (size_t i = 0; follow && i < count; i++)
        follow = context->algorithm->follows(context, rows[i].node);
    return follow;
}

static void add_path_rows(struct text *text, const struct numbers_context *context,
                          const struct path_row *rows, size_t count)
{
    struct column columns[EXPLAIN_COLUMNS_AT_MOST + 2] = {
        { "name", "", COLUMN_TEXT, .get = get_node_name, .at_most = NAME_AT_MOST },
    };
    const struct explain_column *of = context->numbers.algorithm->columns;
    for (int i = 0; i < EXPLAIN_COLUMNS_AT_MOST && of[i].heading; i++)
        columns[i + 1] = (struct column){ of[i].heading, of[i].heading, COLUMN_REAL,
                                          .get = explanation_rows_get_number, .index = i };
    table_add_paragraph(text, columns,
                        &(struct table_rows){ rows, count, sizeof *rows, .context = context });
}

void explanation_add_table(struct answer *answer, const struct explained *explained)
{
    struct text *text = answer_text(answer);
    const struct explain_input *input = explained->input;
    const struct algorithm *algorithm = input->algorithm;
    /* The cast is safe because the values are only read. */
    const struct fairshare fairshare = { .tree = input->tree,
                                         .options = input->options,
                                         .values = (struct values *)input->values };
    struct wide *counted = algorithm->counted_usage ? algorithm->counted_usage(&fairshare) : NULL;
    struct numbers_context context = { explained,
                                       { &fairshare, algorithm, counted, algorithm->digits } };
    size_t count;
    struct path_row *rows = path_rows_of(explained, &count);
    while (algorithm->follows && context.numbers.digits < MOST_DIGITS &&
           !all_follow(&context.numbers, rows, count))
        context.numbers.digits++;
    add_path_rows(text, &context, rows, count);
    text_add(text, "\n");
    add_wrapped_formulas(text, input);
    free(rows);
    free(counted);
}

struct explained_row {
    const char *path; /* `a`: on the path to `one`; `b`: to `other` */
    int64_t id;
    const char *account, *user, *partition;
    const struct node *node; /* NULL: the root, which has no siblings */
    int64_t level_shares;
    double level_usage_raw, effective_usage, fairshare;
    struct values values;
    bool level_fs_infinite;
};

static void explanation_rows_get_shares(const void *row, struct cell *cell)
{
    const struct node *node = ((const struct explained_row *)row)->node;
    if (node && node_has_parent_shares(node))
        cell_text(cell, "parent");
    else if (node)
        cell_integer(cell, node->shares);
}

static void get_level_shares(const void *row, struct cell *cell)
{
    const struct explained_row *explained = row;
    if (explained->node)
        cell_integer(cell, explained->level_shares);
}

#define VALUE(name, heading, member)                                     \
    {                                                                    \
        name, heading, COLUMN_REAL, MEMBER(struct explained_row, member) \
    }

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "path", "Path", COLUMN_TEXT, MEMBER(struct explained_row, path) },
    { "id_assoc", "ID", COLUMN_INTEGER, MEMBER(struct explained_row, id) },
    { "account", "Account", COLUMN_TEXT, MEMBER(struct explained_row, account) },
    { "username", "User", COLUMN_TEXT, MEMBER(struct explained_row, user) },
    { "partition", "Partition", COLUMN_TEXT, MEMBER(struct explained_row, partition),
      .optional = true },
    { "shares", "Shares", COLUMN_INTEGER, .get = explanation_rows_get_shares },
    { "level_shares", "LevelShares", COLUMN_INTEGER, .get = get_level_shares },
    VALUE("shares_norm", "NormShares", values.shares_norm),
    VALUE("level_shares_norm", "LevelNormShares", values.level_shares_norm),
    VALUE("usage_raw", "RawUsage", values.usage_raw),
    VALUE("level_usage_raw", "LevelRawUsage", level_usage_raw),
    VALUE("usage_norm", "NormUsage", values.usage_norm),
    VALUE("level_usage", "LevelNormUsage", values.level_usage),
    VALUE("capacity_usage", "CapacityUsage", values.capacity_usage),
    VALUE("effective_usage", "EffectvUsage", effective_usage),
    VALUE("depth_oblivious_ratio", "Ratio", values.depth_oblivious_ratio),
    VALUE("level_fs", "LevelFS", values.level_fs),
    { "level_fs_infinite", "LevelFSInfinite", COLUMN_YES_NO,
      MEMBER(struct explained_row, level_fs_infinite), .hidden = ONLY_IN_JSON },
    { "fair_tree_rank", "Rank", COLUMN_INTEGER, MEMBER(struct explained_row, values.fair_tree_rank),
      .zero_is_none = true },
    VALUE("fairshare", "FairShare", fairshare),
    { .name = NULL },
};

const struct table_layout explanation_layout = { columns, "associations", .by_cluster = true,
                                                 .has_page = true };

static struct explained_row explanation_row_of(const struct explained *explained, const char *path,
                                               uint32_t i)
{
    const struct explain_input *input = explained->input;
    const struct fairshare fairshare = { .tree = input->tree,
                                         .options = input->options,
                                         .values = (struct values *)input->values };
    const struct node *node = &input->tree->nodes[i];
    const struct values *values = &input->values[i];
    struct explained_row row = {
        .path = path,
        .id = node->id,
        .account = names_text(explained->names, node->account),
        .user = names_text(explained->names, node->user),
        .partition = names_text(explained->names, node->partition),
        .level_usage_raw = NAN,
        .effective_usage = input->algorithm->effective_usage(values),
        .fairshare = input->algorithm->factor(values),
        .values = *values,
        .level_fs_infinite = isinf(values->level_fs),
    };
    if (i) {
        row.node = node;
        row.level_shares = (int64_t)level_shares(&fairshare, node);
        row.level_usage_raw =
            decay_table_usage(input->options->decay, level_usage(&fairshare, node));
    } else {
        row.values.level_fs = NAN;
    }
    return row;
}

/* Returns rows for the whole path to `one` and the whole path to `other`. */
static struct explained_row *explanation_rows_of(const struct explained *explained, size_t *count)
{
    const uint32_t ends[] = { explained->explanation->one, explained->explanation->other };
    static const char *const paths[] = { "a", "b" };
    struct explained_row *rows = NULL;
    *count = 0;
    for (size_t end = 0; end < 2; end++) {
        if (ends[end] == NO_NODE)
            continue;
        struct path path = path_to(explained->input->tree, ends[end], false);
        rows = memory_resized(rows, *count + path.count, sizeof *rows);
        for (uint32_t i = 0; i < path.count; i++)
            rows[(*count)++] = explanation_row_of(explained, paths[end], path.nodes[i]);
        path_free(&path);
    }
    return rows;
}

static json_t *who_json(const struct explained *explained, uint32_t i)
{
    const struct node *node = &explained->input->tree->nodes[i];
    return json_pack("{s:I, s:s, s:s, s:s}", "id_assoc", (json_int_t)node->id, "account",
                     names_text(explained->names, node->account), "username",
                     names_text(explained->names, node->user), "partition",
                     names_text(explained->names, node->partition));
}

static json_t *explanation_rows_reversals_json(const struct explained *explained)
{
    static const char *const changes[] = {
        [MORE_SHARES] = "more_shares",
        [FEWER_SHARES] = "fewer_shares",
        [MORE_USAGE] = "more_usage",
        [LESS_USAGE] = "less_usage",
    };
    json_t *list = json_array();
    for (uint32_t i = 0; i < explained->explanation->reversal_count; i++) {
        const struct reversal *reversal = &explained->explanation->reversals[i];
        json_t *json = who_json(explained, reversal->node);
        json_object_set_new(json, "change", json_string(changes[reversal->change]));
        json_object_set_new(json, "amount",
                            reversal->amount ? json_integer((json_int_t)reversal->amount)
                                             : json_null());
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *comparison_json(const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    if (explanation->other == NO_NODE)
        return json_null();
    static const char *const orders[] = { "behind", "tied", "ahead", "none" };
    const struct divergence *divergence = &explanation->divergence;
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "order",
                     orders[explanation->order - ORDER_BEHIND], "ancestor",
                     who_json(explained, divergence->ancestor), "decides_a",
                     who_json(explained, divergence->decides_one), "decides_b",
                     who_json(explained, divergence->decides_other), "merged",
                     (json_int_t)divergence->merged, "behind",
                     who_json(explained, explanation->behind), "ahead",
                     who_json(explained, explanation->ahead), "turns",
                     explanation_rows_reversals_json(explained));
}

static json_t *explanation_rows_facts_of(const struct explained *explained)
{
    const struct explain_input *input = explained->input;
    return json_pack(
        "{s:s, s:s, s:I, s:f, s:I, s:o}", "algorithm", input->algorithm->name, "conformance",
        input->options->conformance == CONFORMANCE_SLURMCTLD ? "slurmctld" : "documents", "as_of",
        (json_int_t)explained->as_of, "dampening", input->options->dampening, "users",
        (json_int_t)input->tree->user_count, "comparison", comparison_json(explained));
}

void explanation_add_rows(const struct explained *explained, const struct weights *weights,
                          struct answer *answer)
{
    size_t count;
    struct explained_row *rows = explanation_rows_of(explained, &count);
    json_t *facts = answer_wants_facts(answer) ? explanation_rows_facts_of(explained) : NULL;
    if (facts && weights) {
        json_object_set_new(
            facts, explanation_layout.rows,
            table_rows_json(columns, &(struct table_rows){ rows, count, sizeof *rows,
                                                           .cluster = explained->cluster }));
        weights_add_facts(facts, explained, weights);
    }
    answer_cluster(answer, &(struct table_cluster){ .name = explained->cluster, .facts = facts });
    for (size_t i = 0; weights && i < weights->job_count; i++)
        answer_row(answer, &weights->jobs[i]);
    for (size_t i = 0; i < count && !weights; i++)
        answer_row(answer, &rows[i]);
    free(rows);
}

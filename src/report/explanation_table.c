/* SPDX-License-Identifier: MIT */
#include "report/explanation_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/fairshare/release.h"
#include "core/number/figure.h"
#include "core/tree/tree.h"
#include "report/explained.h"
#include "report/table.h"
#include "report/terminal.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define MOST_DIGITS 15
#define NAME_AT_MOST 36 /* columns of the terminal */

struct path_row {
    uint32_t node, depth;
};

/* The path to one, then what the path to the other does not share with it. */
static struct path_row *rows_of(const struct explained *explained, size_t *count)
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

struct context {
    const struct explained *explained;
    struct explain_context numbers;
};

static void get_name(const void *row, struct cell *cell)
{
    const struct path_row *at = row;
    const struct explained *explained = ((const struct context *)cell->context)->explained;
    const struct node *node = &explained->input->tree->nodes[at->node];
    const char *partition = names_text(explained->names, node->partition);
    cell_format(cell, "%s%s%s",
                names_text(explained->names, node->is_user ? node->user : node->account),
                *partition ? "@" : "", partition);
    cell->depth = at->depth;
}

static void get_number(const void *row, struct cell *cell)
{
    const struct context *context = cell->context;
    const struct algorithm *algorithm = context->numbers.algorithm;
    struct text text = { 0 };
    text_add(&text, "");
    algorithm->columns[cell->column->index].add(&text, &context->numbers,
                                                ((const struct path_row *)row)->node);
    cell_format(cell, "%s", text.bytes);
    text_free(&text);
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
        text_format(text, "In Slurm %s `parent` right below the root has F = 2^-(1 / %g)\n",
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

static void add_rows(struct text *text, const struct context *context, const struct path_row *rows,
                     size_t count)
{
    struct column columns[EXPLAIN_COLUMNS_AT_MOST + 2] = {
        { "name", "", COLUMN_TEXT, .get = get_name, .at_most = NAME_AT_MOST },
    };
    const struct explain_column *of = context->numbers.algorithm->columns;
    for (int i = 0; i < EXPLAIN_COLUMNS_AT_MOST && of[i].heading; i++)
        columns[i + 1] = (struct column){ of[i].heading, of[i].heading, COLUMN_REAL,
                                          .get = get_number, .index = i };
    table_add_paragraph(text, columns,
                        &(struct table_rows){ rows, count, sizeof *rows, .context = context });
}

void explanation_add_table(struct text *text, const struct explained *explained)
{
    const struct explain_input *input = explained->input;
    const struct algorithm *algorithm = input->algorithm;
    /* The values are only read here. */
    const struct fairshare fairshare = { .tree = input->tree,
                                         .options = input->options,
                                         .values = (struct values *)input->values };
    struct wide *counted = algorithm->counted_usage ? algorithm->counted_usage(&fairshare) : NULL;
    struct context context = { explained, { &fairshare, algorithm, counted, algorithm->digits } };
    size_t count;
    struct path_row *rows = rows_of(explained, &count);
    while (algorithm->follows && context.numbers.digits < MOST_DIGITS &&
           !all_follow(&context.numbers, rows, count))
        context.numbers.digits++;
    add_rows(text, &context, rows, count);
    text_add(text, "\n");
    add_wrapped_formulas(text, input);
    free(rows);
    free(counted);
}

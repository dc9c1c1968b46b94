/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number/figure.h"
#include "core/tree/path.h"
#include "core/usage/clock.h"
#include "report/explanation.h"
#include "report/terminal.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define MOST_DIGITS 15

static void add_name(struct text *text, const struct explained *explained, uint32_t i)
{
    const struct node *node = &explained->input->tree->nodes[i];
    text_add_printable(text,
                       names_text(explained->names, node->is_user ? node->user : node->account));
    const char *partition = names_text(explained->names, node->partition);
    if (*partition) {
        text_add(text, "@");
        text_add_printable(text, partition);
    }
}

/* The rows: the way to one, then what the way to the other does not share with it. */
struct rows {
    uint32_t *nodes, *depths;
    uint32_t count;
};

static struct rows rows_of(const struct explained *explained)
{
    const struct explanation *explanation = explained->explanation;
    const struct tree *tree = explained->input->tree;
    struct path first = path_to(tree, explanation->one, false), second = { 0 };
    if (explanation->other != NO_NODE)
        second = path_to(tree, explanation->other, false);
    struct rows rows = { memory_zeroed(first.count + second.count, sizeof *rows.nodes),
                         memory_zeroed(first.count + second.count, sizeof *rows.depths), 0 };
    for (uint32_t i = 0; i < first.count; i++) {
        rows.depths[rows.count] = i;
        rows.nodes[rows.count++] = first.nodes[i];
    }
    for (uint32_t i = 0; i < second.count; i++)
        if (i >= first.count || first.nodes[i] != second.nodes[i]) {
            rows.depths[rows.count] = i;
            rows.nodes[rows.count++] = second.nodes[i];
        }
    path_free(&first);
    path_free(&second);
    return rows;
}

static void cell(struct text *text, const struct explain_context *context, size_t column,
                 uint32_t node)
{
    text->length = 0;
    text_add(text, "");
    context->algorithm->columns[column].add(text, context, node);
}

/* How wide each column is, and the names with their indent. */
static size_t measure(const struct explained *explained, const struct explain_context *context,
                      const struct rows *rows, size_t width[EXPLAIN_COLUMNS_AT_MOST], size_t *names)
{
    struct text text = { 0 };
    size_t total = 0;
    *names = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        text.length = 0;
        text_add(&text, "");
        add_name(&text, explained, rows->nodes[i]);
        size_t needed = rows->depths[i] + utf8_width(text.bytes);
        *names = needed > *names ? needed : *names;
    }
    for (size_t column = 0;
         column < EXPLAIN_COLUMNS_AT_MOST && context->algorithm->columns[column].add; column++) {
        width[column] = strlen(context->algorithm->columns[column].heading);
        for (uint32_t i = 0; i < rows->count; i++) {
            cell(&text, context, column, rows->nodes[i]);
            size_t needed = utf8_width(text.bytes);
            width[column] = needed > width[column] ? needed : width[column];
        }
        total += width[column] + 1;
    }
    text_free(&text);
    return total;
}

static void add_cells(struct text *text, const struct explain_context *context,
                      const size_t width[EXPLAIN_COLUMNS_AT_MOST], uint32_t node)
{
    struct text value = { 0 };
    for (size_t column = 0;
         column < EXPLAIN_COLUMNS_AT_MOST && context->algorithm->columns[column].add; column++) {
        if (node == NO_NODE) {
            value.length = 0;
            text_add(&value, context->algorithm->columns[column].heading);
        } else {
            cell(&value, context, column, node);
        }
        text_format(text, " %*s%s", (int)(width[column] - utf8_width(value.bytes)), "",
                    value.bytes);
    }
    while (text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
    text_free(&value);
}

/* Names stand before the numbers, or above them where a line has no room for both. */
static void add_rows(struct text *text, const struct explained *explained,
                     const struct explain_context *context, const struct rows *rows)
{
    size_t width[EXPLAIN_COLUMNS_AT_MOST], names;
    size_t numbers = measure(explained, context, rows, width, &names);
    size_t line = terminal_line(), start = text->length;
    bool beside = names + numbers <= line;
    size_t indent = beside ? names : numbers < line ? 4 : 0;
    text_format(text, "%*s", (int)indent, "");
    add_cells(text, context, width, NO_NODE);
    terminal_paint(text, start, PAINT_HEADING);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct text name = { 0 };
        text_add(&name, "");
        add_name(&name, explained, rows->nodes[i]);
        size_t depth = rows->depths[i], used = depth + utf8_width(name.bytes);
        text_format(text, "%*s%s", (int)depth, "", name.bytes);
        if (beside)
            text_format(text, "%*s", (int)(names - used), "");
        else
            text_format(text, "\n%*s", (int)indent, "");
        add_cells(text, context, width, rows->nodes[i]);
        text_free(&name);
    }
}

static void add_formulas(struct text *text, const struct explain_input *input)
{
    for (const char *at = input->algorithm->formulas; *at; at++)
        if (*at == '%')
            text_add_figure(text, input->options->dampening, MOST_DIGITS);
        else
            text_add_bytes(text, at, 1);
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

static bool all_follow(const struct explain_context *context, const struct rows *rows)
{
    bool follow = true;
    for (uint32_t i = 0; follow && i < rows->count; i++)
        follow = context->algorithm->follows(context, rows->nodes[i]);
    return follow;
}

void explanation_add_table(struct text *text, const struct explained *explained)
{
    const struct explain_input *input = explained->input;
    const struct algorithm *algorithm = input->algorithm;
    /* The values are only read here. */
    const struct fairshare fairshare = { input->tree, input->options,
                                         (struct values *)input->values };
    struct wide *counted = algorithm->counted_usage ? algorithm->counted_usage(&fairshare) : NULL;
    struct explain_context context = { &fairshare, algorithm, counted, algorithm->digits };
    struct rows rows = rows_of(explained);
    while (algorithm->follows && context.digits < MOST_DIGITS && !all_follow(&context, &rows))
        context.digits++;
    add_rows(text, explained, &context, &rows);
    text_add(text, "\n");
    add_wrapped_formulas(text, input);
    free(rows.nodes);
    free(rows.depths);
    free(counted);
}

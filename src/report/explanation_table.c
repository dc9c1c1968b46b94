/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/pbs.h"
#include "core/fairshare/depth_oblivious.h"
#include "core/tree/path.h"
#include "core/fairshare/fair_tree.h"
#include "core/usage/clock.h"
#include "report/explanation.h"
#include "report/terminal.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* What others are made of has more digits than they have, so that what is reckoned by hand from the
 * printed numbers comes to the printed result: as many as a struct form says, usage two more. */
#define RESULT_DIGITS 6
#define MOST_DIGITS 15

/* What a cell is made from. */
struct cell_context {
    const struct explained *explained;
    struct fairshare fairshare;
    const struct wide *counted; /* usage as PBS counts it; NULL: as it is */
    int digits;
};

void text_add_figure(struct text *text, double number, int digits)
{
    if (isnan(number))
        return;
    if (isinf(number) || number == 0) {
        text_add(text, number == 0 ? "0" : "inf");
        return;
    }
    int decimals = digits - 1 - (int)floor(log10(fabs(number)));
    size_t start = text->length;
    if (decimals > 20) {
        text_format(text, "%.*e", digits - 1, number);
        return;
    }
    text_format(text, "%.*f", decimals < 0 ? 0 : decimals, number);
    if (!memchr(text->bytes + start, '.', text->length - start))
        return;
    while (text->bytes[text->length - 1] == '0')
        text->length--;
    text->length -= text->bytes[text->length - 1] == '.';
    text->bytes[text->length] = '\0';
}

static const struct node *node_of(const struct cell_context *context, uint32_t i)
{
    return &context->fairshare.tree->nodes[i];
}

static const struct values *values_of(const struct cell_context *context, uint32_t i)
{
    return &context->fairshare.values[i];
}

static void add_usage(struct text *text, const struct cell_context *context,
                      const struct wide *usage)
{
    text_add_figure(text, clock_usage(context->fairshare.options->clock, usage),
                    context->digits + 2);
}

/* `shares/level's shares` */
static void add_shares(struct text *text, const struct cell_context *context, uint32_t i)
{
    const struct node *node = node_of(context, i);
    if (i && node_has_parent_shares(node))
        text_add(text, "parent");
    else if (i)
        text_format(text, "%" PRId32 "/%" PRIu64, node->shares,
                    level_shares(&context->fairshare, node));
}

static void add_level_share(struct text *text, const struct cell_context *context, uint32_t i)
{
    if (!node_has_parent_shares(node_of(context, i)))
        text_add_figure(text, values_of(context, i)->level_shares_norm, context->digits);
}

static void add_share(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, values_of(context, i)->shares_norm, context->digits);
}

static void add_own_usage(struct text *text, const struct cell_context *context, uint32_t i)
{
    add_usage(text, context, context->counted ? &context->counted[i] : &node_of(context, i)->usage);
}

/* `usage/level's usage` */
static void add_part(struct text *text, const struct cell_context *context, uint32_t i)
{
    add_own_usage(text, context, i);
    if (!i)
        return;
    text_add(text, "/");
    add_usage(text, context, level_usage(&context->fairshare, node_of(context, i)));
}

static void add_level_usage(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, values_of(context, i)->level_usage, context->digits);
}

static void add_level_fs(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, i ? values_of(context, i)->level_fs : NAN, RESULT_DIGITS);
}

static void add_norm(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text,
                    context->counted ? wide_quotient(&context->counted[i], &context->counted[0])
                                     : values_of(context, i)->usage_norm,
                    context->digits);
}

static void add_capacity(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, values_of(context, i)->capacity_usage, context->digits);
}

static void add_effective(struct text *text, const struct cell_context *context, uint32_t i)
{
    const struct algorithm *algorithm = context->explained->input->algorithm;
    text_add_figure(text, algorithm->effective_usage(values_of(context, i)), context->digits);
}

static void add_factor(struct text *text, const struct cell_context *context, uint32_t i)
{
    const struct algorithm *algorithm = context->explained->input->algorithm;
    text_add_figure(text, i ? algorithm->factor(values_of(context, i)) : NAN, RESULT_DIGITS);
}

/* Whether the depth-oblivious ratio of a node is its own, and not made from the one above. */
static bool is_at_top(const struct cell_context *context, uint32_t i)
{
    return node_of(context, i)->fairshare_parent == 0;
}

/* `usage/the root's` right below it, deeper `usage/siblings' usage` */
static void add_part_of_siblings(struct text *text, const struct cell_context *context, uint32_t i)
{
    const struct node *node = node_of(context, i);
    add_usage(text, context, &node->usage);
    if (!i || (node_has_parent_shares(node) && !is_at_top(context, i)))
        return;
    text_add(text, "/");
    add_usage(text, context,
              is_at_top(context, i) ? &context->fairshare.tree->nodes[0].usage
                                    : &level_of(context->fairshare.tree, node)->sharer_usage);
}

/* rl; NAN where there is none. */
static double local_of(const struct cell_context *context, uint32_t i)
{
    const struct node *node = node_of(context, i);
    if (!i || is_at_top(context, i) || node_has_parent_shares(node) ||
        !(values_of(context, i)->shares_norm > 0))
        return NAN;
    return depth_oblivious_local(&context->fairshare, node);
}

static void add_local(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, local_of(context, i), context->digits);
}

static void add_k(struct text *text, const struct cell_context *context, uint32_t i)
{
    double local = local_of(context, i);
    if (!(local > 0))
        return;
    double parents =
        values_of(context, node_of(context, i)->fairshare_parent)->depth_oblivious_ratio;
    if (parents > 0)
        text_add_figure(text, depth_oblivious_k(parents, local), context->digits);
}

static void add_ratio(struct text *text, const struct cell_context *context, uint32_t i)
{
    text_add_figure(text, values_of(context, i)->depth_oblivious_ratio, context->digits);
}

/* What each algorithm's values are made of, and how. */

struct column {
    const char *heading;
    void (*add)(struct text *text, const struct cell_context *context, uint32_t node);
};
#define COLUMNS_AT_MOST 6

static const struct form {
    const struct algorithm *algorithm;
    struct column columns[COLUMNS_AT_MOST];
    int digits;
    const char *how; /* with a place for the dampening where there is a `%` */
} forms[] = {
    { &fair_tree,
      { { "Shares", add_shares },
        { "S", add_level_share },
        { "Usage", add_part },
        { "U", add_level_usage },
        { "LevelFS", add_level_fs } },
      7,
      "S and U are its parts of the siblings' shares and usage; LevelFS = S / U\n" },
    { &classic,
      { { "Shares", add_shares },
        { "S", add_share },
        { "Usage", add_own_usage },
        { "UA", add_norm },
        { "UE", add_effective },
        { "F", add_factor } },
      8,
      "S = S above x Shares, UA = Usage / Usage of the root\n"
      "UE = UA + (UE above - UA) x Shares, right below the root UE = UA\n"
      "F = 2^-(UE / S / %)\n" },
    { &linear,
      { { "Shares", add_shares },
        { "S", add_share },
        { "Usage", add_own_usage },
        { "UA", add_capacity },
        { "UE", add_effective },
        { "F", add_factor } },
      8,
      "S = S above x Shares, UA = Usage / what the cluster could deliver\n"
      "UE = UA + (UE above - UA) x Shares, right below the root UE = UA\n"
      "F = (S - UE + 1) / 2, kept within 0 and 1\n" },
    { &depth_oblivious,
      { { "Shares", add_shares },
        { "Usage", add_part_of_siblings },
        { "rl", add_local },
        { "k", add_k },
        { "R", add_ratio },
        { "F", add_factor } },
      7,
      "Right below the root R = Usage / Shares\n"
      "else R = R above x rl^k, rl = Usage / Shares\n"
      "k = 1 where R above and rl are on one side of 1, else 1 / (1 + (5 ln R above)^2)\n"
      "F = 2^-(R / %)\n" },
    { &pbs,
      { { "Shares", add_shares },
        { "Target", add_share },
        { "Usage", add_own_usage },
        { "U", add_norm },
        { "TreeUsage", add_effective },
        { "F", add_factor } },
      8,
      "Target = Target above x Shares, U = Usage / Usage of the root\n"
      "TreeUsage = U + (TreeUsage above - U) x Shares, right below the root U\n"
      "F = 2^-(TreeUsage / Target)\n" },
};

static const struct form *form_of(const struct algorithm *algorithm)
{
    const struct form *form = forms;
    while (form->algorithm != algorithm)
        form++;
    return form;
}

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

static void cell(struct text *text, const struct cell_context *context, const struct form *form,
                 size_t column, uint32_t node)
{
    text->length = 0;
    text_add(text, "");
    form->columns[column].add(text, context, node);
}

/* How wide each column is, and the names with their indent. */
static size_t measure(const struct cell_context *context, const struct form *form,
                      const struct rows *rows, size_t width[COLUMNS_AT_MOST], size_t *names)
{
    struct text text = { 0 };
    size_t total = 0;
    *names = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        text.length = 0;
        text_add(&text, "");
        add_name(&text, context->explained, rows->nodes[i]);
        size_t needed = rows->depths[i] + utf8_width(text.bytes);
        *names = needed > *names ? needed : *names;
    }
    for (size_t column = 0; column < COLUMNS_AT_MOST && form->columns[column].add; column++) {
        width[column] = strlen(form->columns[column].heading);
        for (uint32_t i = 0; i < rows->count; i++) {
            cell(&text, context, form, column, rows->nodes[i]);
            size_t needed = utf8_width(text.bytes);
            width[column] = needed > width[column] ? needed : width[column];
        }
        total += width[column] + 1;
    }
    text_free(&text);
    return total;
}

static void add_cells(struct text *text, const struct cell_context *context,
                      const struct form *form, const size_t width[COLUMNS_AT_MOST], uint32_t node)
{
    struct text value = { 0 };
    for (size_t column = 0; column < COLUMNS_AT_MOST && form->columns[column].add; column++) {
        if (node == NO_NODE) {
            value.length = 0;
            text_add(&value, form->columns[column].heading);
        } else {
            cell(&value, context, form, column, node);
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
static void add_rows(struct text *text, const struct cell_context *context, const struct form *form,
                     const struct rows *rows)
{
    size_t width[COLUMNS_AT_MOST], names;
    size_t numbers = measure(context, form, rows, width, &names);
    size_t line = terminal_line(), start = text->length;
    bool beside = names + numbers <= line;
    size_t indent = beside ? names : numbers < line ? 4 : 0;
    text_format(text, "%*s", (int)indent, "");
    add_cells(text, context, form, width, NO_NODE);
    terminal_paint(text, start, PAINT_HEADING);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct text name = { 0 };
        text_add(&name, "");
        add_name(&name, context->explained, rows->nodes[i]);
        size_t depth = rows->depths[i], used = depth + utf8_width(name.bytes);
        text_format(text, "%*s%s", (int)depth, "", name.bytes);
        if (beside)
            text_format(text, "%*s", (int)(names - used), "");
        else
            text_format(text, "\n%*s", (int)indent, "");
        add_cells(text, context, form, width, rows->nodes[i]);
        text_free(&name);
    }
}

static void add_how(struct text *text, const struct form *form, const struct explained *explained)
{
    for (const char *at = form->how; *at; at++)
        if (*at == '%')
            text_add_figure(text, explained->input->options->dampening, MOST_DIGITS);
        else
            text_add_bytes(text, at, 1);
    double minimum = explained->input->options->pbs_minimum_usage;
    if (form->algorithm == &pbs && minimum > 0) {
        text_add(text, "Usage counts at least ");
        text_add_figure(text, minimum, MOST_DIGITS);
        text_add(text, ", which each group has beside that of its users.\n");
    }
    if (form->algorithm == &linear && !isnan(explained->input->options->capacity)) {
        text_add(text, "The cluster could deliver ");
        text_add_figure(text, explained->input->options->capacity, MOST_DIGITS);
        text_add(text, " TRES-seconds.\n");
    }
}

static void add_wrapped_how(struct text *text, const struct form *form,
                            const struct explained *explained)
{
    struct text how = { 0 };
    add_how(&how, form, explained);
    for (char *line = how.bytes, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        terminal_add_wrapped(text, line, 2);
    }
    text_free(&how);
}

/* Whether a division of two printed numbers comes to the third. */
static bool divides(const char *dividend, const char *divisor, const char *quotient, int digits)
{
    struct text text = { 0 };
    double by = strtod(divisor, NULL);
    if (!*quotient || !(by > 0))
        return true;
    text_add_figure(&text, strtod(dividend, NULL) / by, digits);
    bool holds = !strcmp(text.bytes, quotient);
    text_free(&text);
    return holds;
}

/* Whether each of Fair Tree's quotients follows from the numbers beside it. */
static bool all_divide(const struct cell_context *context, const struct rows *rows)
{
    struct text part = { 0 }, usage = { 0 }, shares = { 0 }, level_fs = { 0 };
    bool hold = true;
    for (uint32_t i = 0; hold && i < rows->count; i++) {
        uint32_t node = rows->nodes[i];
        part.length = usage.length = shares.length = level_fs.length = 0;
        add_part(&part, context, node);
        text_add(&usage, "");
        add_level_usage(&usage, context, node);
        text_add(&shares, "");
        add_level_share(&shares, context, node);
        text_add(&level_fs, "");
        add_level_fs(&level_fs, context, node);
        const char *whole = strchr(part.bytes, '/');
        hold = !whole || (divides(part.bytes, whole + 1, usage.bytes, context->digits) &&
                          divides(shares.bytes, usage.bytes, level_fs.bytes, RESULT_DIGITS));
    }
    text_free(&part);
    text_free(&usage);
    text_free(&shares);
    text_free(&level_fs);
    return hold;
}

void explanation_add_table(struct text *text, const struct explained *explained)
{
    const struct explain_input *input = explained->input;
    const struct form *form = form_of(input->algorithm);
    struct cell_context context = {
        .explained = explained,
        /* Only looked at here. */
        .fairshare = { input->tree, input->options, (struct values *)input->values },
    };
    struct wide *counted = input->algorithm == &pbs ? pbs_counted_usage(&context.fairshare) : NULL;
    context.counted = counted;
    context.digits = form->digits;
    struct rows rows = rows_of(explained);
    while (input->algorithm == &fair_tree && context.digits < MOST_DIGITS &&
           !all_divide(&context, &rows))
        context.digits++;
    add_rows(text, &context, form, &rows);
    text_add(text, "\n");
    add_wrapped_how(text, form, explained);
    free(rows.nodes);
    free(rows.depths);
    free(counted);
}

/* SPDX-License-Identifier: MIT */
#include "report/table_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/column.h"
#include "settings/scheduler.h"
#include "util/memory.h"

/* A table is printed in two steps.  First, text_table_add() formats each cell, appends it to
 * table->cells and records the largest width of its column.  Then text_table_print() computes the
 * final widths: headings may widen columns, and expendable columns are omitted until a line fits.
 * If a line is still too long, the columns are split into parts.  Each part repeats the columns
 * that identify a row.  Padding is added only when a line is printed, so the stored cells stay
 * short.
 */

/*
 * table->cells has, for each cell, a byte for the color, the text and a NUL.  A gap is this byte
 * and a NUL.
 */
#define GAP '\x7f'

void text_table_begin(struct text_table *table, const struct chosen *chosen, size_t count)
{
    *table = (struct text_table){ .chosen = chosen, .count = count };
    table->width = memory_zeroed(count + 1, sizeof *table->width);
    table->used = memory_zeroed(count + 1, sizeof *table->used);
}

void text_table_free(struct text_table *table)
{
    free(table->width);
    free(table->used);
    text_free(&table->cells);
}

/* Cuts a cell to `width` terminal columns; 0: no limit.  As in sshare, a cut cell ends with a
 * plus, but not in a format.
 */
static void table_text_cut(const struct text_table *table, struct text *text, size_t start,
                           size_t width)
{
    char *cell = text->bytes + start;
    if (!width || utf8_width(cell) <= width)
        return;
    while (*cell && utf8_width(cell) > (table->before ? width : width - 1)) {
        cell[strlen(cell) - 1] = '\0';
        utf8_drop_cut(cell);
    }
    text->length = start + strlen(cell);
    text_add(text, table->before ? "" : "+");
}

/* Reduces the decimals of a real until it fits. */
static void shorten(struct text *text, size_t start, const struct cell *cell, size_t width)
{
    size_t needed = text->length - start;
    const char *point = strchr(text->bytes + start, '.');
    if (!width || needed <= width || !point || cell->column->unit)
        return;
    size_t decimals = strlen(point + 1), excess = needed - width;
    text->length = start;
    text_format(text, cell->column->plus ? "%+.*f" : "%.*f",
                excess < decimals ? (int)(decimals - excess) : 0, cell->real);
}

void text_table_add(struct text_table *table, size_t column, const struct cell *cell)
{
    const struct chosen *chosen = &table->chosen[column];
    struct text *cells = &table->cells;
    const char paint = (char)(1 + cell->paint);
    text_add_bytes(cells, &paint, 1);
    size_t start = cells->length;
    cell_add_for_people(cells, cell);
    if ((cell->kind == CELL_TEXT || table->before) && !chosen->widens)
        table_text_cut(table, cells, start,
                       chosen->width ? chosen->width : chosen->column->at_most);
    else if (cell->kind == CELL_REAL)
        shorten(cells, start, cell, chosen->width);
    size_t width = utf8_width(cells->bytes + start);
    table->used[column] |= width > 0;
    if (width > table->width[column])
        table->width[column] = width;
    text_add_bytes(cells, "", 1);
}

void text_table_add_gap(struct text_table *table)
{
    text_add_bytes(&table->cells, (const char[]){ GAP, '\0' }, 2);
    table->rows++;
}

void text_table_end_row(struct text_table *table)
{
    table->rows++;
}

static bool table_text_is_left(const struct chosen *chosen)
{
    return chosen->width ? chosen->left
                         : chosen->column->type == COLUMN_TEXT && !chosen->column->right;
}

/* A part of a table that is too wide: the first `keys` columns and the columns [from, to). */
struct table_text_part {
    size_t keys, from, to;
};

static bool table_text_is_in(const struct text_table *table, const struct table_text_part *part,
                             size_t column)
{
    return (table->width[column] || table->before) &&
           (column < part->keys || (column >= part->from && column < part->to));
}

static size_t width_of(const struct text_table *table, size_t from, size_t to)
{
    size_t total = 0;
    for (size_t i = from; i < to; i++)
        total += table->width[i] ? table->width[i] + 1 : 0;
    return total;
}

static const char *heading_of(const struct text_table *table, const struct chosen *chosen)
{
    return terminology_heading(table->terms, chosen->column->heading);
}

/*
 * Computes the widths of the columns from cells and headings, and omits expendable columns if lines
 * are too long.
 */
static void settle_widths(struct text_table *table, bool no_header)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct chosen *chosen = &table->chosen[i];
        size_t heading = no_header ? 0 : utf8_width(heading_of(table, chosen));
        if (chosen->widens)
            table->width[i] = table->width[i] > chosen->width ? table->width[i] : chosen->width;
        else if (chosen->width || table->before)
            table->width[i] = chosen->width;
        else if (!table->used[i] && chosen->column->optional && !table->all)
            table->width[i] = 0;
        else if (table->width[i] < heading)
            table->width[i] = heading;
    }
    size_t line = table->line;
    for (unsigned rank = 1; line && !table->all; rank++) {
        bool more = false;
        for (size_t i = 0; i < table->count && width_of(table, 0, table->count) > line + 1; i++) {
            more |= table->chosen[i].column->expendable > rank;
            if (table->chosen[i].column->expendable == rank)
                table->width[i] = 0;
        }
        if (!more)
            break;
    }
}

static const char *table_text_group_of(const struct text_table *table, size_t column)
{
    const char *group = table->chosen[column].column->group;
    return group ? group : "";
}

/* Returns the end of the group that begins at `from`.  A column without a group is alone. */
static size_t table_text_group_end(const struct text_table *table, size_t from)
{
    size_t to = from + 1;
    while (*table_text_group_of(table, from) && to < table->count &&
           !strcmp(table_text_group_of(table, from), table_text_group_of(table, to)))
        to++;
    return to;
}

/* Makes each group at least as wide as its heading, with two spaces between two groups. */
static void settle_groups(struct text_table *table)
{
    for (size_t from = 0, to; from < table->count; from = to) {
        to = table_text_group_end(table, from);
        size_t width = width_of(table, from, to),
               needed = utf8_width(table_text_group_of(table, from));
        needed += *table_text_group_of(table, from) && from ? 2 : 1;
        if (width && width < needed)
            table->width[from] += needed - width;
    }
}

/*
 * Counts the leading text columns, which identify a row.  Returns 1 if they need over half the
 * line.
 */
static size_t count_keys(const struct text_table *table, size_t line)
{
    size_t keys = 1;
    while (keys < table->count && table->chosen[keys].column->type == COLUMN_TEXT &&
           !table->chosen[keys].column->right)
        keys++;
    return width_of(table, 0, keys) > line / 2 ? 1 : keys;
}

static void table_text_end_line(const struct text_printing *printing, size_t start,
                                enum paint paint)
{
    struct text *text = printing->text;
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
    terminal_paint(text, start, paint);
    if (printing->printed)
        printing->printed(printing->context);
}

static void add_groups(const struct text_table *table, const struct table_text_part *part,
                       const struct text_printing *printing)
{
    size_t start = printing->text->length;
    bool any = false;
    for (size_t from = 0, to; from < table->count; from = to) {
        to = table_text_group_end(table, from);
        size_t width = 0;
        for (size_t i = from; i < to; i++)
            width += table_text_is_in(table, part, i) ? table->width[i] + 1 : 0;
        if (!width)
            continue;
        any |= *table_text_group_of(table, from) != '\0';
        text_add(printing->text, printing->text->length > start ? " " : "");
        form_add_padded(printing->text, table_text_group_of(table, from), width - 1, false);
    }
    if (any)
        table_text_end_line(printing, start, PAINT_HEADING);
    else
        printing->text->length = start;
}

/* Adds a line of cells, or of headings if `cells` is NULL. */
static void table_text_add_line(const struct text_table *table, const struct table_text_part *part,
                                const struct text_printing *printing, const char *const *cells)
{
    struct text *text = printing->text;
    size_t start = text->length;
    text_add(text, table->before ? table->before : "");
    for (size_t i = 0; i < table->count; i++) {
        if (!table_text_is_in(table, part, i))
            continue;
        const struct chosen *chosen = &table->chosen[i];
        const char *cell = cells ? cells[i] + 1 : heading_of(table, chosen);
        text_add(text, !table->before && text->length > start ? " " : "");
        size_t used = utf8_width(cell), width = table->width[i];
        size_t blanks = used < width ? width - used : 0;
        if (!table_text_is_left(chosen))
            text_add_blanks(text, blanks);
        size_t at = text->length;
        text_add(text, cell);
        if (!cells)
            table_text_cut(table, text, at, width);
        else
            terminal_paint(text, at, (enum paint)(cells[i][0] - 1));
        if (table_text_is_left(chosen))
            text_add_blanks(text, blanks);
        text_add(text, chosen->after ? chosen->after : "");
    }
    table_text_end_line(printing, start, cells ? PAINT_NONE : PAINT_HEADING);
}

static void table_text_add_part(const struct text_table *table, const struct table_text_part *part,
                                const struct text_printing *printing)
{
    const char **cells = memory_zeroed(table->count + 1, sizeof *cells);
    const char *at = table->cells.bytes ? table->cells.bytes : "";
    if (!printing->no_header) {
        add_groups(table, part, printing);
        table_text_add_line(table, part, printing, NULL);
    }
    for (size_t row = 0; row < table->rows; row++) {
        if (*at == GAP) {
            text_add(printing->text, "...\n");
            at += 2;
            continue;
        }
        for (size_t i = 0; i < table->count; i++) {
            cells[i] = at;
            at += strlen(at) + 1;
        }
        table_text_add_line(table, part, printing, cells);
    }
    free(cells);
}

void text_table_print(struct text_table *table, const struct text_printing *printing)
{
    settle_widths(table, printing->no_header);
    if (!printing->no_header)
        settle_groups(table);
    size_t line = table->line, keys = count_keys(table, line);
    if (!line || width_of(table, 0, table->count) <= line + 1)
        keys = table->count;
    struct table_text_part part = { keys, keys, keys };
    do {
        size_t width = width_of(table, 0, keys);
        part.from = part.to;
        while (part.to < table->count) {
            size_t to = table_text_group_end(table, part.to);
            width += width_of(table, part.to, to);
            if (width > line + 1 && part.to > part.from)
                break;
            part.to = to;
        }
        text_add(printing->text, part.from > keys ? "\n" : "");
        table_text_add_part(table, &part, printing);
    } while (part.to < table->count);
    text_free(&table->cells);
    table->rows = 0;
    memset(table->width, 0, table->count * sizeof *table->width);
    memset(table->used, 0, table->count * sizeof *table->used);
}

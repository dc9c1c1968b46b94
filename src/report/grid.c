/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/forms.h"
#include "report/terminal.h"
#include "util/memory.h"
#include "util/text.h"

#define FIRST_AT_MOST 36 /* columns of the terminal */
#define BETWEEN 1

struct grid *grid_create(size_t columns)
{
    struct grid *grid = memory_zeroed(1, sizeof *grid);
    *grid = (struct grid){ .arena = arena_create(), .columns = columns };
    return grid;
}

void grid_destroy(struct grid *grid)
{
    if (!grid)
        return;
    arena_destroy(grid->arena);
    free(grid->cells);
    free(grid);
}

const char **grid_row(struct grid *grid)
{
    if (grid->rows == grid->room) {
        grid->room = grid->room ? grid->room * 2 : 64;
        grid->cells = memory_resized(grid->cells, grid->room * grid->columns, sizeof *grid->cells);
    }
    const char **row = &grid->cells[grid->rows++ * grid->columns];
    for (size_t i = 0; i < grid->columns; i++)
        row[i] = "";
    return row;
}

const char *grid_cell(struct grid *grid, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *cell = arena_take(grid->arena, length + 1);
    vsnprintf(cell, length + 1, format, arguments);
    va_end(arguments);
    return cell;
}

static size_t width_of(const struct grid *grid, size_t column)
{
    size_t width = 0;
    for (size_t i = 0; i < grid->rows; i++) {
        size_t cell = utf8_width(grid->cells[i * grid->columns + column]);
        if (cell > width)
            width = cell;
    }
    return width;
}

/* A name that is too long has a plus for its end, as in sshare. */
static void add_first(struct text *text, const char *cell, size_t width)
{
    if (utf8_width(cell) <= width) {
        form_add_padded(text, cell, width, true);
        return;
    }
    char *cut = memory_text(cell);
    while (*cut && utf8_width(cut) > width - 1) {
        cut[strlen(cut) - 1] = '\0';
        utf8_drop_cut(cut);
    }
    size_t length = strlen(cut);
    cut = memory_resized(cut, length + 2, 1);
    memcpy(cut + length, "+", 2);
    form_add_padded(text, cut, width, true);
    free(cut);
}

static void drop_blanks(struct text *text)
{
    while (text->length && text->bytes[text->length - 1] == ' ')
        text->bytes[--text->length] = '\0';
}

void grid_add(struct text *text, const struct grid *grid)
{
    size_t line = terminal_line(), *widths = memory_zeroed(grid->columns, sizeof *widths);
    for (size_t i = 0; i < grid->columns; i++)
        widths[i] = width_of(grid, i);
    if (widths[0] > FIRST_AT_MOST)
        widths[0] = FIRST_AT_MOST;
    for (size_t from = 1, to; from < grid->columns; from = to) {
        size_t width = widths[0];
        for (to = from; to < grid->columns; to++) {
            width += BETWEEN + widths[to];
            if (width > line && to > from)
                break;
        }
        text_add(text, from > 1 ? "\n" : "");
        for (size_t row = 0; row < grid->rows; row++) {
            const char **cells = &grid->cells[row * grid->columns];
            size_t start = text->length;
            add_first(text, cells[0], widths[0]);
            for (size_t i = from; i < to; i++)
                form_add_padded(text, cells[i], widths[i] + BETWEEN, false);
            drop_blanks(text);
            text_add(text, "\n");
            if (!row)
                terminal_paint(text, start, PAINT_HEADING);
        }
    }
    free(widths);
}

/* SPDX-License-Identifier: MIT */
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/text.h"

#define LINE 80u
/* A line that is shorter holds no word. */
#define SHORTEST_LINE 20u

size_t terminal_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col;
}

size_t terminal_line(void)
{
    size_t width = terminal_width();
    if (!width || width > LINE)
        return LINE;
    return width < SHORTEST_LINE ? SHORTEST_LINE : width;
}

void terminal_add_wrapped(struct text *text, const char *paragraph, size_t hang)
{
    size_t column = 0, line = terminal_line();
    struct text word = { 0 };
    while (*paragraph) {
        size_t length = strcspn(paragraph, " ");
        word.length = 0;
        text_add_bytes(&word, paragraph, length);
        size_t width = utf8_width(word.bytes);
        if (column && column + 1 + width > line) {
            text_format(text, "\n%*s", (int)hang, "");
            column = hang;
        } else if (column) {
            text_add(text, " ");
            column++;
        }
        text_add(text, word.bytes);
        column += width;
        paragraph += length;
        paragraph += *paragraph == ' ';
    }
    text_add(text, "\n");
    text_free(&word);
}

static bool has_colours(void)
{
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (!unwanted || !*unwanted) && terminal && *terminal && strcmp(terminal, "dumb") != 0 &&
           isatty(STDOUT_FILENO);
}

void terminal_paint(struct text *text, size_t start, enum paint paint)
{
    static const char *const codes[] = {
        [PAINT_HEADING] = "\033[1m",
        [PAINT_GOOD] = "\033[32m",
        [PAINT_BAD] = "\033[31m",
    };
    if (paint == PAINT_NONE || text->length == start || !has_colours())
        return;
    bool ends = text->bytes[text->length - 1] == '\n';
    char *painted = memory_bytes(text->bytes + start, text->length - start - ends);
    text->length = start;
    text_format(text, "%s%s\033[0m%s", codes[paint], painted, ends ? "\n" : "");
    free(painted);
}

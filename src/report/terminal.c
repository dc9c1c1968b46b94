/* SPDX-License-Identifier: MIT */
#include "report/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/text.h"

#define LINE 80u
/* Shorter lines could not hold a word. */
#define SHORTEST_LINE 20u

static const struct terminal *elsewhere; /* set by terminal_set(); NULL: standard output is used */

/* Reads the user's environment, because the process itself always uses a UTF-8 locale. */
static bool shows_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (!locale || !*locale)
            continue;
        const char *charset = strchr(locale, '.');
        return charset && (!strncasecmp(charset, ".utf-8", 6) || !strncasecmp(charset, ".utf8", 5));
    }
    return false;
}

static bool wants_colours(void)
{
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (!unwanted || !*unwanted) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

struct terminal terminal_of_output(void)
{
    struct winsize size;
    if (elsewhere)
        return *elsewhere;
    struct terminal terminal = { .is_one = isatty(STDOUT_FILENO), .utf8 = shows_utf8() };
    terminal.colours = terminal.is_one && wants_colours();
    if (terminal.is_one && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        terminal.columns = size.ws_col;
    return terminal;
}

void terminal_set(const struct terminal *terminal)
{
    elsewhere = terminal;
}

size_t terminal_width(void)
{
    return terminal_of_output().columns;
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

void terminal_say(struct text *text, size_t hang, const char *format, ...)
{
    struct text paragraph = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_format_printable_list(&paragraph, format, arguments);
    va_end(arguments);
    terminal_add_wrapped(text, paragraph.bytes, hang);
    text_free(&paragraph);
}

void terminal_paint(struct text *text, size_t start, enum paint paint)
{
    static const char *const codes[] = {
        [PAINT_HEADING] = "\033[1m",
        [PAINT_GOOD] = "\033[32m",
        [PAINT_BAD] = "\033[31m",
    };
    if (paint == PAINT_NONE || text->length == start || !terminal_of_output().colours)
        return;
    bool ends = text->bytes[text->length - 1] == '\n';
    char *painted = memory_bytes(text->bytes + start, text->length - start - ends);
    text->length = start;
    text_format(text, "%s%s\033[0m%s", codes[paint], painted, ends ? "\n" : "");
    free(painted);
}

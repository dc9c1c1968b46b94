/* SPDX-License-Identifier: MIT */
#include "command/help.h"

#include <string.h>

#include "command/options.h"

#define WIDTH 79
/* If an option is longer, its description begins in the next line. */
#define LONGEST_SPELLING 22

static const char *const headings[GROUPS] = {
    [GROUP_SETUP] = "Set up and maintain",
    [GROUP_COMPUTE] = "Compute",
    [GROUP_QUERY] = "Query",
    [GROUP_TRY] = "Try other settings",
    [GROUP_CORRECT] = "Correct usage and shares",
    [GROUP_MONITOR] = "Monitor and report",
};

/* Text that is wrapped at WIDTH; continuation lines are indented. */
struct wrapped {
    struct text *text;
    size_t indent, column;
};

static void begin_line(struct wrapped *wrapped)
{
    text_format(wrapped->text, "\n%*s", (int)wrapped->indent, "");
    wrapped->column = wrapped->indent;
}

static void add_word(struct wrapped *wrapped, const char *word, size_t length)
{
    bool first = wrapped->column == wrapped->indent;
    if (!first && wrapped->column + 1 + length > WIDTH) {
        begin_line(wrapped);
        first = true;
    }
    if (!first)
        text_add(wrapped->text, " ");
    text_add_bytes(wrapped->text, word, length);
    wrapped->column += length + !first;
}

static void help_add_words(struct wrapped *wrapped, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, " ");
        add_word(wrapped, words, length);
        words += length;
        words += *words == ' ';
    }
}

/* Returns true if the option can be given by its letter.  The parser uses the first option with a
 * letter, so a later option with the same letter has only its long name: `prio -h` is --noheader,
 * not --help. */
static bool has_letter(const struct command *command, const struct command_option *option)
{
    const struct command_option *other;
    for (size_t i = 0; (other = command_option_at(command, i)) && other != option; i++)
        if (other->letter == option->letter)
            return false;
    return option->letter != 0;
}

static void add_spelling(struct text *text, const struct command *command,
                         const struct command_option *option)
{
    if (has_letter(command, option))
        text_format(text, "-%c, ", option->letter);
    else
        text_add(text, "    ");
    text_format(text, "--%s%s%s", option->name, option->value ? " " : "",
                option->value ? option->value : "");
}

static void add_option(struct text *text, const struct command *command,
                       const struct command_option *option, size_t width)
{
    struct text spelling = { 0 };
    add_spelling(&spelling, command, option);
    struct wrapped help = { text, width + 4, width + 4 };
    text_format(text, "  %-*s", (int)width, spelling.bytes);
    if (spelling.length > width)
        begin_line(&help);
    else
        text_add(text, "  ");
    help_add_words(&help, option->help);
    text_add(text, "\n");
    text_free(&spelling);
}

static bool has_own_line(const struct command_option *option, bool all_options)
{
    return all_options || option_section(option) == SECTION_OPTIONS;
}

/* The width of the column of options. */
static size_t spelling_width(const struct command *command, bool all_options)
{
    const struct command_option *option;
    size_t width = 0;
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        struct text spelling = { 0 };
        add_spelling(&spelling, command, option);
        if (has_own_line(option, all_options) && spelling.length > width &&
            spelling.length <= LONGEST_SPELLING)
            width = spelling.length;
        text_free(&spelling);
    }
    return width;
}

/* Adds a line that names the options of a section, such as `Common: -c FILE, -h, -V`. */
static void add_section(struct text *text, const struct command *command,
                        enum option_section section, const char *heading)
{
    const struct command_option *option;
    struct wrapped wrapped = { text, strlen(heading) + 1, strlen(heading) };
    struct text options = { 0 };
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        if (option_section(option) != section)
            continue;
        text_add(&options, options.length ? ", " : "");
        if (has_letter(command, option))
            text_format(&options, "-%c", option->letter);
        else
            text_format(&options, "--%s", option->name);
        text_format(&options, "%s%s", option->value ? " " : "", option->value ? option->value : "");
    }
    if (options.length) {
        text_add(&options, "; see fairmill-cli(7)");
        text_add(text, heading);
        help_add_words(&wrapped, options.bytes);
        text_add(text, "\n");
    }
    text_free(&options);
}

static void add_usage(struct text *text, const struct command *command)
{
    const char *before = "usage: ";
    for (const char *line = command->usage; line; before = "       ") {
        size_t length = strcspn(line, "\n");
        text_format(text, "%sfairmill %s %.*s\n", before, command->name, (int)length, line);
        line = line[length] ? line + length + 1 : NULL;
    }
}

void help_add(struct text *text, const struct command *command, bool all_options)
{
    const struct command_option *option;
    size_t width = spelling_width(command, all_options);
    add_usage(text, command);
    text_format(text, "\n%s", command->description);
    if (!command->options_size)
        return;
    if (width)
        text_add(text, "\n");
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        if (has_own_line(option, all_options))
            add_option(text, command, option, width);
    if (all_options)
        return;
    text_add(text, "\n");
    add_section(text, command, SECTION_OUTPUT, "Output:");
    add_section(text, command, SECTION_COMMON, "Common:");
}

void help_add_commands(struct text *text, const struct command *const *commands)
{
    for (enum command_group group = 0; group < GROUPS; group++) {
        text_format(text, "%s%s:\n", group ? "\n" : "", headings[group]);
        for (const struct command *const *each = commands; *each; each++)
            if ((*each)->group == group)
                text_format(text, "  %-9s  %s\n", (*each)->name, (*each)->summary);
    }
}

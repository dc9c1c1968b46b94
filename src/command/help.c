/* SPDX-License-Identifier: MIT */
#include "command/help.h"

#include <string.h>

#include "command/options.h"

#define WIDTH 79
/* Longer ones have a line of their own. */
#define LONGEST_SPELLING 22

/* Text that goes on in the next line, below where it began, where it gets too wide. */
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

/* The letter is another option's where that comes first. */
static bool has_letter(const struct command *command, const struct command_option *option)
{
    const struct command_option *other;
    for (size_t i = 0; command && (other = command_option_at(command, i)) && other != option; i++)
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

/* How much room the spellings need. */
static size_t spelling_width(const struct command *command)
{
    const struct command_option *option;
    size_t width = 0;
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        struct text spelling = { 0 };
        add_spelling(&spelling, command, option);
        if (spelling.length > width && spelling.length <= LONGEST_SPELLING)
            width = spelling.length;
        text_free(&spelling);
    }
    return width;
}

static void add_usage_item(struct wrapped *usage, const struct command_option *option)
{
    struct text item = { 0 };
    text_format(&item, "%s--%s%s%s%s%s", option->needed ? "" : "[", option->name,
                option->value ? " " : "", option->value ? option->value : "",
                option->needed ? "" : "]", option->takes == OPTION_AGAIN ? "..." : "");
    add_word(usage, item.bytes, item.length);
    text_free(&item);
}

/* `[--name VALUE]`; the forms of the output are one another's alternatives. */
static void add_usage(struct text *text, const struct command *command)
{
    const struct command_option *option;
    struct wrapped usage = { text, 7, 7 };
    struct text forms = { 0 };
    text_add(text, "usage: ");
    help_add_words(&usage, "fairmill");
    help_add_words(&usage, command->name);
    help_add_words(&usage, command->operands);
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        if (option->form)
            text_format(&forms, "%s--%s", forms.length ? " | " : "[", option->name);
        else if (!option_is_common(option))
            add_usage_item(&usage, option);
    if (forms.length) {
        text_add(&forms, "]");
        add_word(&usage, forms.bytes, forms.length);
    }
    text_free(&forms);
    text_add(text, "\n");
}

void help_add(struct text *text, const struct command *command)
{
    const struct command_option *option;
    size_t width = spelling_width(command);
    add_usage(text, command);
    text_format(text, "\n%s\n\n", command->summary);
    if (*command->notes)
        text_format(text, "%s\n", command->notes);
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        add_option(text, command, option, width);
}

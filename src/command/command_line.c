/* SPDX-License-Identifier: MIT */
#include "command/command_line.h"

#include <string.h>

/* See command_line_add_name(). */
static const char unsayable[] = "this name is not safe in a command";

void command_line_add_words(struct command_line *line, const char *words)
{
    text_format(&line->text, "%s%s", line->text.length ? " " : "", words);
}

void command_line_add(struct command_line *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+./:=@%,";
    text_add(&line->text, line->text.length ? " " : "");
    if (*word && !word[strspn(word, plain)]) {
        text_add(&line->text, word);
        return;
    }
    text_add(&line->text, "'");
    for (const char *at = word; *at; at++)
        text_add_bytes(&line->text, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
    text_add(&line->text, "'");
}

void command_line_add_name(struct command_line *line, const char *key, const char *name)
{
    struct text word = { 0 };
    if (strpbrk(name, ",\"'") || !utf8_is_printable(name))
        line->obstacle = unsayable;
    text_format(&word, "%s=%s", key, name);
    command_line_add(line, word.bytes);
    text_free(&word);
}

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_COMMAND_LINE_H
#define FAIRMILL_COMMAND_COMMAND_LINE_H

#include "util/text.h"

/* A command for a shell, quoted so that the shell splits it into the words that were added.  The
 * caller frees `text`. */
struct command_line {
    struct text text;
    const char *obstacle; /* the reason why the command must not be executed, or NULL */
};

/* Adds words that need no quotes. */
void command_line_add_words(struct command_line *line, const char *words);
/* Adds a word, in single quotes if it has a character that is special for a shell. */
void command_line_add(struct command_line *line, const char *word);
/*
 * Adds `key=name`.  Sets `obstacle` if the name has a comma, a quote or an unprintable character.
 * sacctmgr would split the name at the comma or drop the quotes.  Users could not check an
 * unprintable character before they execute the command.
 */
void command_line_add_name(struct command_line *line, const char *key, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_COMMAND_LINE_H
#define FAIRMILL_COMMAND_COMMAND_LINE_H

#include "util/text.h"

/* A command that a shell takes apart into the words it was made of. */
struct command_line {
    struct text text;
    const char *obstacle; /* why there is none; NULL */
};

/* Words that a shell takes as they are. */
void command_line_add_words(struct command_line *line, const char *words);
/* A word, in single quotes where a shell would do something about it. */
void command_line_add(struct command_line *line, const char *word);
/* `key=name`.  To sacctmgr a comma begins the next name, and quotes are not part of one: such a
 * name, and one that nobody could see, is an obstacle. */
void command_line_add_name(struct command_line *line, const char *key, const char *name);

#endif

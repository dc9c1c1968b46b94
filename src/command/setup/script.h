/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SETUP_SCRIPT_H
#define FAIRMILL_COMMAND_SETUP_SCRIPT_H

#include "util/text.h"

/*
 * The script of `fairmill setup`: a template and the facts about this host.
 *
 * Lines of the template that begin with #@ select other lines.  `#@if NAME`, `#@if NAME=VALUE` and
 * `#@unless ...` keep the lines up to their `#@end` if the fact has a value, or this value, or not.
 * They may be nested.  `#@findings` is replaced by the findings, as comments.  In all other lines,
 * @NAME@ is replaced by the value of the fact, quoted for the shell.
 */

struct script {
    struct arena *arena; /* owns the values */
    struct text findings;
    struct script_fact {
        const char *name, *value;
    } * facts;
    size_t fact_count;
};

/* The template, which the build makes from setup.sh. */
extern const char setup_script[];

/* The caller frees the script with script_free(). */
struct script script_create(void);
void script_free(struct script *script);

/* Sets a fact, or replaces its value.  Copies `value`; NULL means no value. */
void script_set(struct script *script, const char *name, const char *value);
/* Returns the value of a fact, or "" if it has none. */
const char *script_fact(const struct script *script, const char *name);
/* Adds a finding: one line, which may contain names of any characters. */
void script_note(struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the script to `text`. */
void script_add(struct text *text, const struct script *script, const char *template);

#endif

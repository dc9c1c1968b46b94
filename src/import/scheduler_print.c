/* SPDX-License-Identifier: MIT */
#include "import/scheduler_print.h"

#include <stdlib.h>
#include <string.h>

#include "import/lines.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

#define NAME_OF_DEFAULT "default"

struct reader {
    struct scheduler_print *print;
    bool of_default;          /* the lines are of the scheduler `default` */
    struct dated_value *open; /* its value may continue on the next line; NULL */
};

/* Cuts a word and returns what follows it. */
static char *cut_word(char *at)
{
    char *end = at + strcspn(at, " \t");
    char *next = end + strspn(end, " \t");
    *end = '\0';
    return next;
}

static struct dated_value *value_named(struct scheduler_print *print, const char *name)
{
    for (size_t i = 0; i < SERVER_KEYS; i++)
        if (!strcmp(print->values[i].name, name))
            return &print->values[i];
    return NULL;
}

/* A value that print has in quotes is without them. */
static char *without_quotes(const char *value)
{
    size_t length = strlen(value);
    bool quoted = length > 1 && strchr("\"'", *value) && value[length - 1] == *value;
    return quoted ? utf8_copy(value + 1, length - 2) : utf8_copy(value, length);
}

/* `NAME = VALUE`; other lines have no attribute. */
static void take_attribute(struct reader *reader, char *name)
{
    char *sign = cut_word(name);
    reader->open = NULL;
    if (!reader->of_default || *sign != '=' || (sign[1] && sign[1] != ' '))
        return;
    struct dated_value *value = value_named(reader->print, name);
    if (!value)
        return;
    free(value->value);
    value->value = without_quotes(sign + 1 + strspn(sign + 1, " "));
    reader->open = value;
}

/* qmgr breaks a long value after a comma; the rest is on a line that begins with a tab. */
static void take_rest(struct reader *reader, const char *rest)
{
    struct text whole = { 0 };
    if (!reader->open)
        return;
    text_add(&whole, reader->open->value);
    text_add(&whole, rest);
    free(reader->open->value);
    reader->open->value = memory_text(whole.bytes);
    text_free(&whole);
}

/* `Sched NAME` of list; `set sched [NAME] ATTRIBUTE = VALUE` of print, which leaves out `default`.
 */
static void take_words(struct reader *reader, char *line)
{
    char *rest = cut_word(line);
    if (!strcmp(line, "Sched")) {
        reader->of_default = !strcmp(rest, NAME_OF_DEFAULT);
    } else if (!strcmp(line, "set") && !strncmp(rest, "sched ", strlen("sched "))) {
        char *name = cut_word(rest), *sign = name + strcspn(name, " ");
        bool is_named = *sign && sign[1 + strspn(sign, " ") - 1] != '=';
        char *attribute = is_named ? cut_word(name) : name;
        reader->of_default = !is_named || !strcmp(name, NAME_OF_DEFAULT);
        take_attribute(reader, attribute);
    }
    reader->print->is_there |= reader->of_default;
}

static int take_line(void *context, char *line, struct error *err)
{
    struct reader *reader = context;
    (void)err;
    line[strcspn(line, "\r\n")] = '\0';
    if (*line == '\t')
        take_rest(reader, line + strspn(line, "\t "));
    else if (*line == ' ')
        take_attribute(reader, line + strspn(line, " "));
    else
        take_words(reader, line);
    return 0;
}

static int check(const struct scheduler_print *print, const char *path, struct error *err)
{
    const struct dated_value *threshold = &print->values[PBS_SORT_THRESHOLD - PBS_SCHED_KEYS];
    struct text reason = { 0 };
    const char *value = threshold->value ? threshold->value : "";
    int result = 0;
    if (!print->is_there)
        result = fail(
            err, ERROR_DATA,
            "'%s' has no scheduler '" NAME_OF_DEFAULT "'; `qmgr -c 'list sched'` prints it", path);
    else if (!read_pbs_number(&value, value, &reason))
        result =
            fail(err, ERROR_DATA, "'%s': %s '%s': %s", path, threshold->name, value, reason.bytes);
    text_free(&reason);
    return result;
}

int scheduler_print_read(struct scheduler_print *print, const char *path, struct error *err)
{
    *print = (struct scheduler_print){ 0 };
    for (size_t i = 0; i < SERVER_KEYS; i++)
        print->values[i].name = pbs_defaults[PBS_SCHED_KEYS + i].name;
    struct reader reader = { .print = print };
    if (!lines_read(path, false, take_line, &reader, err) && !check(print, path, err))
        return 0;
    scheduler_print_free(print);
    return -1;
}

void scheduler_print_free(struct scheduler_print *print)
{
    for (size_t i = 0; i < SERVER_KEYS; i++)
        free(print->values[i].value);
    *print = (struct scheduler_print){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "report/answer.h"

#include <stdarg.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/memory.h"

struct answer {
    const struct table_options *options;
    int (*print)(const struct text *text, struct error *err);
    struct text text;
    struct table *table;
    bool as_page, opened, ended;
};

struct answer *answer_create(const struct table_layout *layout, const struct table_options *options,
                             int (*print)(const struct text *text, struct error *err),
                             struct error *err)
{
    struct answer *answer = memory_zeroed(1, sizeof *answer);
    *answer = (struct answer){ .options = options, .print = print };
    answer->as_page = layout->has_page && table_is_page(options);
    answer->table = table_create(&answer->text, layout, options, err);
    if (!answer->table) {
        answer_destroy(answer);
        return NULL;
    }
    table_print_with(answer->table, print);
    return answer;
}

void answer_close(struct answer *answer)
{
    if (answer->opened)
        table_close(answer->table);
    answer->opened = false;
}

int answer_end(struct answer *answer, struct error *err)
{
    if (answer->ended)
        return 0;
    answer->ended = true;
    answer_close(answer);
    return table_end(answer->table, err) || (answer->print && answer->print(&answer->text, err))
               ? -1
               : 0;
}

void answer_destroy(struct answer *answer)
{
    if (!answer)
        return;
    table_destroy(answer->table);
    text_free(&answer->text);
    free(answer);
}

bool answer_wants_page(const struct answer *answer)
{
    return answer->as_page;
}

bool answer_wants_facts(const struct answer *answer)
{
    return answer->options->form == TABLE_JSON;
}

bool answer_is_for_people(const struct answer *answer)
{
    return answer->options->form == TABLE_FOR_PEOPLE;
}

void answer_cluster(struct answer *answer, const struct table_cluster *cluster)
{
    answer_close(answer);
    if (answer->as_page) {
        text_add(&answer->text, answer->text.length ? "\n" : "");
        return;
    }
    table_open(answer->table, cluster);
    answer->opened = true;
}

void answer_row(struct answer *answer, const void *row)
{
    table_add(answer->table, row);
}

void answer_say(struct answer *answer, const char *format, ...)
{
    va_list arguments;
    if (!answer_is_for_people(answer) || answer->options->no_header)
        return;
    va_start(arguments, format);
    text_format_printable_list(&answer->text, format, arguments);
    va_end(arguments);
}

struct text *answer_text(struct answer *answer)
{
    return &answer->text;
}

struct table *answer_table(struct answer *answer)
{
    return answer->table;
}

void answer_print_if_long(struct answer *answer)
{
    table_print_if_long(answer->table);
}

/* SPDX-License-Identifier: MIT */
#include "core/tree/txn_text.h"

#include <string.h>

#include "util/number.h"
#include "util/text.h"

/* Behind a text in single quotes that begins here; NULL where it does not end. */
static const char *skip_quoted(const char *at)
{
    for (at++; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '\'' && at[1] == '\'')
            at++;
        else if (*at == '\'')
            return at + 1;
    }
    return NULL;
}

/* Behind a value, which may be an expression with commas of its own: at a comma or the end. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    while (*at && (depth || *at != ',')) {
        if (*at == '\'') {
            at = skip_quoted(at);
            if (!at)
                return NULL;
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if (depth < 0)
            return NULL;
        at++;
    }
    return depth ? NULL : at;
}

int txn_next_pair(const char **info, struct txn_pair *pair)
{
    const char *start = *info + strspn(*info, " ");
    if (!*start)
        return 0;
    const char *equals = start + strcspn(start, "=,'(");
    if (*equals != '=' || equals == start)
        return -1;
    const char *end = skip_value(equals + 1);
    if (!end)
        return -1;
    *pair = (struct txn_pair){ start, equals + 1, (size_t)(equals - start),
                               (size_t)(end - equals - 1) };
    *info = *end ? end + 1 : end;
    return 1;
}

bool txn_is_column(const struct txn_pair *pair, const char *name)
{
    const char *column = pair->column;
    size_t length = pair->column_length;
    if (length > 2 && *column == '`' && column[length - 1] == '`') {
        column++;
        length -= 2;
    }
    return length == strlen(name) && !memcmp(column, name, length);
}

/* A value of a condition that begins here. */
static bool read_value(const char **at, struct txn_pair *term)
{
    const char *end = **at == '\'' ? skip_quoted(*at) : *at + strspn(*at, "0123456789");
    if (!end || end == *at)
        return false;
    term->value = *at;
    term->value_length = (size_t)(end - *at);
    *at = end;
    return true;
}

typedef bool (*term_taker)(void *context, const struct txn_pair *term);

/* The values of a term, from behind its column on. */
static bool read_values(const char **at, struct txn_pair *term, term_taker take, void *context)
{
    static const char in[] = " in(";
    if (**at == '=') {
        ++*at;
        return read_value(at, term) && take(context, term);
    }
    if (strncmp(*at, in, sizeof in - 1) != 0)
        return false;
    *at += sizeof in - 1;
    for (;; *at += 1 + strspn(*at + 1, " ")) {
        if (!read_value(at, term) || !take(context, term) || (**at != ',' && **at != ')'))
            return false;
        if (**at == ')') {
            ++*at;
            return true;
        }
    }
}

bool txn_each_term(const char *condition, term_taker take, void *context)
{
    const char *at = condition, *end = at + strlen(at);
    if (*at == '(' && end[-1] == ')') {
        at++;
        end--;
    }
    for (;; at += 4) {
        struct txn_pair term = { .column = at, .column_length = strcspn(at, "=( ") };
        at += term.column_length;
        if (!term.column_length || !read_values(&at, &term, take, context) || at > end)
            return false;
        if (at == end)
            return true;
        if (strncmp(at, " || ", 4) != 0 && strncmp(at, " or ", 4) != 0)
            return false;
    }
}

bool txn_text_of(const struct txn_pair *pair, struct text *text)
{
    const char *quoted = pair->value, *end = quoted + pair->value_length;
    if (pair->value_length < 2 || *quoted != '\'' || skip_quoted(quoted) != end)
        return false;
    text_add_bytes(text, "", 0);
    for (const char *at = quoted + 1; at < end - 1; at++) {
        at += *at == '\\' || *at == '\'';
        text_add_bytes(text, at, 1);
    }
    return true;
}

bool txn_number_of(const struct txn_pair *pair, uint64_t greatest, uint64_t *number)
{
    const char *bytes = pair->value;
    size_t length = pair->value_length;
    if (length > 2 && *bytes == '\'' && bytes[length - 1] == '\'') {
        bytes++;
        length -= 2;
    }
    return number_unsigned(bytes, length, number) && *number <= greatest;
}

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TXN_TEXT_H
#define FAIRMILL_CORE_TXN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* The texts in slurmdbd's txn_table: pieces of the SQL that it ran. */

/* A column and a value, which is a text in single quotes, a number or an expression. */
struct txn_pair {
    const char *column, *value;
    size_t column_length, value_length;
};
/* The next pair of an info `column=value, column='value', ...`: 1, 0 at the end, -1 where there is
 * something else. */
int txn_next_pair(const char **info, struct txn_pair *pair);
/* Hand over each term of a condition `(column=value || column='value')`, also with `or` between
 * them, with `column in('value', 'value')`, and without parentheses.  False where it is something
 * else, or `take` returns false. */
bool txn_each_term(const char *condition, bool (*take)(void *context, const struct txn_pair *term),
                   void *context);

bool txn_is_column(const struct txn_pair *pair, const char *name);
/* Append the text between the quotes of the value; false where it is none. */
bool txn_text_of(const struct txn_pair *pair, struct text *text);
/* Its number, in quotes or not. */
bool txn_number_of(const struct txn_pair *pair, uint64_t greatest, uint64_t *number);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TRANSACTION_H
#define FAIRMILL_CORE_TREE_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct association_history;

/*
 * Transactions on associations in slurmdbd's txn_table.  Moves of accounts are not recorded there.
 */

/* The actions that are evaluated.  Other actions are ignored. */
enum transaction_action {
    TRANSACTION_ADD = 1404,    /* name `id_assoc=6`, info as below with all columns */
    TRANSACTION_MODIFY = 1429, /* name `(id_assoc=6 || id_assoc=7)`, info `shares=6, ...` */
    TRANSACTION_REMOVE_ACCOUNTS = 1435, /* name `name='a'` or `name in('a', 'b')`, of any cluster */
    TRANSACTION_REMOVE = 1437,          /* name `id_assoc=6 || id_assoc=49` */
    TRANSACTION_REMOVE_USERS = 1439,    /* name as for TRANSACTION_REMOVE_ACCOUNTS */
    TRANSACTION_REMOVE_QOS = 1450,      /* modifies nearly all associations */
    TRANSACTION_ADD_QOS = 1447,         /* name `a`, info with `usage_factor=2.000000` */
    TRANSACTION_MODIFY_QOS = 1451,      /* name `(name='a' || name='b')`, info as above */
    TRANSACTION_ADD_CLUSTER = 1405,     /* the first row that a new slurmdbd writes */
};

struct transaction {
    int64_t at;
    int64_t action;
    const char *name, *info; /* NUL-terminated; `column=value, column='value', ...` */
};

/*
 * Adds the transaction to the history.  Returns false, and adds nothing, if it cannot be
 * interpreted completely.
 */
bool transaction_add(const struct transaction *transaction, struct association_history *history);

struct text;

/*
 * Parsers for the columns `name` and `info`, which contain parts of the SQL statements that
 * slurmdbd executed.
 */

/*
 * A column and its value: a string in single quotes, a number or an expression.  The pointers point
 * into the parsed text.
 */
struct txn_pair {
    const char *column, *value;
    size_t column_length, value_length;
};
/*
 * Reads the next pair of an info `column=value, column='value', ...` and advances `*info`.  Returns
 * 1 if there is a pair, 0 at the end of the text, or -1 if the text is malformed.
 */
int txn_next_pair(const char **info, struct txn_pair *pair);
/*
 * Calls `take` for each term of a condition `(column=value || column='value')`.  Also accepts `or`
 * between terms, `column in('value', 'value')`, and no parentheses.  Returns false if the condition
 * does not have one of these forms, or if `take` returns false.
 */
bool txn_each_term(const char *condition, bool (*take)(void *context, const struct txn_pair *term),
                   void *context);

bool txn_is_column(const struct txn_pair *pair, const char *name);
/* Appends the unquoted string value.  Returns false if the value is not a string. */
bool txn_text_of(const struct txn_pair *pair, struct text *text);
/*
 * Reads a numeric value up to `greatest`, with or without quotes.  Returns false on other values.
 */
bool txn_number_of(const struct txn_pair *pair, uint64_t greatest, uint64_t *number);

#endif

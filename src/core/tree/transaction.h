/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TRANSACTION_H
#define FAIRMILL_CORE_TREE_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct association_history;

/* What slurmdbd wrote into its txn_table about associations (facts of Slurm 2.2).  It does not
 * write that an account was moved. */

/* Its actions that make, change or remove associations.  Others are ignored. */
enum transaction_action {
    TRANSACTION_ADD = 1404,    /* name `id_assoc=6`, info as below with all columns */
    TRANSACTION_MODIFY = 1429, /* name `(id_assoc=6 || id_assoc=7)`, info `shares=6, ...` */
    TRANSACTION_REMOVE_ACCOUNTS = 1435, /* name `name='a'` or `name in('a', 'b')`, of any cluster */
    TRANSACTION_REMOVE = 1437,          /* name `id_assoc=6 || id_assoc=49` */
    TRANSACTION_REMOVE_USERS = 1439,    /* as accounts */
    TRANSACTION_REMOVE_QOS = 1450,      /* touches nearly all associations */
    TRANSACTION_ADD_QOS = 1447,         /* name `a`, info with `usage_factor=2.000000` */
    TRANSACTION_MODIFY_QOS = 1451,      /* name `(name='a' || name='b')`, the same info */
    TRANSACTION_ADD_CLUSTER = 1405,     /* a new slurmdbd's first row is of this */
};

struct transaction {
    int64_t at;
    int64_t action;
    const char *name, *info; /* NUL-terminated; `column=value, column='value', ...` */
};

/* Add it to the past.  False where it is not wholly understood; then nothing was added. */
bool transaction_add(const struct transaction *transaction, struct association_history *history);

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

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_PARSE_H
#define FAIRMILL_CORE_FORMULA_PARSE_H

#include "core/formula/functions.h"

struct arena;
struct error;

#define FORMULA_LONGEST 8192 /* bytes of a formula */
#define FORMULA_NAMES 64     /* at most, so that values of many jobs need little memory */

/* A formula as a tree.  It nests as little as the formula's parentheses do: `a + b + c` is one node
 * with three items. */

enum node_kind {
    NODE_NUMBER,
    NODE_NAME,
    NODE_CALL,      /* of a function with the items; also a sign with its operand */
    NODE_OPERATORS, /* operands with operators of one level between them, from left to right */
    NODE_COMPARISONS,
    NODE_LOGIC,   /* operands with `or`, or with `and`, between them */
    NODE_CHOICE,  /* the second item if the first is true, else the third */
    NODE_SEQUENCE /* after `in`; for functions that take one its items are the arguments */
};

struct formula_node {
    enum node_kind kind;
    size_t at;                       /* in the text */
    struct formula_value number;     /* of NODE_NUMBER */
    size_t name;                     /* of NODE_NAME */
    const struct function *function; /* of NODE_CALL */
    struct formula_node *items, *last, *next;
    size_t item_count;
    bool has_comma;                   /* after its last item */
    const struct function *operation; /* before it, if it is an operand */
    size_t operator_at;
};

struct formula {
    struct arena *arena; /* of all that is here */
    struct formula_node *root;
    size_t node_count, cost;
    const char *names[FORMULA_NAMES];
    size_t name_count;
    struct formula_value *scratch; /* arguments: room for each node's value */
};

/* Makes the tree of a formula from its text, with its names.  Fails with ERROR_SETTINGS, and the
 * column, if the text is not a formula. */
int formula_parse(struct formula *formula, const char *text, struct error *err);

#endif

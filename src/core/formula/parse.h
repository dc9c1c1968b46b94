/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_PARSE_H
#define FAIRMILL_CORE_FORMULA_PARSE_H

#include "core/formula/functions.h"

struct error;

#define FORMULA_LONGEST 8192 /* bytes of a formula */
#define FORMULA_NAMES 64     /* at most, so that values of many jobs need little memory */

/* What a step of an evaluation does with the values on a stack. */
enum formula_operation {
    STEP_NUMBER,
    STEP_NAME,       /* count: its number */
    STEP_ARITHMETIC, /* + - * or / */
    STEP_CALL,       /* count: of the arguments */
    STEP_IN,         /* count: of a sequence's items, which are above a number */
    STEP_COMPARE,    /* a false one jumps; one that jumps leaves its right operand if it is true */
    STEP_AND,        /* leaves an operand that decides, and jumps */
    STEP_OR,
    STEP_JUMP_UNLESS, /* if the condition is false */
    STEP_JUMP
};

struct formula_step {
    enum formula_operation operation;
    unsigned column; /* of the function or operator */
    size_t count;    /* also of the steps to jump over */
    union {
        struct formula_value number;
        const struct formula_function *function;
    };
};

struct formula {
    struct arena *arena; /* of all that is here */
    struct formula_step *steps;
    size_t step_count, cost;
    const char *names[FORMULA_NAMES];
    size_t name_count;
    struct formula_value *stack; /* room for the values of an evaluation; the first is not used */
};

/* Adds the steps and names of a text to a formula.  Fails with ERROR_SETTINGS, and the column, if
 * the text is not a formula. */
int formula_parse(struct formula *formula, const char *text, struct error *err);

#endif

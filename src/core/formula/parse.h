/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_PARSE_H
#define FAIRMILL_CORE_FORMULA_PARSE_H

#include "core/formula/functions.h"

struct error;

#define FORMULA_LONGEST 8192 /* maximum length in bytes */
#define FORMULA_NAMES 64 /* maximum number of names; limits the memory for values of many jobs */

/* The effect of a step on the stack of values. */
enum formula_operation {
    STEP_NUMBER,
    STEP_NAME,       /* pushes value number `count` */
    STEP_ARITHMETIC, /* + - * or / */
    STEP_CALL,       /* `count` arguments */
    STEP_IN,         /* `count` items of a sequence, above the number to find */
    /* In a chain such as a < b < c: if true, keeps the right operand for the next comparison; if
     * false, jumps to the end of the chain. */
    STEP_COMPARE,
    STEP_AND, /* if the operand decides the result, keeps the operand and jumps */
    STEP_OR,
    STEP_JUMP_UNLESS, /* jumps if the condition is false */
    STEP_JUMP
};

struct formula_step {
    enum formula_operation operation;
    unsigned column; /* of the function or operator */
    size_t count;    /* also the number of steps to jump over */
    union {
        struct formula_value number;
        const struct formula_function *function;
    };
};

struct formula {
    struct arena *arena; /* owns all memory below */
    struct formula_step *steps;
    size_t step_count, cost;
    const char *names[FORMULA_NAMES];
    size_t name_count;
    /* The stack of an evaluation.  Element 0 is unused. */
    struct formula_value *stack;
};

/* Adds the steps and names of a text to a formula.  Fails with ERROR_SETTINGS and the column if the
 * text is not a formula. */
int formula_parse(struct formula *formula, const char *text, struct error *err);

#endif

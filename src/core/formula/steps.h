/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_STEPS_H
#define FAIRMILL_CORE_FORMULA_STEPS_H

#include <stdint.h>

#include "core/formula/function.h"

/* A formula as the steps of a machine with a stack, so that a million evaluations neither recurse
 * nor take memory: parse.c makes them, formula.c takes them. */

enum step_kind {
    STEP_NUMBER,  /* push a number of the formula */
    STEP_NAME,    /* push a name's value */
    STEP_OPERATE, /* two on the stack become one */
    STEP_CALL,    /* the function's arguments become its answer */
    STEP_NEGATE,  /* the top changes its sign */
    STEP_NOT,     /* the top becomes whether it is false */
    STEP_COMPARE, /* two become whether they stand so to each other */
    STEP_CHAIN,   /* the same where a comparison follows: the second stays if they do; else False
                   * takes their place, and the steps of what follows are skipped */
    STEP_AND,     /* skip if the top is false, else drop it */
    STEP_OR,      /* skip if it is true, else drop it */
    STEP_IF,      /* drop the top, and skip if it was false */
    STEP_SKIP,
};

typedef const char *operation(struct amount *left, const struct amount *right);

struct step {
    enum step_kind kind;
    uint32_t at;    /* in the text */
    uint32_t which; /* number, name, how many arguments, bits of a comparison */
    uint32_t skip;  /* so many steps after this one */
    operation *operate;
    const struct function *function;
};

/* What a comparison may find, as bits; NEITHER: one of the two is not a number. */
enum { LESS = 1, EQUAL = 2, MORE = 4, NEITHER = 8 };

struct formula {
    char *text;
    struct step *steps;
    size_t step_count;
    struct amount *numbers;
    size_t number_count;
    char **names;
    size_t name_count;
    struct amount *stack;
    size_t stack_count;
};

#endif

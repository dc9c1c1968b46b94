/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_PARSE_H
#define FAIRMILL_CORE_FORMULA_PARSE_H

#include <stdint.h>

#include "core/formula/functions.h"

struct error;

#define FORMULA_NAMES 64 /* at most, so that values of many jobs need little memory */

/* A formula as the steps of a machine with a stack, so that a million evaluations neither recurse
 * nor allocate: parse.c makes them, formula.c executes them. */

enum step_kind {
    STEP_NUMBER,  /* push a number of the formula */
    STEP_NAME,    /* push a name's value */
    STEP_OPERATE, /* two on the stack become one */
    STEP_CALL,    /* the function's arguments become its result */
    STEP_NEGATE,  /* the top changes its sign */
    STEP_INVERT,  /* the top's bits are inverted */
    STEP_NOT,     /* the top becomes whether it is false */
    STEP_COMPARE, /* two become whether they compare so */
    STEP_CHAIN,   /* the same if a comparison follows: the second stays if they do; else False
                   * replaces them, and the steps of the rest are skipped */
    STEP_IN,      /* the top `which` numbers are removed; the next becomes whether it is one */
    STEP_AND,     /* skip if the top is false, else remove it */
    STEP_OR,      /* skip if it is true, else remove it */
    STEP_IF,      /* remove the top, and skip if it was false */
    STEP_SKIP,
};

struct step {
    enum step_kind kind;
    uint32_t at;    /* in the text */
    uint32_t which; /* name, how many arguments, bits of a comparison */
    uint32_t skip;  /* so many steps after this one */
    struct formula_value number;
    operation *operate;
    const struct function *function;
};

/* What a comparison may find, as bits; NEITHER: one of the two is not a number. */
enum { LESS = 1, EQUAL = 2, MORE = 4, NEITHER = 8 };

struct formula {
    struct step *steps;
    size_t step_count;
    char **names;
    size_t name_count;
    struct formula_value *stack;
    size_t stack_count;
};

/* Makes the steps of a formula from its text, with its names, and counts the places that the stack
 * needs.  Fails with ERROR_SETTINGS, and the column, if the text is not a formula. */
int formula_parse(struct formula *formula, const char *text, struct error *err);

#endif

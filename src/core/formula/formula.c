/* SPDX-License-Identifier: MIT */
#include "core/formula/formula.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/functions.h"
#include "core/formula/scan.h"
#include "util/error.h"
#include "util/memory.h"

/* A formula becomes steps of a machine with a stack, so that evaluating it a million times neither
 * recurses nor takes memory. */

/* As deep as parentheses and signs may nest. */
#define DEEPEST 100

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

/* ---- making it ---- */

struct parser {
    struct formula *formula;
    const char *text, *next; /* behind the token */
    struct token token;
    size_t depth;   /* of parentheses and the like */
    size_t stacked; /* on the stack, once the steps so far are done */
    struct error *err;
};

static int parse_expression(struct parser *parser);

static int advance(struct parser *parser)
{
    return token_next(parser->text, &parser->next, &parser->token, parser->err);
}

static int refuse_token(const struct parser *parser, const char *wanted)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_END)
        return formula_refuse(parser->text, token->start, parser->err, "%s is missing", wanted);
    int length = token->length > 40 ? 40 : (int)token->length;
    const char *why =
        token->kind == TOKEN_NAME ? function_refusal(token->start, token->length) : NULL;
    if (why)
        return formula_refuse(parser->text, token->start, parser->err,
                              "a formula has no '%.*s': %s", length, token->start, why);
    return formula_refuse(parser->text, token->start, parser->err, "'%.*s' is where %s should be",
                          length, token->start, wanted);
}

static int deepen(struct parser *parser)
{
    if (parser->depth++ < DEEPEST)
        return 0;
    return formula_refuse(parser->text, parser->token.start, parser->err,
                          "it nests more than %d times", DEEPEST);
}

/* `pushed` is what the step adds to the stack. */
static size_t add_step(struct parser *parser, struct step step, const char *at, int pushed)
{
    struct formula *formula = parser->formula;
    step.at = (uint32_t)(at - parser->text);
    formula->steps = memory_grown(formula->steps, formula->step_count, sizeof *formula->steps);
    formula->steps[formula->step_count] = step;
    parser->stacked += (size_t)(ptrdiff_t)pushed;
    if (parser->stacked > formula->stack_count)
        formula->stack_count = parser->stacked;
    return formula->step_count++;
}

/* The step skips all that has been made since. */
static void skip_to_here(struct parser *parser, size_t step)
{
    struct formula *formula = parser->formula;
    formula->steps[step].skip = (uint32_t)(formula->step_count - step - 1);
}

static struct amount *add_number(struct parser *parser, const char *at)
{
    struct formula *formula = parser->formula;
    formula->numbers =
        memory_grown(formula->numbers, formula->number_count, sizeof *formula->numbers);
    struct amount *number = &formula->numbers[formula->number_count];
    amount_start(number);
    struct step step = { .kind = STEP_NUMBER, .which = (uint32_t)formula->number_count++ };
    add_step(parser, step, at, 1);
    return number;
}

static void add_name(struct parser *parser, const struct token *token)
{
    struct formula *formula = parser->formula;
    size_t number = 0;
    while (number < formula->name_count &&
           (strlen(formula->names[number]) != token->length ||
            memcmp(formula->names[number], token->start, token->length) != 0))
        number++;
    if (number == formula->name_count) {
        formula->names = memory_grown(formula->names, formula->name_count, sizeof *formula->names);
        formula->names[formula->name_count++] = memory_bytes(token->start, token->length);
    }
    struct step step = { .kind = STEP_NAME, .which = (uint32_t)number };
    add_step(parser, step, token->start, 1);
}

static int check_count(const struct parser *parser, const struct token *name,
                       const struct function *function, size_t count)
{
    if (count >= function->least && (count <= function->most || function->most == FUNCTION_ANY))
        return 0;
    const char *more = function->most == function->least ? "" : " or more";
    return formula_refuse(parser->text, name->start, parser->err,
                          "'%s' takes %d%s arguments, not %zu", function->name, function->least,
                          more, count);
}

static int parse_call(struct parser *parser, const struct token *name)
{
    const struct function *function = function_find(name->start, name->length);
    if (!function) {
        const char *why = function_refusal(name->start, name->length);
        return formula_refuse(parser->text, name->start, parser->err,
                              "a formula has no function '%.*s'%s%s",
                              name->length > 40 ? 40 : (int)name->length, name->start,
                              why ? ": " : "", why ? why : "");
    }
    size_t count = 0;
    if (deepen(parser) || advance(parser))
        return -1;
    while (!token_is(&parser->token, ")")) {
        if (parse_expression(parser))
            return -1;
        count++;
        if (token_is(&parser->token, ")"))
            break;
        if (!token_is(&parser->token, ","))
            return refuse_token(parser, "',' or ')'");
        if (count >= 1000)
            return refuse_token(parser, "')' after a thousand arguments");
        if (advance(parser))
            return -1;
    }
    parser->depth--;
    if (check_count(parser, name, function, count))
        return -1;
    struct step step = { .kind = STEP_CALL, .which = (uint32_t)count, .function = function };
    add_step(parser, step, name->start, 1 - (int)count);
    return advance(parser);
}

/* Words of Python's that are no names. */
static bool is_word(const struct token *token)
{
    static const char *const words[] = { "and", "or", "not", "if", "else" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (token_is(token, words[i]))
            return true;
    }
    return function_refusal(token->start, token->length) != NULL;
}

static int parse_name(struct parser *parser)
{
    struct token name = parser->token;
    if (is_word(&name))
        return refuse_token(parser, "a number");
    if (advance(parser))
        return -1;
    if (token_is(&parser->token, "("))
        return parse_call(parser, &name);
    if (function_find(name.start, name.length))
        return formula_refuse(parser->text, name.start, parser->err,
                              "'%.*s' is a function; its arguments are missing", (int)name.length,
                              name.start);
    struct amount constant;
    amount_start(&constant);
    if (constant_find(name.start, name.length, &constant))
        amount_set(add_number(parser, name.start), &constant);
    else
        add_name(parser, &name);
    amount_end(&constant);
    return 0;
}

static int parse_atom(struct parser *parser)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_NUMBER) {
        struct amount *number = add_number(parser, token->start);
        return token_number(parser->text, token, number, parser->err) ? -1 : advance(parser);
    }
    if (token->kind == TOKEN_NAME)
        return parse_name(parser);
    if (!token_is(token, "("))
        return refuse_token(parser, "a number");
    if (deepen(parser) || advance(parser) || parse_expression(parser))
        return -1;
    parser->depth--;
    return token_is(token, ")") ? advance(parser) : refuse_token(parser, "')'");
}

static void add_operation(struct parser *parser, operation *operate, const char *at)
{
    struct step step = { .kind = STEP_OPERATE, .operate = operate };
    add_step(parser, step, at, -1);
}

/* A sign binds less than the power behind it and more than that before it: -2 ** -2. */
static int parse_signed(struct parser *parser)
{
    struct token sign = parser->token;
    if (token_is(&sign, "-") || token_is(&sign, "+")) {
        if (deepen(parser) || advance(parser) || parse_signed(parser))
            return -1;
        parser->depth--;
        if (token_is(&sign, "-"))
            add_step(parser, (struct step){ .kind = STEP_NEGATE }, sign.start, 0);
        return 0;
    }
    if (parse_atom(parser))
        return -1;
    sign = parser->token;
    if (!token_is(&sign, "**"))
        return 0;
    if (deepen(parser) || advance(parser) || parse_signed(parser))
        return -1;
    parser->depth--;
    add_operation(parser, amount_power, sign.start);
    return 0;
}

static const struct operator
{
    const char *sign;
    bool multiplies;
    operation *operate;
}
operators[] = {
    { "*", true, amount_multiply },      { "/", true, amount_divide },
    { "//", true, amount_divide_floor }, { "%", true, amount_modulo },
    { "+", false, amount_add },          { "-", false, amount_subtract },
};

static operation *operation_of(const struct token *token, bool multiplies)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].multiplies == multiplies && token_is(token, operators[i].sign))
            return operators[i].operate;
    }
    return NULL;
}

/* Operators of one rank, from left to right. */
static int parse_operators(struct parser *parser, bool multiplies)
{
    if (multiplies ? parse_signed(parser) : parse_operators(parser, true))
        return -1;
    for (;;) {
        struct token sign = parser->token;
        operation *operate = operation_of(&sign, multiplies);
        if (!operate)
            return 0;
        if (advance(parser) || (multiplies ? parse_signed(parser) : parse_operators(parser, true)))
            return -1;
        add_operation(parser, operate, sign.start);
    }
}

/* A comparison's answers, as bits: less, equal, more, and where one of both is no number. */
enum { LESS = 1, EQUAL = 2, MORE = 4, NEITHER = 8 };

static const struct comparison {
    const char *sign;
    uint32_t holds;
} comparisons[] = {
    { "<", LESS }, { "<=", LESS | EQUAL }, { "==", EQUAL },
    { ">", MORE }, { ">=", MORE | EQUAL }, { "!=", LESS | MORE | NEITHER },
};

static const struct comparison *comparison_of(const struct token *token)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (token_is(token, comparisons[i].sign))
            return &comparisons[i];
    }
    return NULL;
}

static int parse_comparisons(struct parser *parser)
{
    size_t first = parser->formula->step_count;
    if (parse_operators(parser, false))
        return -1;
    const struct comparison *comparison;
    while ((comparison = comparison_of(&parser->token))) {
        const char *at = parser->token.start;
        if (advance(parser) || parse_operators(parser, false))
            return -1;
        bool more = comparison_of(&parser->token) != NULL;
        struct step step = { .kind = more ? STEP_CHAIN : STEP_COMPARE, .which = comparison->holds };
        add_step(parser, step, at, -1);
    }
    for (size_t i = first; i < parser->formula->step_count; i++) {
        struct step *step = &parser->formula->steps[i];
        if (step->kind == STEP_CHAIN && !step->skip)
            skip_to_here(parser, i);
    }
    return 0;
}

static int parse_not(struct parser *parser)
{
    struct token word = parser->token;
    if (!token_is(&word, "not"))
        return parse_comparisons(parser);
    if (deepen(parser) || advance(parser) || parse_not(parser))
        return -1;
    parser->depth--;
    add_step(parser, (struct step){ .kind = STEP_NOT }, word.start, 0);
    return 0;
}

static int parse_and(struct parser *parser)
{
    if (parse_not(parser))
        return -1;
    while (token_is(&parser->token, "and")) {
        size_t step = add_step(parser, (struct step){ .kind = STEP_AND }, parser->token.start, -1);
        if (advance(parser) || parse_not(parser))
            return -1;
        skip_to_here(parser, step);
    }
    return 0;
}

static int parse_or(struct parser *parser)
{
    if (parse_and(parser))
        return -1;
    while (token_is(&parser->token, "or")) {
        size_t step = add_step(parser, (struct step){ .kind = STEP_OR }, parser->token.start, -1);
        if (advance(parser) || parse_and(parser))
            return -1;
        skip_to_here(parser, step);
    }
    return 0;
}

/* Put the steps from `middle` on before those from `first` on.  Skips are counted from where they
 * are, so both keep their meaning. */
static void swap_steps(struct formula *formula, size_t first, size_t middle)
{
    size_t behind = formula->step_count - middle;
    struct step *moved = memory_zeroed(middle - first, sizeof *moved);
    memcpy(moved, formula->steps + first, (middle - first) * sizeof *moved);
    memmove(formula->steps + first, formula->steps + middle, behind * sizeof *moved);
    memcpy(formula->steps + first + behind, moved, (middle - first) * sizeof *moved);
    free(moved);
}

/* `x if c else y`: c, else skip x; x, skip y; y. */
static int parse_choice(struct parser *parser, size_t first)
{
    struct formula *formula = parser->formula;
    const char *at = parser->token.start;
    add_step(parser, (struct step){ .kind = STEP_SKIP }, at, -1);
    size_t condition = formula->step_count;
    if (advance(parser) || parse_or(parser))
        return -1;
    if (!token_is(&parser->token, "else"))
        return refuse_token(parser, "'else'");
    add_step(parser, (struct step){ .kind = STEP_IF }, at, -1);
    size_t choice = first + (formula->step_count - condition) - 1;
    size_t skip_other = formula->step_count - 1;
    swap_steps(formula, first, condition);
    skip_to_here(parser, choice);
    if (deepen(parser) || advance(parser) || parse_expression(parser))
        return -1;
    parser->depth--;
    skip_to_here(parser, skip_other);
    return 0;
}

static int parse_expression(struct parser *parser)
{
    size_t first = parser->formula->step_count;
    if (parse_or(parser))
        return -1;
    return token_is(&parser->token, "if") ? parse_choice(parser, first) : 0;
}

static int parse(struct parser *parser)
{
    if (advance(parser) || parse_expression(parser))
        return -1;
    return parser->token.kind == TOKEN_END ? 0 : refuse_token(parser, "an operator");
}

struct formula *formula_create(const char *text, struct error *err)
{
    struct formula *formula = memory_zeroed(1, sizeof *formula);
    if (strlen(text) > UINT16_MAX) {
        fail(err, ERROR_SETTINGS, "formula: it has more than %d bytes", UINT16_MAX);
        formula_destroy(formula);
        return NULL;
    }
    formula->text = memory_text(text);
    struct parser parser = {
        .formula = formula, .text = formula->text, .next = formula->text, .err = err
    };
    if (parse(&parser)) {
        formula_destroy(formula);
        return NULL;
    }
    formula->stack = memory_zeroed(formula->stack_count, sizeof *formula->stack);
    for (size_t i = 0; i < formula->stack_count; i++)
        amount_start(&formula->stack[i]);
    return formula;
}

void formula_destroy(struct formula *formula)
{
    if (!formula)
        return;
    for (size_t i = 0; i < formula->number_count; i++)
        amount_end(&formula->numbers[i]);
    for (size_t i = 0; formula->stack && i < formula->stack_count; i++)
        amount_end(&formula->stack[i]);
    for (size_t i = 0; i < formula->name_count; i++)
        free(formula->names[i]);
    free(formula->numbers);
    free(formula->stack);
    free(formula->names);
    free(formula->steps);
    free(formula->text);
    free(formula);
}

size_t formula_name_count(const struct formula *formula)
{
    return formula->name_count;
}

const char *formula_name(const struct formula *formula, size_t number)
{
    return formula->names[number];
}

/* ---- evaluating it ---- */

/* The stack grows upwards; `top` is the first free place. */
struct machine {
    struct amount *top;
    const struct step *step;
};

static void push_value(struct machine *machine, const struct formula_value *value)
{
    if (value->is_whole)
        amount_set_part(machine->top++, value->number);
    else
        amount_set_real(machine->top++, value->number);
}

static bool holds(const struct machine *machine)
{
    int order = amount_compare(&machine->top[-2], &machine->top[-1]);
    uint32_t bit = order == 2 ? NEITHER : order < 0 ? LESS : order > 0 ? MORE : EQUAL;
    return (machine->step->which & bit) != 0;
}

static void compare(struct machine *machine)
{
    bool answer = holds(machine);
    machine->top--;
    if (machine->step->kind == STEP_COMPARE || !answer)
        amount_set_whole(&machine->top[-1], answer);
    else
        amount_set(&machine->top[-1], &machine->top[0]);
    if (machine->step->kind == STEP_CHAIN && !answer)
        machine->step += machine->step->skip;
}

/* and, or, if: where the top says so, skip; else, and with `if` always, it is dropped. */
static void choose(struct machine *machine)
{
    bool is_true = amount_is_true(&machine->top[-1]);
    bool skips = machine->step->kind == STEP_OR ? is_true : !is_true;
    if (!skips || machine->step->kind == STEP_IF)
        machine->top--;
    if (skips)
        machine->step += machine->step->skip;
}

static const char *call(struct machine *machine)
{
    const struct step *step = machine->step;
    machine->top -= step->which;
    return step->function->call(step->function, machine->top++, step->which);
}

static const char *take_step(struct formula *formula, const struct formula_value *values,
                             struct machine *machine)
{
    const struct step *step = machine->step;
    switch (step->kind) {
    case STEP_NUMBER:
        amount_set(machine->top++, &formula->numbers[step->which]);
        return NULL;
    case STEP_NAME:
        push_value(machine, &values[step->which]);
        return NULL;
    case STEP_OPERATE:
        machine->top--;
        return step->operate(&machine->top[-1], &machine->top[0]);
    case STEP_CALL:
        return call(machine);
    case STEP_NEGATE:
        amount_negate(&machine->top[-1]);
        return NULL;
    case STEP_NOT:
        amount_set_whole(&machine->top[-1], !amount_is_true(&machine->top[-1]));
        return NULL;
    case STEP_COMPARE:
    case STEP_CHAIN:
        compare(machine);
        return NULL;
    case STEP_AND:
    case STEP_OR:
    case STEP_IF:
        choose(machine);
        return NULL;
    case STEP_SKIP:
        machine->step += step->skip;
        return NULL;
    }
    return NULL;
}

int formula_evaluate(struct formula *formula, const struct formula_value *values, double *answer,
                     struct error *err)
{
    struct machine machine = { formula->stack, formula->steps };
    const struct step *end = formula->steps + formula->step_count, *step = NULL;
    const char *flaw = NULL;
    for (; machine.step < end && !flaw; machine.step++) {
        step = machine.step;
        flaw = take_step(formula, values, &machine);
    }
    if (!flaw)
        flaw = amount_to_double(formula->stack, answer);
    if (!flaw)
        return 0;
    return fail(err, ERROR_DATA, "formula, column %u: %s", step->at + 1, flaw);
}

/* SPDX-License-Identifier: MIT */
#include "core/formula/parse.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/functions.h"
#include "core/formula/scan.h"
#include "core/formula/steps.h"
#include "util/memory.h"

/* As deep as parentheses and signs may nest. */
#define DEEPEST 100

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

int formula_parse(struct formula *formula, struct error *err)
{
    struct parser parser = {
        .formula = formula, .text = formula->text, .next = formula->text, .err = err
    };
    if (advance(&parser) || parse_expression(&parser))
        return -1;
    return parser.token.kind == TOKEN_END ? 0 : refuse_token(&parser, "an operator");
}

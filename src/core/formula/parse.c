/* SPDX-License-Identifier: MIT */
#include "core/formula/parse.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/scan.h"
#include "util/error.h"
#include "util/memory.h"

/* As deep as parentheses and signs may nest. */
#define DEEPEST 100

struct parser {
    struct formula *formula;
    const char *text, *next; /* after the token */
    struct token token;
    size_t depth;   /* of parentheses and the like */
    size_t stacked; /* on the stack, after the steps so far */
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

static void add_number(struct parser *parser, const char *at, struct formula_value number)
{
    add_step(parser, (struct step){ .kind = STEP_NUMBER, .number = number }, at, 1);
}

static int add_name(struct parser *parser, const struct token *token)
{
    struct formula *formula = parser->formula;
    size_t number = 0;
    while (number < formula->name_count &&
           (strlen(formula->names[number]) != token->length ||
            memcmp(formula->names[number], token->start, token->length) != 0))
        number++;
    if (number == FORMULA_NAMES)
        return formula_refuse(parser->text, token->start, parser->err, "it has more than %d names",
                              FORMULA_NAMES);
    if (number == formula->name_count) {
        formula->names = memory_grown(formula->names, formula->name_count, sizeof *formula->names);
        formula->names[formula->name_count++] = memory_bytes(token->start, token->length);
    }
    struct step step = { .kind = STEP_NAME, .which = (uint32_t)number };
    add_step(parser, step, token->start, 1);
    return 0;
}

/* ---- sequences and calls ---- */

static const char *closing_of(const struct token *token)
{
    return token_is(token, "(")   ? ")"
           : token_is(token, "[") ? "]"
           : token_is(token, "{") ? "}"
                                  : NULL;
}

/* Whether a sequence begins at the token: anything in brackets or braces; parentheses that have a
 * comma or nothing in them. */
static bool is_sequence(const struct parser *parser)
{
    if (!token_is(&parser->token, "("))
        return closing_of(&parser->token) != NULL;
    const char *at = parser->next;
    struct token token;
    struct error ignored;
    for (size_t depth = 1, count = 0; depth; count++) {
        if (token_next(parser->text, &at, &token, &ignored) || token.kind == TOKEN_END)
            return false;
        bool closes = token_is(&token, ")") || token_is(&token, "]") || token_is(&token, "}");
        if (closes && !count)
            return true;
        if (depth == 1 && token_is(&token, ","))
            return true;
        depth += closing_of(&token) ? 1 : 0;
        depth -= closes ? 1 : 0;
    }
    return false;
}

/* Expressions with commas between them, up to a sign that follows them. */
static int parse_items(struct parser *parser, const char *closing, uint32_t *count)
{
    *count = 0;
    if (deepen(parser) || advance(parser))
        return -1;
    while (!token_is(&parser->token, closing)) {
        if (parse_expression(parser))
            return -1;
        ++*count;
        if (token_is(&parser->token, closing))
            break;
        if (!token_is(&parser->token, ","))
            return refuse_token(parser, *closing == ')' ? "',' or ')'" : "',' or its end");
        if (advance(parser))
            return -1;
    }
    parser->depth--;
    return advance(parser);
}

static int check_count(const struct parser *parser, const struct token *name,
                       const struct function *function, uint32_t count)
{
    if (!function->most)
        return formula_refuse(parser->text, name->start, parser->err,
                              "'%s' takes a sequence: %s((a, b))", function->name, function->name);
    if (count >= function->least && (count <= function->most || function->most == FUNCTION_ANY))
        return 0;
    const char *more = function->most == function->least ? "" : " or more";
    return formula_refuse(parser->text, name->start, parser->err,
                          "'%s' takes %d%s arguments, not %u", function->name, function->least,
                          more, count);
}

/* `sum((a, b))`: the items are the arguments. */
static int parse_item_call(struct parser *parser, const struct token *name,
                           const struct function *function, uint32_t *count)
{
    if (parse_items(parser, closing_of(&parser->token), count))
        return -1;
    if (*count + 1 < function->least)
        return formula_refuse(parser->text, name->start, parser->err, "'%s' of nothing",
                              function->name);
    if (token_is(&parser->token, ",") && advance(parser))
        return -1;
    return token_is(&parser->token, ")") ? advance(parser) : refuse_token(parser, "')'");
}

static int parse_call(struct parser *parser, const struct token *name)
{
    const struct function *function = function_find(name->start, name->length);
    const struct parser before = *parser;
    uint32_t count;
    if (!function) {
        const char *why = function_refusal(name->start, name->length);
        return formula_refuse(parser->text, name->start, parser->err,
                              "a formula has no function '%.*s'%s%s",
                              name->length > 40 ? 40 : (int)name->length, name->start,
                              why ? ": " : "", why ? why : "");
    }
    if (function->takes_items && advance(parser))
        return -1;
    if (function->takes_items && is_sequence(parser)) {
        if (parse_item_call(parser, name, function, &count))
            return -1;
    } else {
        *parser = before;
        if (parse_items(parser, ")", &count) || check_count(parser, name, function, count))
            return -1;
    }
    /* A call without arguments has a place on the stack for its result. */
    if (!count)
        add_number(parser, name->start, (struct formula_value){ 0, true });
    struct step step = { .kind = STEP_CALL, .which = count, .function = function };
    add_step(parser, step, name->start, count ? 1 - (int)count : 0);
    return 0;
}

/* ---- the grammar, from what binds most ---- */

/* Words of Python's that are no names. */
static bool is_word(const struct token *token)
{
    static const char *const words[] = { "and", "or", "not", "if", "else", "in" };
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
    struct formula_value constant;
    if (!constant_find(name.start, name.length, &constant))
        return add_name(parser, &name);
    add_number(parser, name.start, constant);
    return 0;
}

static int parse_atom(struct parser *parser)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_NUMBER) {
        struct formula_value number;
        if (token_number(parser->text, token, &number, parser->err))
            return -1;
        add_number(parser, token->start, number);
        return advance(parser);
    }
    if (token->kind == TOKEN_NAME)
        return parse_name(parser);
    if (is_sequence(parser))
        return formula_refuse(parser->text, token->start, parser->err,
                              "a sequence may follow only 'in', or a function such as sum");
    if (!token_is(token, "("))
        return refuse_token(parser, "a number");
    if (deepen(parser) || advance(parser) || parse_expression(parser))
        return -1;
    parser->depth--;
    return token_is(token, ")") ? advance(parser) : refuse_token(parser, "')'");
}

/* A sign binds less than the power after it and more than that before it: -2 ** -2. */
static int parse_signed(struct parser *parser)
{
    struct token sign = parser->token;
    bool negates = token_is(&sign, "-"), inverts = token_is(&sign, "~");
    if (negates || inverts || token_is(&sign, "+")) {
        if (deepen(parser) || advance(parser) || parse_signed(parser))
            return -1;
        parser->depth--;
        if (negates || inverts)
            add_step(parser, (struct step){ .kind = negates ? STEP_NEGATE : STEP_INVERT },
                     sign.start, 0);
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
    add_step(parser, (struct step){ .kind = STEP_OPERATE, .operate = number_power }, sign.start,
             -1);
    return 0;
}

/* By rank: the higher binds more. */
static const struct binary {
    const char *sign;
    int rank;
    operation *operate;
} operators[] = {
    { "|", 1, number_or },           { "^", 2, number_xor },
    { "&", 3, number_and },          { "<<", 4, number_shift_left },
    { ">>", 4, number_shift_right }, { "+", 5, number_add },
    { "-", 5, number_subtract },     { "*", 6, number_multiply },
    { "/", 6, number_divide },       { "//", 6, number_divide_floor },
    { "%", 6, number_modulo },
};

static const struct binary *operator_of(const struct token *token)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (token_is(token, operators[i].sign))
            return &operators[i];
    return NULL;
}

/* Operators of this rank or more, from left to right. */
static int parse_operators(struct parser *parser, int rank)
{
    if (parse_signed(parser))
        return -1;
    for (;;) {
        struct token sign = parser->token;
        const struct binary *binary = operator_of(&sign);
        if (!binary || binary->rank < rank)
            return 0;
        if (advance(parser) || parse_operators(parser, binary->rank + 1))
            return -1;
        add_step(parser, (struct step){ .kind = STEP_OPERATE, .operate = binary->operate },
                 sign.start, -1);
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

/* `in (a, b)` and `not in (a, b)`, after the number. */
static int parse_in(struct parser *parser)
{
    struct token word = parser->token;
    bool negates = token_is(&word, "not");
    uint32_t count;
    if (negates && advance(parser))
        return -1;
    if (!token_is(&parser->token, "in"))
        return refuse_token(parser, "'in'");
    if (advance(parser))
        return -1;
    if (!is_sequence(parser))
        return refuse_token(parser, "a sequence such as (1, 2)");
    if (parse_items(parser, closing_of(&parser->token), &count))
        return -1;
    add_step(parser, (struct step){ .kind = STEP_IN, .which = count }, word.start, -(int)count);
    if (negates)
        add_step(parser, (struct step){ .kind = STEP_NOT }, word.start, 0);
    return 0;
}

static bool begins_in(const struct token *token)
{
    return token_is(token, "in") || token_is(token, "not");
}

static int parse_comparisons(struct parser *parser)
{
    size_t first = parser->formula->step_count;
    if (parse_operators(parser, 1))
        return -1;
    const struct comparison *comparison;
    while ((comparison = comparison_of(&parser->token))) {
        const char *at = parser->token.start;
        if (advance(parser) || parse_operators(parser, 1))
            return -1;
        bool more = comparison_of(&parser->token) || begins_in(&parser->token);
        struct step step = { .kind = more ? STEP_CHAIN : STEP_COMPARE, .which = comparison->holds };
        add_step(parser, step, at, -1);
    }
    if (begins_in(&parser->token) && parse_in(parser))
        return -1;
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

/* `or`, or `and`, which binds more. */
static int parse_logic(struct parser *parser, bool is_or)
{
    if (is_or ? parse_logic(parser, false) : parse_not(parser))
        return -1;
    while (token_is(&parser->token, is_or ? "or" : "and")) {
        struct step made = { .kind = is_or ? STEP_OR : STEP_AND };
        size_t step = add_step(parser, made, parser->token.start, -1);
        if (advance(parser) || (is_or ? parse_logic(parser, false) : parse_not(parser)))
            return -1;
        skip_to_here(parser, step);
    }
    return 0;
}

/* Put the steps from `middle` on before those from `first` on.  Skips are counted from where they
 * are, so both keep their meaning. */
static void swap_steps(struct formula *formula, size_t first, size_t middle)
{
    size_t rest = formula->step_count - middle;
    struct step *moved = memory_zeroed(middle - first, sizeof *moved);
    memcpy(moved, formula->steps + first, (middle - first) * sizeof *moved);
    memmove(formula->steps + first, formula->steps + middle, rest * sizeof *moved);
    memcpy(formula->steps + first + rest, moved, (middle - first) * sizeof *moved);
    free(moved);
}

/* `x if c else y`: c, else skip x; x, skip y; y. */
static int parse_choice(struct parser *parser, size_t first)
{
    struct formula *formula = parser->formula;
    const char *at = parser->token.start;
    add_step(parser, (struct step){ .kind = STEP_SKIP }, at, -1);
    size_t condition = formula->step_count;
    if (advance(parser) || parse_logic(parser, true))
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
    if (parse_logic(parser, true))
        return -1;
    return token_is(&parser->token, "if") ? parse_choice(parser, first) : 0;
}

int formula_parse(struct formula *formula, const char *text, struct error *err)
{
    struct parser parser = { .formula = formula, .text = text, .next = text, .err = err };
    if (advance(&parser) || parse_expression(&parser))
        return -1;
    return parser.token.kind == TOKEN_END ? 0 : refuse_token(&parser, "an operator");
}

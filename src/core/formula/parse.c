/* SPDX-License-Identifier: MIT */
#include "core/formula/parse.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

/* A recursive-descent parser that compiles a formula into steps for a stack machine
 * (formula_evaluate()).  formula_parse_level() parses one level of precedence and calls itself for
 * the next higher one.  Jumps contain the number of steps to skip, which formula_jump_here() sets
 * when the target is reached. */

/* Maximum nesting of parentheses and signs. */
#define DEEPEST 100

/* Estimated minimum time of a step and maximum time of a function, in nanoseconds. */
#define STEP_NS 5
#define CALL_NS 1000

/* The `count` of a comparison that is followed by another comparison.  The number of steps to jump
 * over later replaces this value. */
#define CHAINED SIZE_MAX

#define BLANKS " \t"
#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* ---- tokens ---- */

struct formula_parser {
    struct formula *formula;
    /* `next` is the text after the token. */
    const char *text, *token, *next;
    size_t length; /* length of the token, or 0 at the end of the text */
    size_t depth;  /* nesting depth of parentheses and signs */
    struct error *err;
};

static bool formula_is_token(const struct formula_parser *parser, const char *word)
{
    return parser->length == strlen(word) && !memcmp(parser->token, word, parser->length);
}

/* Returns the length of the token at `at`: a name, a sign, or anything that looks like a number,
 * valid or not.  Returns 0 if there is no token. */
static size_t formula_token_length(const char *at)
{
    static const char twice[][3] = { "**", "//", "<<", ">>", "<=", ">=", "==", "!=" };
    if (strchr(LETTERS, *at))
        return strspn(at, LETTERS DIGITS);
    if (strchr(DIGITS, at[*at == '.'])) {
        size_t length = strspn(at, LETTERS DIGITS ".");
        if (strchr("eE", at[length - 1]) && strchr("+-", at[length]) && at[length])
            length += 1 + strspn(at + length + 1, LETTERS DIGITS ".");
        return length;
    }
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        if (!strncmp(at, twice[i], 2))
            return 2;
    return strchr("<>+-*/%&|^~()[]{},", *at) != NULL;
}

/* Skips spaces, tabs and a comment, then reads a token.  Fails if the next character cannot occur
 * in a formula. */
static int formula_parse_token(struct formula_parser *parser)
{
    const char *at = parser->next + strspn(parser->next, BLANKS);
    at += *at == '#' ? strcspn(at, "\n") : 0;
    parser->token = at;
    parser->length = *at ? formula_token_length(at) : 0;
    parser->next = at + parser->length;
    if (!*at || parser->length)
        return 0;
    int length = 1; /* of the UTF-8 character */
    while (((unsigned char)at[length] & 0xC0) == 0x80)
        length++;
    return fail(parser->err, ERROR_SETTINGS, "invalid character '%.*s'", length, at);
}

static int formula_unexpected(const struct formula_parser *parser, const char *wanted)
{
    return parser->length ? fail(parser->err, ERROR_SETTINGS, "unexpected '%.*s'; expected %s",
                                 (int)parser->length, parser->token, wanted)
                          : fail(parser->err, ERROR_SETTINGS, "%s is missing", wanted);
}

static int formula_expect(struct formula_parser *parser, const char *word, const char *wanted)
{
    return formula_is_token(parser, word) ? formula_parse_token(parser)
                                          : formula_unexpected(parser, wanted);
}

/* ---- steps ---- */

static struct formula_step *formula_add(struct formula_parser *parser,
                                        enum formula_operation operation, size_t count)
{
    struct formula *formula = parser->formula;
    struct formula_step *step = &formula->steps[formula->step_count++];
    *step = (struct formula_step){ .operation = operation, .count = count };
    formula->cost += STEP_NS;
    return step;
}

static void formula_add_call(struct formula_parser *parser, const struct formula_function *function,
                             const char *at, size_t count)
{
    bool is_arithmetic = count == 2 && strchr("+-*/", *function->name) && !function->name[1];
    struct formula_step *step =
        formula_add(parser, is_arithmetic ? STEP_ARITHMETIC : STEP_CALL, count);
    step->function = function;
    step->column = (unsigned)(at - parser->text) + 1;
    parser->formula->cost += function->result >= RESULT_REAL ? CALL_NS : 0;
}

/* Makes a step jump to the end of the current steps. */
static void formula_jump_here(struct formula *formula, size_t step)
{
    formula->steps[step].count = formula->step_count - step - 1;
}

/* ---- operands ---- */

static int formula_parse_level(struct formula_parser *parser, enum formula_level level);

/* Parses an operand within parentheses or after a sign. */
static int formula_parse_deeper(struct formula_parser *parser, enum formula_level level)
{
    if (parser->depth == DEEPEST)
        return fail(parser->err, ERROR_SETTINGS, "nested more than %d levels deep", DEEPEST);
    parser->depth++;
    int result = formula_parse_level(parser, level);
    parser->depth--;
    return result;
}

/* Returns true if a sequence begins here: a bracket, or parentheses that are empty or contain a
 * comma of their own. */
static bool formula_is_sequence(const char *at)
{
    size_t depth = 0;
    if (*at != '(')
        return *at == '[' || *at == '{';
    if (at[1 + strspn(at + 1, BLANKS)] == ')')
        return true;
    for (; *at && *at != '#'; at++) {
        depth += strchr("([{", *at) != NULL;
        if (*at == ',' && depth == 1)
            return true;
        if (strchr(")]}", *at) && --depth == 0)
            return false;
    }
    return false;
}

/* Parses expressions separated by commas, from the opening to the closing sign.  Sets *count to the
 * number of expressions. */
static int formula_parse_items(struct formula_parser *parser, size_t *count)
{
    char open = *parser->token;
    const char *closing = open == '(' ? ")" : open == '[' ? "]" : "}";
    *count = 0;
    if (formula_parse_token(parser))
        return -1;
    while (!formula_is_token(parser, closing)) {
        if (formula_parse_deeper(parser, LEVEL_CHOICE))
            return -1;
        ++*count;
        if (formula_is_token(parser, closing))
            break;
        if (formula_expect(parser, ",", open == '(' ? "',' or ')'" : "',' or the closing bracket"))
            return -1;
    }
    return formula_parse_token(parser);
}

/* Parses the arguments of a function, or a sequence of them, from the opening parenthesis on. */
static int formula_parse_call(struct formula_parser *parser,
                              const struct formula_function *function, const char *at)
{
    bool is_sum = function->result == RESULT_SUM;
    bool is_fold = is_sum || function->result == RESULT_CHOSEN;
    bool is_sequence = is_fold && formula_is_sequence(parser->next + strspn(parser->next, BLANKS));
    size_t count, least = is_sum ? 0 : is_sequence || function->of_one ? 1 : 2;
    if ((is_sequence && formula_parse_token(parser)) || formula_parse_items(parser, &count) ||
        (is_sequence && formula_expect(parser, ")", "')'")))
        return -1;
    formula_add_call(parser, function, at, count);
    if (count >= least && (is_fold ? is_sequence || !is_sum : count <= (function->of_two ? 2 : 1)))
        return 0;
    parser->token = at;
    return fail(parser->err, ERROR_SETTINGS, "function '%s' does not accept these arguments",
                function->name);
}

static int formula_add_name(struct formula_parser *parser)
{
    struct formula *formula = parser->formula;
    size_t number = 0;
    while (number < formula->name_count && !formula_is_token(parser, formula->names[number]))
        number++;
    if (number == FORMULA_NAMES)
        return fail(parser->err, ERROR_SETTINGS, "more than %d names", FORMULA_NAMES);
    if (number == formula->name_count)
        formula->names[formula->name_count++] =
            arena_copy(formula->arena, parser->token, parser->length);
    formula_add(parser, STEP_NAME, number);
    return formula_parse_token(parser);
}

static int formula_parse_name(struct formula_parser *parser)
{
    static const char *const words[] = { "and", "or", "not",  "if",     "else",
                                         "in",  "is", "None", "lambda", "for" };
    static const struct {
        const char *name;
        double number;
    } constants[] = { { "False", 0 }, { "True", 1 },  { "e", M_E },       { "inf", INFINITY },
                      { "nan", NAN }, { "pi", M_PI }, { "tau", 2 * M_PI } };
    const char *at = parser->token;
    bool is_call = parser->next[strspn(parser->next, BLANKS)] == '(';
    const struct formula_function *function = formula_function_find(LEVEL_NONE, at, parser->length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (formula_is_token(parser, words[i]))
            return formula_unexpected(parser, "a number");
    if (is_call != (function != NULL))
        return fail(parser->err, ERROR_SETTINGS,
                    is_call ? "unknown function '%.*s'" : "function '%.*s' requires arguments",
                    (int)parser->length, at);
    if (is_call)
        return formula_parse_token(parser) || formula_parse_call(parser, function, at) ? -1 : 0;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (formula_is_token(parser, constants[i].name)) {
            formula_add(parser, STEP_NUMBER, 0)->number =
                (struct formula_value){ constants[i].number, i < 2 };
            return formula_parse_token(parser);
        }
    return formula_add_name(parser);
}

static int formula_parse_number(struct formula_parser *parser)
{
    const char *at = parser->token;
    char *end;
    struct formula_value value = { strtod(at, &end), strspn(at, DIGITS) == parser->length };
    bool is_octal = value.is_whole && *at == '0' && value.number != 0;
    if (end != parser->next || is_octal || strcspn(at, "xX") < parser->length ||
        (value.is_whole && isinf(value.number)))
        return fail(parser->err, ERROR_SETTINGS, "'%.*s' is not a number", (int)parser->length, at);
    formula_add(parser, STEP_NUMBER, 0)->number = value;
    return formula_parse_token(parser);
}

static int formula_parse_atom(struct formula_parser *parser)
{
    if (formula_is_token(parser, "("))
        return formula_parse_token(parser) || formula_parse_deeper(parser, LEVEL_CHOICE) ||
                       formula_expect(parser, ")", "')'")
                   ? -1
                   : 0;
    if (parser->length && strchr(LETTERS, *parser->token))
        return formula_parse_name(parser);
    if (parser->length && strchr(DIGITS ".", *parser->token))
        return formula_parse_number(parser);
    return formula_unexpected(parser, "a number");
}

/* ---- operators ---- */

/* Parses the sequence after `in` or `not in`. */
static int formula_parse_in(struct formula_parser *parser, bool is_negated)
{
    const char *at = parser->token;
    size_t count;
    if (is_negated && formula_expect(parser, "in", "'in'"))
        return -1;
    if (!formula_is_sequence(parser->token))
        return fail(parser->err, ERROR_SETTINGS, "expected a sequence such as (1, 2) after 'in'");
    if (formula_parse_items(parser, &count))
        return -1;
    formula_add(parser, STEP_IN, count);
    if (is_negated)
        formula_add_call(parser, formula_function_find(LEVEL_NOT, "not", 3), at, 1);
    return 0;
}

/* Parses an operator and the operand after it. */
static int formula_parse_operator(struct formula_parser *parser,
                                  const struct formula_function *found)
{
    const char *at = parser->token;
    size_t first = parser->formula->step_count;
    bool is_logic = found->level <= LEVEL_AND;
    if (is_logic)
        formula_add(parser, found->level == LEVEL_AND ? STEP_AND : STEP_OR, 0);
    if (formula_parse_token(parser))
        return -1;
    if (found->level == LEVEL_COMPARISON && !found->of_two)
        return formula_parse_in(parser, *at == 'n');
    /* The exponent of a power may have a sign and may itself be a power. */
    if (found->level == LEVEL_POWER ? formula_parse_deeper(parser, LEVEL_SIGN)
                                    : formula_parse_level(parser, found->level + 1))
        return -1;
    if (is_logic)
        formula_jump_here(parser->formula, first);
    else if (found->level == LEVEL_COMPARISON)
        formula_add(parser, STEP_COMPARE, 0)->function = found;
    else
        formula_add_call(parser, found, at, 2);
    return 0;
}

/* Moves the steps from `middle` on before the steps from `first` on. */
static void formula_rotate(struct formula *formula, size_t first, size_t middle)
{
    size_t moved = formula->step_count - middle, size = sizeof *formula->steps;
    struct formula_step *at = formula->steps + first, *copy = memory_zeroed(moved, size);
    memcpy(copy, formula->steps + middle, moved * size);
    memmove(at + moved, at, (middle - first) * size);
    memcpy(at, copy, moved * size);
    free(copy);
}

/* Parses `x if c else y`.  The steps of c are moved before the steps of x, since c is evaluated
 * first. */
static int formula_parse_choice(struct formula_parser *parser)
{
    struct formula *formula = parser->formula;
    size_t first = formula->step_count;
    if (formula_parse_level(parser, LEVEL_OR))
        return -1;
    size_t condition = formula->step_count;
    if (!formula_is_token(parser, "if"))
        return 0;
    if (formula_parse_token(parser) || formula_parse_level(parser, LEVEL_OR))
        return -1;
    formula_add(parser, STEP_JUMP_UNLESS, condition - first + 1);
    formula_rotate(formula, first, condition);
    size_t jump = formula->step_count;
    formula_add(parser, STEP_JUMP, 0);
    if (formula_expect(parser, "else", "'else'") || formula_parse_deeper(parser, LEVEL_CHOICE))
        return -1;
    formula_jump_here(formula, jump);
    return 0;
}

/* Parses operands with operators of this level between or before them.  Operators that bind more
 * tightly may be inside the operands. */
static int formula_parse_level(struct formula_parser *parser, enum formula_level level)
{
    struct formula *formula = parser->formula;
    const char *at = parser->token;
    const struct formula_function *found = formula_function_find(level, at, parser->length);
    bool is_prefix = level == LEVEL_NOT || level == LEVEL_SIGN;
    size_t first = formula->step_count, compared = 0;
    if (level == LEVEL_CHOICE)
        return formula_parse_choice(parser);
    if (level == LEVEL_ATOM)
        return formula_parse_atom(parser);
    if (found && is_prefix) {
        if (formula_parse_token(parser) || formula_parse_deeper(parser, level))
            return -1;
        formula_add_call(parser, found, at, 1);
        return 0;
    }
    if (formula_parse_level(parser, level + 1))
        return -1;
    while (!is_prefix && (found = formula_function_find(level, parser->token, parser->length))) {
        if (compared)
            formula->steps[compared].count = CHAINED;
        if (formula_parse_operator(parser, found))
            return -1;
        compared = level == LEVEL_COMPARISON ? formula->step_count - 1 : 0;
        if (compared && !found->of_two) /* a comparison cannot follow a sequence */
            break;
    }
    for (size_t i = first; level == LEVEL_COMPARISON && i < formula->step_count; i++)
        if (formula->steps[i].count == CHAINED)
            formula_jump_here(formula, i);
    return 0;
}

int formula_parse(struct formula *formula, const char *text, struct error *err)
{
    struct formula_parser parser = { .formula = formula, .text = text, .next = text, .err = err };
    /* Each step consumes at least one byte of the text. */
    formula->steps = arena_take(formula->arena, (strlen(text) + 1) * sizeof *formula->steps);
    return formula_parse_token(&parser) || formula_parse_level(&parser, LEVEL_CHOICE) ||
                   (parser.length && formula_unexpected(&parser, "an operator"))
               ? fail_in(err, "formula, column %zu", (size_t)(parser.token - text) + 1)
               : 0;
}

/* SPDX-License-Identifier: MIT */
#include "core/formula/parse.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

/* As deep as parentheses and signs may nest. */
#define DEEPEST 100

/* About what a node takes at least, and a function at most. */
#define NODE_NS 5
#define SLOW_NS 1000

/* As many bytes of a token as a message quotes. */
#define MOST_QUOTED 40

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *start; /* in the text */
    size_t length;
};

struct parser {
    struct formula *formula;
    const char *text, *next; /* after the token */
    struct token token;
    const char *sequence_at; /* where a sequence may begin */
    size_t depth;            /* of parentheses and signs */
    struct error *err;
};

/* All functions that return a node return NULL on failure. */
__attribute__((format(printf, 3, 4))) static struct formula_node *
parse_refuse(const struct parser *parser, const char *at, const char *format, ...)
{
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    fail(parser->err, ERROR_SETTINGS, "formula, column %zu: %s", (size_t)(at - parser->text) + 1,
         why);
    return NULL;
}

/* ---- tokens ---- */

static bool token_is(const struct token *token, const char *word)
{
    return token->kind != TOKEN_NUMBER && token->length == strlen(word) &&
           !memcmp(token->start, word, token->length);
}

static int token_quoted(const struct token *token)
{
    return token->length > MOST_QUOTED ? MOST_QUOTED : (int)token->length;
}

static bool formula_parse_is_letter(char byte)
{
    return byte == '_' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool formula_parse_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_prefixed(const char *number)
{
    return *number == '0' && number[1] && strchr("xXoObB", number[1]);
}

/* The bytes that look like one number, right or wrong. */
static size_t number_length(const char *at)
{
    size_t length = 0;
    if (!formula_parse_is_digit(*at) && !(*at == '.' && formula_parse_is_digit(at[1])))
        return 0;
    for (;; length++) {
        char byte = at[length];
        bool is_sign = length && (byte == '+' || byte == '-') && (at[length - 1] | 0x20) == 'e' &&
                       formula_parse_is_digit(at[length + 1]) && !is_prefixed(at);
        if (!formula_parse_is_letter(byte) && !formula_parse_is_digit(byte) && byte != '.' &&
            !is_sign)
            return length;
    }
}

static size_t sign_length(const char *at)
{
    static const char *const twice[] = { "**", "//", "<<", ">>", "<=", ">=", "==", "!=" };
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        if (!strncmp(at, twice[i], 2))
            return 2;
    return strchr("<>+-*/%&|^~()[]{},", *at) != NULL;
}

/* Skips blanks and comments.  Returns false if no formula may have what follows. */
static bool parse_advance(struct parser *parser)
{
    const char *at = parser->next + strspn(parser->next, " \t");
    if (*at == '#')
        at += strcspn(at, "\n");
    struct token token = { TOKEN_END, at, 0 };
    if (formula_parse_is_letter(*at)) {
        token.kind = TOKEN_NAME;
        while (formula_parse_is_letter(at[token.length]) ||
               formula_parse_is_digit(at[token.length]))
            token.length++;
    } else if ((token.length = number_length(at)) > 0) {
        token.kind = TOKEN_NUMBER;
    } else if (*at) {
        token.kind = TOKEN_SIGN;
        token.length = sign_length(at);
    }
    parser->token = token;
    parser->next = at + token.length;
    if (!*at || token.length)
        return true;
    int length = 1; /* the bytes of a character */
    while (((unsigned char)at[length] & 0xC0) == 0x80)
        length++;
    if (*at == '\'' || *at == '"')
        parse_refuse(parser, at, "a formula has no texts");
    else if (*at == '.')
        parse_refuse(parser, at, "'.' is neither part of a number nor of a name");
    else
        parse_refuse(parser, at, "a formula has no '%.*s'", length, at);
    return false;
}

/* Copies a number without its underscores.  Each must stand between two digits. */
static bool copy_number(const struct token *token, char *number)
{
    for (size_t i = 0; i < token->length; i++) {
        const char *at = token->start + i;
        if (*at != '_')
            *number++ = *at;
        else if (!isxdigit((unsigned char)at[1]) ||
                 (!isxdigit((unsigned char)at[-1]) && !(i == 2 && is_prefixed(token->start))))
            return false;
    }
    *number = '\0';
    return true;
}

/* Reads the digits after a prefix.  Returns the first byte that is no digit. */
static const char *read_prefixed(const char *number, double *real)
{
    int base = (number[1] | 0x20) == 'x' ? 16 : (number[1] | 0x20) == 'o' ? 8 : 2;
    const char *at = number + 2;
    *real = 0;
    for (; isxdigit((unsigned char)*at); at++) {
        int digit = formula_parse_is_digit(*at) ? *at - '0' : (*at | 0x20) - 'a' + 10;
        if (digit >= base)
            break;
        *real = *real * base + digit;
    }
    return at > number + 2 ? at : number;
}

/* Words of Python's that are no names, and why a formula has not all of them. */
static const struct {
    const char *word, *why;
} words[] = {
    { "and", NULL },
    { "or", NULL },
    { "not", NULL },
    { "if", NULL },
    { "else", NULL },
    { "in", NULL },
    { "None", "it is not a number" },
    { "is", "numbers are compared with ==" },
    { "lambda", "a formula defines no functions" },
    { "for", "a formula has no loops" },
};
#define WORDS (sizeof words / sizeof *words)

static size_t word_find(const struct token *token)
{
    size_t i = 0;
    while (i < WORDS && !token_is(token, words[i].word))
        i++;
    return i;
}

static struct formula_node *parse_refuse_token(const struct parser *parser, const char *wanted)
{
    const struct token *token = &parser->token;
    size_t word = word_find(token);
    if (token->kind == TOKEN_END)
        return parse_refuse(parser, token->start, "%s is missing", wanted);
    if (word < WORDS && words[word].why)
        return parse_refuse(parser, token->start, "a formula has no '%s': %s", words[word].word,
                            words[word].why);
    return parse_refuse(parser, token->start, "'%.*s' is where %s should be", token_quoted(token),
                        token->start, wanted);
}

/* ---- nodes ---- */

static struct formula_node *node_add(struct parser *parser, enum node_kind kind, const char *at)
{
    struct formula_node *node = arena_take(parser->formula->arena, sizeof *node);
    *node = (struct formula_node){ .kind = kind, .at = (size_t)(at - parser->text) };
    parser->formula->node_count++;
    parser->formula->cost += NODE_NS;
    return node;
}

static void node_append(struct formula_node *node, struct formula_node *item)
{
    *(node->last ? &node->last->next : &node->items) = item;
    node->last = item;
    node->item_count++;
}

static struct formula_node *formula_parse_add_number(struct parser *parser, const char *at,
                                                     struct formula_value number)
{
    struct formula_node *node = node_add(parser, NODE_NUMBER, at);
    node->number = number;
    return node;
}

/* ---- operands ---- */

static struct formula_node *parse_level(struct parser *parser, enum formula_level level);

/* What is within parentheses or after a sign. */
static struct formula_node *parse_deeper(struct parser *parser, enum formula_level level)
{
    if (parser->depth == DEEPEST)
        return parse_refuse(parser, parser->token.start, "it nests more than %d times", DEEPEST);
    parser->depth++;
    struct formula_node *node = parse_level(parser, level);
    parser->depth--;
    return node;
}

/* Appends expressions with commas between them, up to the sign that closes. */
static bool parse_items(struct parser *parser, struct formula_node *node)
{
    char open = *parser->token.start;
    const char *closing = open == '(' ? ")" : open == '[' ? "]" : "}";
    if (!parse_advance(parser))
        return false;
    if (node->function && node->function->takes_items)
        parser->sequence_at = parser->token.start;
    while (!token_is(&parser->token, closing)) {
        struct formula_node *item = parse_deeper(parser, LEVEL_CHOICE);
        if (!item)
            return false;
        node_append(node, item);
        node->has_comma = token_is(&parser->token, ",");
        if (!node->has_comma && !token_is(&parser->token, closing))
            return parse_refuse_token(parser, open == '(' ? "',' or ')'" : "',' or its end");
        if (node->has_comma && !parse_advance(parser))
            return false;
    }
    return parse_advance(parser);
}

/* A number in parentheses; otherwise a sequence, which must be where one may be. */
static struct formula_node *parse_brackets(struct parser *parser)
{
    const char *at = parser->token.start;
    bool may_be_sequence = at == parser->sequence_at;
    struct formula_node *node = node_add(parser, NODE_SEQUENCE, at);
    if (!parse_items(parser, node))
        return NULL;
    if (*at == '(' && node->item_count == 1 && !node->has_comma)
        return node->items;
    return may_be_sequence
               ? node
               : parse_refuse(parser, at,
                              "a sequence may follow only 'in', or a function such as sum");
}

static struct formula_node *formula_parse_check_arguments(struct parser *parser,
                                                          struct formula_node *call, const char *at)
{
    const struct function *function = call->function;
    struct formula_node *first = call->items;
    bool is_sequence = first && first->kind == NODE_SEQUENCE;
    if (is_sequence && call->item_count == 1) {
        call->items = first->items;
        call->item_count = first->item_count;
        return call->item_count + 1 >= function->least
                   ? call
                   : parse_refuse(parser, at, "'%s' of nothing", function->name);
    }
    if (is_sequence || !function->most)
        return parse_refuse(parser, at, "'%s' takes a sequence: %s((a, b))", function->name,
                            function->name);
    if (call->item_count >= function->least &&
        (call->item_count <= function->most || function->most == FUNCTION_ANY))
        return call;
    return parse_refuse(parser, at, "'%s' takes %d%s arguments, not %zu", function->name,
                        function->least, function->most == function->least ? "" : " or more",
                        call->item_count);
}

static struct formula_node *parse_call(struct parser *parser, const struct token *name)
{
    struct formula_node *call = node_add(parser, NODE_CALL, name->start);
    call->function = function_find(LEVEL_NONE, name->start, name->length);
    parser->formula->cost += SLOW_NS;
    if (!call->function)
        return parse_refuse(parser, name->start, "a formula has no function '%.*s'",
                            token_quoted(name), name->start);
    return parse_items(parser, call) ? formula_parse_check_arguments(parser, call, name->start)
                                     : NULL;
}

static struct formula_node *formula_parse_add_name(struct parser *parser, const struct token *token)
{
    struct formula *formula = parser->formula;
    struct formula_node *node = node_add(parser, NODE_NAME, token->start);
    while (node->name < formula->name_count && !token_is(token, formula->names[node->name]))
        node->name++;
    if (node->name == FORMULA_NAMES)
        return parse_refuse(parser, token->start, "it has more than %d names", FORMULA_NAMES);
    if (node->name == formula->name_count)
        formula->names[formula->name_count++] =
            arena_copy(formula->arena, token->start, token->length);
    return node;
}

static struct formula_node *parse_name(struct parser *parser)
{
    struct token name = parser->token;
    struct formula_value constant;
    if (word_find(&name) < WORDS)
        return parse_refuse_token(parser, "a number");
    if (!parse_advance(parser))
        return NULL;
    if (token_is(&parser->token, "("))
        return parse_call(parser, &name);
    if (function_find(LEVEL_NONE, name.start, name.length))
        return parse_refuse(parser, name.start, "'%.*s' is a function; its arguments are missing",
                            token_quoted(&name), name.start);
    return constant_find(name.start, name.length, &constant)
               ? formula_parse_add_number(parser, name.start, constant)
               : formula_parse_add_name(parser, &name);
}

static struct formula_node *formula_parse_number(struct parser *parser)
{
    struct token token = parser->token;
    struct formula_value value = { 0, is_prefixed(token.start) };
    char number[FORMULA_LONGEST + 1];
    const char *end = number;
    bool is_good = copy_number(&token, number);
    if (is_good && value.is_whole) {
        end = read_prefixed(number, &value.number);
    } else if (is_good) {
        value.is_whole = !strpbrk(number, ".eE");
        value.number = strtod(number, (char **)&end);
        is_good = !value.is_whole || *number != '0' || strspn(number, "0") == strlen(number);
    }
    if (!is_good || end == number || *end)
        return parse_refuse(parser, token.start, "'%.*s' is not a number", token_quoted(&token),
                            token.start);
    if (value.is_whole && isinf(value.number))
        return parse_refuse(parser, token.start, "%s", formula_too_large);
    return parse_advance(parser) ? formula_parse_add_number(parser, token.start, value) : NULL;
}

static struct formula_node *parse_atom(struct parser *parser)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_NUMBER)
        return formula_parse_number(parser);
    if (token->kind == TOKEN_NAME)
        return parse_name(parser);
    return token->kind == TOKEN_SIGN && strchr("([{", *token->start)
               ? parse_brackets(parser)
               : parse_refuse_token(parser, "a number");
}

/* ---- operators ---- */

/* A sign before its operand. */
static struct formula_node *parse_sign(struct parser *parser, const struct function *sign)
{
    struct formula_node *node = node_add(parser, NODE_CALL, parser->token.start), *operand;
    node->function = sign;
    if (!parse_advance(parser) || !(operand = parse_deeper(parser, sign->level)))
        return NULL;
    node_append(node, operand);
    return node;
}

/* The sequence after `in` or `not in`. */
static struct formula_node *parse_in(struct parser *parser, bool is_negated)
{
    if (is_negated && !token_is(&parser->token, "in"))
        return parse_refuse_token(parser, "'in'");
    if (is_negated && !parse_advance(parser))
        return NULL;
    const char *at = parser->sequence_at = parser->token.start;
    struct formula_node *node = parse_atom(parser);
    if (node && node->kind != NODE_SEQUENCE)
        return parse_refuse(parser, at, "a sequence such as (1, 2) should follow 'in'");
    return node;
}

/* The operand after an operator. */
static struct formula_node *parse_operand(struct parser *parser, const struct function *operation)
{
    size_t at = (size_t)(parser->token.start - parser->text);
    bool is_in = operation->level == LEVEL_COMPARISON && !operation->holds;
    if (!parse_advance(parser))
        return NULL;
    /* A power's exponent may have a sign, and be a power. */
    struct formula_node *node = is_in ? parse_in(parser, *operation->name == 'n')
                                : operation->level == LEVEL_POWER
                                    ? parse_deeper(parser, LEVEL_SIGN)
                                    : parse_level(parser, operation->level + 1);
    if (!node)
        return NULL;
    node->operation = operation;
    node->operator_at = at;
    parser->formula->cost += operation->is_slow ? SLOW_NS : 0;
    return node;
}

static struct formula_node *parse_choice(struct parser *parser)
{
    struct formula_node *value = parse_level(parser, LEVEL_OR), *condition, *other;
    if (!value || value->kind == NODE_SEQUENCE || !token_is(&parser->token, "if"))
        return value;
    struct formula_node *choice = node_add(parser, NODE_CHOICE, parser->token.start);
    if (!parse_advance(parser) || !(condition = parse_level(parser, LEVEL_OR)))
        return NULL;
    if (!token_is(&parser->token, "else"))
        return parse_refuse_token(parser, "'else'");
    if (!parse_advance(parser) || !(other = parse_deeper(parser, LEVEL_CHOICE)))
        return NULL;
    node_append(choice, condition);
    node_append(choice, value);
    node_append(choice, other);
    return choice;
}

/* Operands with operators of this level between them, or what binds more. */
static struct formula_node *parse_level(struct parser *parser, enum formula_level level)
{
    const struct function *operation =
        function_find(level, parser->token.start, parser->token.length);
    if (level == LEVEL_ATOM)
        return parse_atom(parser);
    if (level == LEVEL_CHOICE)
        return parse_choice(parser);
    if (level == LEVEL_NOT || level == LEVEL_SIGN)
        return operation ? parse_sign(parser, operation) : parse_level(parser, level + 1);
    struct formula_node *last = parse_level(parser, level + 1), *node = last;
    while (last && last->kind != NODE_SEQUENCE &&
           (operation = function_find(level, parser->token.start, parser->token.length))) {
        if (node == last) {
            node = node_add(parser,
                            level <= LEVEL_AND          ? NODE_LOGIC
                            : level == LEVEL_COMPARISON ? NODE_COMPARISONS
                                                        : NODE_OPERATORS,
                            parser->token.start);
            node_append(node, last);
        }
        if ((last = parse_operand(parser, operation)))
            node_append(node, last);
    }
    return last ? node : NULL;
}

int formula_parse(struct formula *formula, const char *text, struct error *err)
{
    struct parser parser = { .formula = formula, .text = text, .next = text, .err = err };
    if (!parse_advance(&parser) || !(formula->root = parse_level(&parser, LEVEL_CHOICE)))
        return -1;
    if (parser.token.kind == TOKEN_END)
        return 0;
    parse_refuse_token(&parser, "an operator");
    return -1;
}

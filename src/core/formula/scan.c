/* SPDX-License-Identifier: MIT */
#include "core/formula/scan.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

int formula_refuse(const char *text, const char *at, struct error *err, const char *format, ...)
{
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return fail(err, ERROR_SETTINGS, "formula, column %zu: %s", (size_t)(at - text) + 1, why);
}

bool token_is(const struct token *token, const char *word)
{
    return token->kind != TOKEN_NUMBER && token->length == strlen(word) &&
           !memcmp(token->start, word, token->length);
}

static bool is_letter(char byte)
{
    return byte == '_' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Digits of a base, with single underscores between them; how many bytes. */
static size_t digits(const char *at, int base)
{
    size_t length = 0;
    for (;;) {
        const char *next = at + length + (length && at[length] == '_');
        bool is_one = base == 16  ? isxdigit((unsigned char)*next) != 0
                      : base == 8 ? *next >= '0' && *next <= '7'
                      : base == 2 ? *next == '0' || *next == '1'
                                  : is_digit(*next);
        if (!is_one)
            return length;
        length = (size_t)(next - at) + 1;
    }
}

static int base_of(const char *at)
{
    if (*at != '0')
        return 10;
    char letter = at[1];
    return letter == 'x' || letter == 'X'   ? 16
           : letter == 'o' || letter == 'O' ? 8
           : letter == 'b' || letter == 'B' ? 2
                                            : 10;
}

static size_t exponent(const char *at)
{
    if (*at != 'e' && *at != 'E')
        return 0;
    size_t sign = at[1] == '+' || at[1] == '-' ? 2 : 1;
    size_t length = digits(at + sign, 10);
    return length ? sign + length : 0;
}

/* How many bytes the number at `at` has; 0: there is none. */
static size_t number_length(const char *at, bool *is_whole)
{
    int base = base_of(at);
    *is_whole = true;
    if (base != 10) {
        size_t skipped = 2 + (size_t)(at[2] == '_');
        size_t length = digits(at + skipped, base);
        return length ? skipped + length : 0;
    }
    size_t length = digits(at, 10);
    if (at[length] == '.') {
        size_t behind = digits(at + length + 1, 10);
        if (!length && !behind)
            return 0;
        *is_whole = false;
        length += 1 + behind;
    }
    if (!length)
        return 0;
    size_t power = exponent(at + length);
    *is_whole &= !power;
    return length + power;
}

static const char *const signs[] = { "**", "//", "<=", ">=", "==", "!=", "<", ">",
                                     "+",  "-",  "*",  "/",  "%",  "(",  ")", "," };

static size_t sign_length(const char *at)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!strncmp(at, signs[i], strlen(signs[i])))
            return strlen(signs[i]);
    }
    return 0;
}

/* What is there instead of a token. */
static int refuse(const char *text, const char *at, struct error *err)
{
    if (*at == '\'' || *at == '"')
        return formula_refuse(text, at, err, "a formula has no texts");
    if (base_of(at) != 10)
        return formula_refuse(text, at, err, "'%.2s' has no digits", at);
    if (*at == '.')
        return formula_refuse(text, at, err, "'.' is neither part of a number nor of a name");
    /* The bytes of a character. */
    int length = 1;
    while (((unsigned char)at[length] & 0xC0) == 0x80)
        length++;
    return formula_refuse(text, at, err, "a formula has no '%.*s'", length, at);
}

int token_next(const char *text, const char **at, struct token *token, struct error *err)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
    bool is_whole;
    *token = (struct token){ TOKEN_END, *at, 0 };
    if (!**at)
        return 0;
    if (is_letter(**at)) {
        token->kind = TOKEN_NAME;
        while (is_letter((*at)[token->length]) || is_digit((*at)[token->length]))
            token->length++;
    } else if ((token->length = number_length(*at, &is_whole)) > 0) {
        token->kind = TOKEN_NUMBER;
        char next = (*at)[token->length];
        if (is_letter(next) || is_digit(next))
            return formula_refuse(text, *at + token->length, err,
                                  "'%c' stands right behind a number", next);
    } else {
        token->kind = TOKEN_SIGN;
        token->length = sign_length(*at);
    }
    if (!token->length)
        return refuse(text, *at, err);
    *at += token->length;
    return 0;
}

/* The bytes without underscores. */
static char *plain_number(const struct token *token)
{
    char *number = memory_zeroed(token->length + 1, 1);
    size_t length = 0;
    for (size_t i = 0; i < token->length; i++) {
        if (token->start[i] != '_')
            number[length++] = token->start[i];
    }
    return number;
}

static const char *read_whole(const char *number, struct amount *amount)
{
    int base = base_of(number);
    if (base == 10 && *number == '0' && strspn(number, "0") != strlen(number))
        return "a decimal number has no 0 before it (0o is an octal one)";
    if (base == 10 && strlen(number) > 4300)
        return "a number has more than 4300 digits";
    return amount_set_digits(amount, base == 10 ? number : number + 2, base) ? NULL
                                                                             : amount_too_long;
}

int token_number(const char *text, const struct token *token, struct amount *amount,
                 struct error *err)
{
    bool is_whole;
    number_length(token->start, &is_whole);
    char *number = plain_number(token);
    const char *flaw = NULL;
    if (is_whole)
        flaw = read_whole(number, amount);
    else
        amount_set_real(amount, strtod(number, NULL));
    free(number);
    return flaw ? formula_refuse(text, token->start, err, "%s", flaw) : 0;
}

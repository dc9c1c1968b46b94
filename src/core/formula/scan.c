/* SPDX-License-Identifier: MIT */
#include "core/formula/scan.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

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

static bool is_prefixed(const char *number)
{
    return *number == '0' && number[1] && strchr("xXoObB", number[1]);
}

/* The bytes that look like one number, right or wrong. */
static size_t number_length(const char *at)
{
    size_t length = 0;
    if (!is_digit(*at) && !(*at == '.' && is_digit(at[1])))
        return 0;
    for (;; length++) {
        char byte = at[length];
        bool is_sign = length && (byte == '+' || byte == '-') && (at[length - 1] | 0x20) == 'e' &&
                       is_digit(at[length + 1]) && !is_prefixed(at);
        if (!is_letter(byte) && !is_digit(byte) && byte != '.' && !is_sign)
            return length;
    }
}

static const char *const signs[] = { "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<",
                                     ">",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",
                                     "~",  "(",  ")",  "[",  "]",  "{",  "}",  "," };

static size_t sign_length(const char *at)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!strncmp(at, signs[i], strlen(signs[i])))
            return strlen(signs[i]);
    }
    return 0;
}

/* No token begins here. */
static int refuse(const char *text, const char *at, struct error *err)
{
    if (*at == '\'' || *at == '"')
        return formula_refuse(text, at, err, "a formula has no texts");
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
    *at += strspn(*at, " \t");
    if (**at == '#')
        *at += strcspn(*at, "\n");
    *token = (struct token){ TOKEN_END, *at, 0 };
    if (!**at)
        return 0;
    if (is_letter(**at)) {
        token->kind = TOKEN_NAME;
        while (is_letter((*at)[token->length]) || is_digit((*at)[token->length]))
            token->length++;
    } else if ((token->length = number_length(*at)) > 0) {
        token->kind = TOKEN_NUMBER;
    } else {
        token->kind = TOKEN_SIGN;
        token->length = sign_length(*at);
    }
    if (!token->length)
        return refuse(text, *at, err);
    *at += token->length;
    return 0;
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

/* Reads an integer with a prefix.  Returns the first byte that is no digit. */
static const char *read_prefixed(const char *number, double *real)
{
    int base = (number[1] | 0x20) == 'x' ? 16 : (number[1] | 0x20) == 'o' ? 8 : 2;
    const char *at = number + 2;
    *real = 0;
    for (; isxdigit((unsigned char)*at); at++) {
        int digit = is_digit(*at) ? *at - '0' : (*at | 0x20) - 'a' + 10;
        if (digit >= base)
            break;
        *real = *real * base + digit;
    }
    return at > number + 2 ? at : number;
}

int token_number(const char *text, const struct token *token, struct formula_value *value,
                 struct error *err)
{
    char number[FORMULA_LONGEST + 1], *end = number;
    bool prefixed = is_prefixed(token->start), good = copy_number(token, number);
    value->is_whole = prefixed || !memchr(token->start, '.', token->length);
    if (good && prefixed) {
        end = (char *)read_prefixed(number, &value->number);
    } else if (good) {
        value->is_whole &= !strpbrk(number, "eE");
        value->number = strtod(number, &end);
        good = !value->is_whole || *number != '0' || strspn(number, "0") == strlen(number);
    }
    if (!good || end == number || *end)
        return formula_refuse(text, token->start, err, "'%.*s' is not a number",
                              token->length > 40 ? 40 : (int)token->length, token->start);
    if (value->is_whole && isinf(value->number))
        return formula_refuse(text, token->start, err, "%s", number_no_room);
    return 0;
}

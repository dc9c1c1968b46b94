/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_SCAN_H
#define FAIRMILL_CORE_FORMULA_SCAN_H

#include <stddef.h>

#include "core/formula/arithmetic.h"

struct error;

/* The tokens of a formula. */

#define FORMULA_LONGEST 8192 /* bytes of a formula */

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
#define FORMULA_LONGEST 8192 /* bytes of a formula */

    enum token_kind kind;
    const char *start; /* in the formula's text */
    size_t length;
};

/* Reads the token at `*at` and sets `*at` to its end.  Skips blanks and comments.  Fails with
 * ERROR_SETTINGS if no formula may have what is there. */
int token_next(const char *text, const char **at, struct token *token, struct error *err);
bool token_is(const struct token *token, const char *word);
/* The value of a number. */
int token_number(const char *text, const struct token *token, struct formula_value *value,
                 struct error *err);

/* Fails with ERROR_SETTINGS and `formula, column N: ` before the message. */
int formula_refuse(const char *text, const char *at, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

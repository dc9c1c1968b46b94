/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_SCAN_H
#define FAIRMILL_CORE_FORMULA_SCAN_H

#include "core/formula/amount.h"

struct error;

/* The words of a formula. */

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *start; /* in the formula's text */
    size_t length;
};

/* The token at `*at`, behind which `*at` is then.  -1 where there is none that a formula may have
 * (ERROR_SETTINGS). */
int token_next(const char *text, const char **at, struct token *token, struct error *err);
bool token_is(const struct token *token, const char *word);
/* What a number says. */
int token_number(const char *text, const struct token *token, struct amount *amount,
                 struct error *err);

/* `formula, column N: ` before a message, and `the token`, shortened, behind `near`. */
int formula_refuse(const char *text, const char *at, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

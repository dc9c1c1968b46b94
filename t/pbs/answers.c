/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/formula.h"
#include "util/error.h"

/* Evaluates formulas from standard input, one per line.  After the formula, separated by tabs, a
 * line has `NAME=VALUE` pairs.  A value is a double if it has a point or an exponent, or is `inf`
 * or `nan`.  Prints each result as %a, or `refused` or `failed` with the reason. */

static bool find(const char *name, char *const *pairs, size_t count, struct formula_value *value)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(name);
        if (strncmp(pairs[i], name, length) != 0 || pairs[i][length] != '=')
            continue;
        const char *text = pairs[i] + length + 1;
        value->number = strtod(text, NULL);
        value->is_whole = strpbrk(text, ".enp") == NULL;
        return true;
    }
    return false;
}

static void answer(char *line)
{
    char *pairs[64];
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; (at = strchr(at, '\t')) && count < 64; pairs[count++] = at)
        *at++ = '\0';

    struct error err;
    struct formula *formula = formula_create(line, &err);
    if (!formula) {
        printf("refused %s\n", err.message);
        return;
    }
    struct formula_value values[64];
    double number;
    size_t known = 0;
    while (known < formula_name_count(formula) && known < 64 &&
           find(formula_name(formula, known), pairs, count, &values[known]))
        known++;
    if (known < formula_name_count(formula))
        printf("refused unknown name '%s'\n", formula_name(formula, known));
    else if (formula_evaluate(formula, values, &number, &err))
        printf("failed %s\n", err.message);
    else
        printf("%a\n", number);
    formula_destroy(formula);
}

int main(void)
{
    static char line[1 << 17];
    while (fgets(line, sizeof line, stdin))
        answer(line);
    return 0;
}

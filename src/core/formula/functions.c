/* SPDX-License-Identifier: MIT */
#include "core/formula/functions.h"

#include <math.h>
#include <string.h>

#include "core/formula/real_functions.h"
#include "core/formula/whole_functions.h"

static bool is_name(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && !memcmp(known, name, length);
}

static const struct function *find(const struct function *table, const char *name, size_t length)
{
    while (table->name && !is_name(table->name, name, length))
        table++;
    return table->name ? table : NULL;
}

const struct function *function_find(const char *name, size_t length)
{
    const struct function *found = find(real_functions, name, length);
    return found ? found : find(whole_functions, name, length);
}

static const struct {
    const char *name, *why;
} refusals[] = {
    { "dist", "it takes sequences" },
    { "fsum", "it takes a sequence" },
    { "prod", "it takes a sequence" },
    { "sum", "it takes a sequence" },
    { "sumprod", "it takes sequences" },
    { "frexp", "its answer is two numbers" },
    { "modf", "its answer is two numbers" },
    { "divmod", "its answer is two numbers" },
    { "None", "it is no number" },
    { "in", "there are no sequences" },
    { "is", "numbers are compared with ==" },
    { "lambda", "a formula makes no functions" },
    { "for", "a formula has no loops" },
    { "await", "a formula waits for nothing" },
    { "yield", "a formula has one answer" },
};

const char *function_refusal(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (is_name(refusals[i].name, name, length))
            return refusals[i].why;
    }
    return NULL;
}

static const struct {
    const char *name;
    bool is_whole;
    double value;
} constants[] = {
    { "False", true, 0 },       { "True", true, 1 },   { "e", false, M_E },
    { "inf", false, INFINITY }, { "nan", false, NAN }, { "pi", false, M_PI },
    { "tau", false, 2 * M_PI },
};

bool constant_find(const char *name, size_t length, struct amount *amount)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (!is_name(constants[i].name, name, length))
            continue;
        if (constants[i].is_whole)
            amount_set_part(amount, constants[i].value);
        else
            amount_set_real(amount, constants[i].value);
        return true;
    }
    return false;
}

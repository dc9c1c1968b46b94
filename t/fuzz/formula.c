/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>

#include "core/formula/formula.h"
#include "core/formula/parse.h"
#include "util/error.h"

/* Reads a job_sort_formula and evaluates it with small values for all names. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = text_of(bytes, size);
    struct error err;
    struct formula *formula = formula_create(text, &err);
    if (!formula) {
        must(err.class == ERROR_SETTINGS && *err.message, "a rejection has a reason");
        free(text);
        return 0;
    }
    struct formula_value values[FORMULA_NAMES];
    size_t count = formula_name_count(formula);
    must(count <= FORMULA_NAMES && formula_cost(formula) <= 1000 * FORMULA_LONGEST,
         "the work is bounded");
    for (size_t i = 0; i < count; i++)
        values[i] = (struct formula_value){ (double)i, i % 2 == 0 };
    double first = 0, second = 0;
    int failed = formula_evaluate(formula, values, &first, &err);
    must(!failed || (err.class == ERROR_DATA && *err.message), "a failure has a reason");
    must(formula_evaluate(formula, values, &second, &err) == failed &&
             (failed || first == second || (isnan(first) && isnan(second))),
         "a formula has one result");
    formula_destroy(formula);
    free(text);
    return 0;
}

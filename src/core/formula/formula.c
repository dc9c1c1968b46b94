/* SPDX-License-Identifier: MIT */
#include "core/formula/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/parse.h"
#include "util/error.h"
#include "util/memory.h"

/* ---- evaluation ---- */

/* Replaces the left of two values by the result.  Returns NULL, or the reason for Python's
 * exception. */
static const char *formula_compute(char sign, struct formula_value *left)
{
    double right = left[1].number;
    left->is_whole &= left[1].is_whole && sign != '/';
    if (sign == '/' && right == 0)
        return formula_no_division;
    left->number = sign == '+'   ? left->number + right
                   : sign == '-' ? left->number - right
                   : sign == '*' ? left->number * right
                                 : left->number / right;
    left->number += left->is_whole ? 0.0 : -0.0; /* integers have no negative zero */
    return left->is_whole && isinf(left->number) ? formula_too_large : NULL;
}

/* Replaces the left of two values by the result.  Returns the step after which the evaluation
 * continues. */
static const struct formula_step *formula_compare(const struct formula_step *step,
                                                  struct formula_value *left)
{
    bool is_true = step->function->of_two(left->number, left[1].number) != 0;
    if (is_true && step->count) {
        *left = left[1]; /* the left operand of the next comparison */
        return step;
    }
    *left = (struct formula_value){ is_true, true };
    return step + step->count;
}

static bool formula_is_in(const struct formula_value *wanted, size_t count)
{
    size_t i = 1;
    while (i <= count && wanted[i].number != wanted->number)
        i++;
    return i <= count;
}

int formula_evaluate(struct formula *formula, const struct formula_value *values, double *result,
                     struct error *err)
{
    const struct formula_step *step = formula->steps, *end = step + formula->step_count;
    struct formula_value *top = formula->stack;
    for (const char *flaw = NULL; step < end; step++) {
        switch (step->operation) {
        case STEP_NUMBER:
            *++top = step->number;
            break;
        case STEP_NAME:
            *++top = values[step->count];
            break;
        case STEP_ARITHMETIC:
            flaw = formula_compute(*step->function->name, --top);
            break;
        case STEP_CALL:
            top += 1 - (ptrdiff_t)step->count;
            flaw = formula_function_call(step->function, top, step->count, top);
            break;
        case STEP_IN:
            top -= step->count;
            *top = (struct formula_value){ formula_is_in(top, step->count), true };
            break;
        case STEP_COMPARE:
            step = formula_compare(step, --top);
            break;
        case STEP_AND:
        case STEP_OR:
            if ((top->number != 0) == (step->operation == STEP_OR))
                step += step->count;
            else
                top--;
            break;
        case STEP_JUMP_UNLESS:
            step += top--->number != 0 ? 0 : step->count;
            break;
        case STEP_JUMP:
            step += step->count;
        }
        if (flaw)
            return fail(err, ERROR_DATA, "formula, column %u: %s", step->column, flaw);
    }
    *result = top->number;
    return 0;
}

/* ---- formulas ---- */

struct formula *formula_create(const char *text, struct error *err)
{
    if (strlen(text) > FORMULA_LONGEST) {
        fail(err, ERROR_SETTINGS, "formula: longer than %d bytes", FORMULA_LONGEST);
        return NULL;
    }
    struct formula *formula = memory_zeroed(1, sizeof *formula);
    formula->arena = arena_create();
    if (formula_parse(formula, text, err)) {
        formula_destroy(formula);
        return NULL;
    }
    formula->stack = arena_take(formula->arena, (formula->step_count + 1) * sizeof *formula->stack);
    return formula;
}

void formula_destroy(struct formula *formula)
{
    if (!formula)
        return;
    arena_destroy(formula->arena);
    free(formula);
}

size_t formula_name_count(const struct formula *formula)
{
    return formula->name_count;
}

const char *formula_name(const struct formula *formula, size_t number)
{
    return formula->names[number];
}

size_t formula_cost(const struct formula *formula)
{
    return formula->cost;
}

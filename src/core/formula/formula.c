/* SPDX-License-Identifier: MIT */
#include "core/formula/formula.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/parse.h"
#include "core/formula/steps.h"
#include "util/error.h"
#include "util/memory.h"

struct formula *formula_create(const char *text, struct error *err)
{
    struct formula *formula = memory_zeroed(1, sizeof *formula);
    if (strlen(text) > UINT16_MAX) {
        fail(err, ERROR_SETTINGS, "formula: it has more than %d bytes", UINT16_MAX);
        formula_destroy(formula);
        return NULL;
    }
    formula->text = memory_text(text);
    if (formula_parse(formula, err)) {
        formula_destroy(formula);
        return NULL;
    }
    formula->stack = memory_zeroed(formula->stack_count, sizeof *formula->stack);
    for (size_t i = 0; i < formula->stack_count; i++)
        amount_start(&formula->stack[i]);
    return formula;
}

void formula_destroy(struct formula *formula)
{
    if (!formula)
        return;
    for (size_t i = 0; i < formula->number_count; i++)
        amount_end(&formula->numbers[i]);
    for (size_t i = 0; formula->stack && i < formula->stack_count; i++)
        amount_end(&formula->stack[i]);
    for (size_t i = 0; i < formula->name_count; i++)
        free(formula->names[i]);
    free(formula->numbers);
    free(formula->stack);
    free(formula->names);
    free(formula->steps);
    free(formula->text);
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

/* The stack grows upwards; `top` is the first free place. */
struct machine {
    struct amount *top;
    const struct step *step;
};

static void push_value(struct machine *machine, const struct formula_value *value)
{
    if (value->is_whole)
        amount_set_part(machine->top++, value->number);
    else
        amount_set_real(machine->top++, value->number);
}

static bool holds(const struct machine *machine)
{
    int order = amount_compare(&machine->top[-2], &machine->top[-1]);
    uint32_t bit = order == 2 ? NEITHER : order < 0 ? LESS : order > 0 ? MORE : EQUAL;
    return (machine->step->which & bit) != 0;
}

static void compare(struct machine *machine)
{
    bool answer = holds(machine);
    machine->top--;
    if (machine->step->kind == STEP_COMPARE || !answer)
        amount_set_whole(&machine->top[-1], answer);
    else
        amount_set(&machine->top[-1], &machine->top[0]);
    if (machine->step->kind == STEP_CHAIN && !answer)
        machine->step += machine->step->skip;
}

/* and, or, if: where the top says so, skip; else, and with `if` always, it is dropped. */
static void choose(struct machine *machine)
{
    bool is_true = amount_is_true(&machine->top[-1]);
    bool skips = machine->step->kind == STEP_OR ? is_true : !is_true;
    if (!skips || machine->step->kind == STEP_IF)
        machine->top--;
    if (skips)
        machine->step += machine->step->skip;
}

static const char *call(struct machine *machine)
{
    const struct step *step = machine->step;
    machine->top -= step->which;
    return step->function->call(step->function, machine->top++, step->which);
}

static const char *take_step(struct formula *formula, const struct formula_value *values,
                             struct machine *machine)
{
    const struct step *step = machine->step;
    switch (step->kind) {
    case STEP_NUMBER:
        amount_set(machine->top++, &formula->numbers[step->which]);
        return NULL;
    case STEP_NAME:
        push_value(machine, &values[step->which]);
        return NULL;
    case STEP_OPERATE:
        machine->top--;
        return step->operate(&machine->top[-1], &machine->top[0]);
    case STEP_CALL:
        return call(machine);
    case STEP_NEGATE:
        amount_negate(&machine->top[-1]);
        return NULL;
    case STEP_NOT:
        amount_set_whole(&machine->top[-1], !amount_is_true(&machine->top[-1]));
        return NULL;
    case STEP_COMPARE:
    case STEP_CHAIN:
        compare(machine);
        return NULL;
    case STEP_AND:
    case STEP_OR:
    case STEP_IF:
        choose(machine);
        return NULL;
    case STEP_SKIP:
        machine->step += step->skip;
        return NULL;
    }
    return NULL;
}

int formula_evaluate(struct formula *formula, const struct formula_value *values, double *answer,
                     struct error *err)
{
    struct machine machine = { formula->stack, formula->steps };
    const struct step *end = formula->steps + formula->step_count, *step = NULL;
    const char *flaw = NULL;
    for (; machine.step < end && !flaw; machine.step++) {
        step = machine.step;
        flaw = take_step(formula, values, &machine);
    }
    if (!flaw)
        flaw = amount_to_double(formula->stack, answer);
    if (!flaw)
        return 0;
    return fail(err, ERROR_DATA, "formula, column %u: %s", step->at + 1, flaw);
}

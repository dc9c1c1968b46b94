/* SPDX-License-Identifier: MIT */
#include "core/formula/formula.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/parse.h"
#include "core/formula/scan.h"
#include "util/error.h"
#include "util/memory.h"

struct formula *formula_create(const char *text, struct error *err)
{
    if (strlen(text) > FORMULA_LONGEST) {
        fail(err, ERROR_SETTINGS, "formula: it has more than %d bytes", FORMULA_LONGEST);
        return NULL;
    }
    struct formula *formula = memory_zeroed(1, sizeof *formula);
    if (formula_parse(formula, text, err)) {
        formula_destroy(formula);
        return NULL;
    }
    formula->stack = memory_zeroed(formula->stack_count, sizeof *formula->stack);
    return formula;
}

void formula_destroy(struct formula *formula)
{
    if (!formula)
        return;
    for (size_t i = 0; i < formula->name_count; i++)
        free(formula->names[i]);
    free(formula->names);
    free(formula->steps);
    free(formula->stack);
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
    size_t cost = 0;
    for (size_t i = 0; i < formula->step_count; i++) {
        const struct step *step = &formula->steps[i];
        bool is_slow = step->kind == STEP_CALL || step->operate == number_power ||
                       step->operate == number_modulo || step->operate == number_divide_floor;
        cost += is_slow ? 1000 : 5;
    }
    return cost;
}

/* The stack grows upwards; `top` is the first free place. */
struct machine {
    struct formula_value *top;
    const struct step *step;
};

static bool holds(const struct machine *machine)
{
    double left = machine->top[-2].number, right = machine->top[-1].number;
    uint32_t bit = left < right ? LESS : left > right ? MORE : left == right ? EQUAL : NEITHER;
    return (machine->step->which & bit) != 0;
}

static struct formula_value truth(bool is_true)
{
    return (struct formula_value){ is_true, true };
}

static void compare(struct machine *machine)
{
    bool result = holds(machine);
    machine->top--;
    if (machine->step->kind == STEP_COMPARE || !result)
        machine->top[-1] = truth(result);
    else
        machine->top[-1] = machine->top[0];
    if (machine->step->kind == STEP_CHAIN && !result)
        machine->step += machine->step->skip;
}

static void find(struct machine *machine)
{
    bool found = false;
    machine->top -= machine->step->which;
    for (uint32_t i = 0; i < machine->step->which; i++)
        found |= machine->top[i].number == machine->top[-1].number;
    machine->top[-1] = truth(found);
}

/* and, or, if: skips depending on the top; else, and always for `if`, removes it. */
static void choose(struct machine *machine)
{
    bool is_true = machine->top[-1].number != 0;
    bool skips = machine->step->kind == STEP_OR ? is_true : !is_true;
    if (!skips || machine->step->kind == STEP_IF)
        machine->top--;
    if (skips)
        machine->step += machine->step->skip;
}

static const char *call(struct machine *machine)
{
    const struct step *step = machine->step;
    machine->top -= step->which ? step->which : 1;
    return function_call(step->function, machine->top++, step->which);
}

/* Integers have no negative zero. */
static void change_sign(struct formula_value *number, double less)
{
    number->number = number->is_whole ? 0 - number->number - less : -number->number;
}

static const char *take_step(struct machine *machine, const struct formula_value *values)
{
    const struct step *step = machine->step;
    switch (step->kind) {
    case STEP_NUMBER:
        *machine->top++ = step->number;
        return NULL;
    case STEP_NAME:
        *machine->top++ = values[step->which];
        return NULL;
    case STEP_OPERATE:
        machine->top--;
        return step->operate(&machine->top[-1], &machine->top[0]);
    case STEP_CALL:
        return call(machine);
    case STEP_NEGATE:
        change_sign(&machine->top[-1], 0);
        return NULL;
    case STEP_INVERT:
        change_sign(&machine->top[-1], 1);
        return machine->top[-1].is_whole ? NULL : number_not_whole;
    case STEP_NOT:
        machine->top[-1] = truth(machine->top[-1].number == 0);
        return NULL;
    case STEP_COMPARE:
    case STEP_CHAIN:
        compare(machine);
        return NULL;
    case STEP_IN:
        find(machine);
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

int formula_evaluate(struct formula *formula, const struct formula_value *values, double *result,
                     struct error *err)
{
    struct machine machine = { formula->stack, formula->steps };
    const struct step *end = formula->steps + formula->step_count, *step = NULL;
    const char *flaw = NULL;
    for (; machine.step < end && !flaw; machine.step++) {
        step = machine.step;
        flaw = take_step(&machine, values);
    }
    if (flaw)
        return fail(err, ERROR_DATA, "formula, column %u: %s", step->at + 1, flaw);
    *result = formula->stack->number;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "core/formula/formula.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/parse.h"
#include "util/error.h"
#include "util/memory.h"

struct formula *formula_create(const char *text, struct error *err)
{
    if (strlen(text) > FORMULA_LONGEST) {
        fail(err, ERROR_SETTINGS, "formula: it has more than %d bytes", FORMULA_LONGEST);
        return NULL;
    }
    struct formula *formula = memory_zeroed(1, sizeof *formula);
    formula->arena = arena_create();
    if (formula_parse(formula, text, err)) {
        formula_destroy(formula);
        return NULL;
    }
    formula->scratch = memory_zeroed(formula->node_count, sizeof *formula->scratch);
    return formula;
}

void formula_destroy(struct formula *formula)
{
    if (!formula)
        return;
    arena_destroy(formula->arena);
    free(formula->scratch);
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

/* ---- evaluation ---- */

struct evaluation {
    const struct formula_value *values; /* by name */
    struct formula_value *scratch;      /* the first free place */
    const char *flaw;
    size_t at; /* of the flaw, in the text */
};

/* Returns false if there is a flaw, as all functions below. */
static bool formula_evaluate_tree(struct evaluation *run, const struct formula_node *node,
                                  struct formula_value *result);

static bool apply(struct evaluation *run, const struct function *function, size_t at,
                  const struct formula_value *arguments, size_t count, struct formula_value *result)
{
    run->flaw = function_call(function, arguments, count, result);
    run->at = at;
    return !run->flaw;
}

static bool evaluate_call(struct evaluation *run, const struct formula_node *node,
                          struct formula_value *result)
{
    struct formula_value *arguments = run->scratch, *argument = arguments;
    run->scratch += node->item_count;
    for (const struct formula_node *item = node->items; item; item = item->next)
        if (!formula_evaluate_tree(run, item, argument++))
            return false;
    run->scratch = arguments;
    return apply(run, node->function, node->at, arguments, node->item_count, result);
}

static bool evaluate_operators(struct evaluation *run, const struct formula_node *node,
                               struct formula_value *result)
{
    struct formula_value pair[2];
    if (!formula_evaluate_tree(run, node->items, &pair[0]))
        return false;
    for (const struct formula_node *item = node->items->next; item; item = item->next)
        if (!formula_evaluate_tree(run, item, &pair[1]) ||
            !apply(run, item->operation, item->operator_at, pair, 2, &pair[0]))
            return false;
    *result = pair[0];
    return true;
}

static bool evaluate_in(struct evaluation *run, const struct formula_node *sequence, double wanted,
                        bool *is_in)
{
    struct formula_value value;
    *is_in = false;
    for (const struct formula_node *item = sequence->items; item; item = item->next) {
        if (!formula_evaluate_tree(run, item, &value))
            return false;
        *is_in |= value.number == wanted;
    }
    return true;
}

static bool compares_so(double left, double right, unsigned holds)
{
    unsigned found = left < right ? LESS : left > right ? MORE : left == right ? EQUAL : NEITHER;
    return (found & holds) != 0;
}

static bool evaluate_comparisons(struct evaluation *run, const struct formula_node *node,
                                 struct formula_value *result)
{
    struct formula_value left, right = { 0 };
    bool holds = true;
    if (!formula_evaluate_tree(run, node->items, &left))
        return false;
    for (const struct formula_node *item = node->items->next; item && holds; item = item->next) {
        if (item->kind == NODE_SEQUENCE) {
            if (!evaluate_in(run, item, left.number, &holds))
                return false;
            holds ^= *item->operation->name == 'n'; /* not in */
            continue;
        }
        if (!formula_evaluate_tree(run, item, &right))
            return false;
        holds = compares_so(left.number, right.number, item->operation->holds);
        left = right;
    }
    *result = (struct formula_value){ holds, true };
    return true;
}

/* The first operand that decides, or the last. */
static bool evaluate_logic(struct evaluation *run, const struct formula_node *node,
                           struct formula_value *result)
{
    bool is_or = node->last->operation->level == LEVEL_OR, is_decided = false;
    for (const struct formula_node *item = node->items; item && !is_decided; item = item->next) {
        if (!formula_evaluate_tree(run, item, result))
            return false;
        is_decided = (result->number != 0) == is_or;
    }
    return true;
}

static bool formula_evaluate_tree(struct evaluation *run, const struct formula_node *node,
                                  struct formula_value *result)
{
    switch (node->kind) {
    case NODE_NUMBER:
        *result = node->number;
        return true;
    case NODE_NAME:
        *result = run->values[node->name];
        return true;
    case NODE_CALL:
        return evaluate_call(run, node, result);
    case NODE_OPERATORS:
        return evaluate_operators(run, node, result);
    case NODE_COMPARISONS:
        return evaluate_comparisons(run, node, result);
    case NODE_LOGIC:
        return evaluate_logic(run, node, result);
    case NODE_CHOICE:
        return formula_evaluate_tree(run, node->items, result) &&
               formula_evaluate_tree(run, result->number != 0 ? node->items->next : node->last,
                                     result);
    case NODE_SEQUENCE:
        break;
    }
    return false;
}

int formula_evaluate(struct formula *formula, const struct formula_value *values, double *result,
                     struct error *err)
{
    struct evaluation run = { values, formula->scratch, NULL, 0 };
    struct formula_value value;
    if (!formula_evaluate_tree(&run, formula->root, &value))
        return fail(err, ERROR_DATA, "formula, column %zu: %s", run.at + 1, run.flaw);
    *result = value.number;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "compute/formula_priorities.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/finding.h"
#include "core/priority/formula_jobs.h"
#include "core/tree/tree.h"
#include "util/index.h"

/* OpenPBS hands its values of fairshare to the formula as text, with six decimals. */
static struct formula_value as_openpbs(double value)
{
    char text[512];
    snprintf(text, sizeof text, "%f", isfinite(value) ? value : 0);
    return (struct formula_value){ strtod(text, NULL), false };
}

/* The value of the entity that a name in the formula means; NULL: the name means none. */
static const double *value_named(const char *name, const struct values *values)
{
    return !strcmp(name, "fairshare_perc") || !strcmp(name, "fair_share_perc")
               ? &values->shares_norm
           : !strcmp(name, "fairshare_tree_usage") ? &values->pbs_tree_usage
           : !strcmp(name, "fairshare_factor")     ? &values->pbs_factor
                                                   : NULL;
}

static void complete(struct formula_jobs *jobs, size_t number, const struct tree *tree,
                     const struct values *values, const uint32_t *order)
{
    static const struct values nobody = { 0 };
    struct formula_job *job = &jobs->jobs[number];
    uint32_t place = job->association ? tree_place(tree, job->association) : NO_NODE;
    const struct values *own = place == NO_NODE ? &nobody : &values[place];
    struct formula_value *named = formula_jobs_values(jobs, number);
    for (size_t i = 0; i < formula_jobs_name_count(jobs); i++) {
        const double *value = value_named(formula_name(jobs->formula, i), own);
        if (value)
            named[i] = as_openpbs(*value);
    }
    job->account = place == NO_NODE ? INDEX_NONE : tree->nodes[place].account;
    job->order = place == NO_NODE || !order[place] ? UINT32_MAX : order[place];
    job->factor = place == NO_NODE ? NAN : own->pbs_factor;
    job->no_shares = jobs->enforces_shares && !(own->shares_norm > 0);
}

void formula_priorities_complete(struct formula_jobs *jobs, const struct tree *tree,
                                 const struct values *values, const uint32_t *order,
                                 struct findings *findings)
{
    if (jobs->flaw)
        findings_add(findings, FINDING_FORMULA_UNREADABLE, 0, "%s", jobs->flaw);
    for (size_t i = 0; i < jobs->count; i++)
        complete(jobs, i, tree, values, order);
    formula_jobs_rank(jobs);
}

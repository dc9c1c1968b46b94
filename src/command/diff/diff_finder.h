/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_FINDER_H
#define FAIRMILL_COMMAND_DIFF_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "command/diff/diff_case.h"
#include "command/diff/diff_print.h"
#include "command/diff/diff_settings.h"
#include "compute/computation.h"
#include "compute/prior.h"
#include "compute/stepped_usage.h"
#include "report/differences.h"

/* What the search for causes knows.  It goes from stage to stage, from our values to the printed
 * ones; each stage takes one cause away, and what it changes is what the cause explains. */

/* What the values are at one stage, by node of the base tree. */
struct stage {
    double *usage, *fairshare, *level_fs;
};

struct finder {
    const struct diff_case *asked;
    struct differences *differences;
    struct ledger *ledger;           /* NULL once it is left out */
    struct prior notes;              /* without it */
    struct reduced_settings reduced; /* less the causes that were taken away */
    struct fairshare_options options;
    const struct tree *tree; /* the base: all stages are by its nodes */
    struct names *names;
    struct computation first, newest; /* as the settings have it, and less causes */
    bool computed;                    /* `newest` is another one than `first` */
    struct printed_match *match;
    struct stage last;
    double *own;                 /* usage charged to the association itself, at this stage */
    double *blur, *fresh, *late; /* of stepped usage; NULL without jobs */
    struct stepped_usage stepped;
};

void stage_free(struct stage *stage);
/* The stage with these values, which are by the nodes of `tree`. */
struct stage finder_stage_of(const struct finder *finder, const struct tree *tree,
                             const struct values *values);

/* Where a node of the base is in another tree; NO_NODE where it is not. */
uint32_t place_in_tree(const struct tree *tree, const struct node *node);
/* How much a value changes; 0 where one of them is NAN. */
double stage_change(double from, double to);
/* The cause explains what is different at this stage, which is the last from now on.  The finder
 * frees it. */
void finder_explain(struct finder *finder, enum cause cause, struct stage stage);

/* Compute the cluster from the accounting database, by the settings less the causes that were taken
 * away, as of the print.  -1 leaves nothing to be freed. */
int finder_compute(struct finder *finder, struct computation *computation, struct error *err);

/* A tree like the base, with the printed shares where `printed`; to be destroyed. */
int finder_build_tree(const struct finder *finder, bool printed, struct tree **tree,
                      struct error *err);
/* Every value of such a tree in which the associations have this usage of their own, in
 * TRES-seconds by node of the base; to be freed.  NULL on failure. */
struct values *finder_values_with(const struct finder *finder, struct tree *tree, const double *own,
                                  struct error *err);
/* The stage of such a tree with finder->own. */
int finder_compute_stage(const struct finder *finder, struct tree *tree, struct stage *stage,
                         struct error *err);

#endif

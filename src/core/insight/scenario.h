/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_SCENARIO_H
#define FAIRMILL_CORE_INSIGHT_SCENARIO_H

#include "core/tree/tree.h"

/* A tree in the form of rows, in which shares, parents, users or usage can be changed.  The rows
 * are as the accounting database would have them after the change.  A new tree is built from them
 * in the same way as in every run. */

struct scenario {
    struct names *names; /* owned by the caller */
    uint32_t empty_name; /* number of the empty name */
    struct association
        *rows; /* in ascending order of id; without associations that were already deleted */
    struct wide *usage; /* indexed by row: usage charged to the association itself */
    size_t count;
    bool moved; /* an account was moved, so the lineage order must be rebuilt */
};

#define NO_ROW SIZE_MAX

/* Creates the rows of `tree`.  If `rolled_up`, the usage of a node includes its descendants.  Its
 * own usage is then the difference, or 0 if the difference may be a rounding error.  The caller
 * frees the rows with scenario_free().  Keeps a reference to `names`. */
void scenario_create(struct scenario *scenario, const struct tree *tree, struct names *names,
                     bool rolled_up);
void scenario_free(struct scenario *scenario);

/* Returns the index of an association's row, or NO_ROW. */
size_t scenario_find(const struct scenario *scenario, uint32_t id);
/* Moves an account below another account.  Returns false and changes nothing if the new parent is
 * the account itself or is below it. */
bool scenario_move(struct scenario *scenario, size_t account, size_t parent);

/* Builds a tree, whose usage is not rolled up yet.  The usage of rows marked as deleted goes to
 * their parents, as for deleted associations.  If accounts were moved, sets node.order to the byte
 * order of the new lineages.  Returns -1 if a sum overflows or the rows do not form a tree.  The
 * caller frees the tree with tree_destroy(). */
int scenario_build(const struct scenario *scenario, struct tree **tree, struct error *err);

#endif

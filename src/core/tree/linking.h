/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_LINKING_H
#define FAIRMILL_CORE_TREE_LINKING_H

#include "core/tree/association.h"
#include "util/text.h"

struct error;

/*
 * First step of building the tree: checks each row and finds its parent's row.  Only tree.c uses
 * this step.  tree.c then creates the nodes.
 */

/* Kinds of rows. */
enum { LIVE_USER, LIVE_ACCOUNT, GONE };

/*
 * Loops prefetch data this many rows ahead.  With very many rows, loops without prefetch would
 * mostly wait for memory.
 */
#define PREFETCH_DISTANCE 12

/* The value in `parent` for a row that repeats another row and is ignored. */
#define DUPLICATE (NO_NODE - 1)

struct linking {
    struct association *rows;
    size_t count;
    const struct names *names;
    uint32_t empty_name;
    struct findings *findings;
    struct id_index *row_of_id;
    uint32_t *account_row; /* indexed by name: the account's own row, or NO_NODE */
    uint32_t *parent;      /* indexed by row: the parent's row, or NO_NODE */
    uint32_t *node;        /* indexed by row: its node, or NO_NODE */
    unsigned char *kind;   /* indexed by row: LIVE_USER, LIVE_ACCOUNT or GONE */
    uint32_t root;
    struct text bad; /* description of the first bad rows, for the error message */
    size_t bad_count;
    enum bad_rows bad_rows;
    bool any_flaw;     /* at least one name cannot be published */
    bool linked_by_id; /* see struct associations */
};

/*
 * Returns a linking of these rows.  The caller still owns the rows, and frees the linking with
 * linking_free().
 */
struct linking linking_of(const struct associations *associations, enum bad_rows bad_rows,
                          struct findings *findings);
void linking_free(struct linking *linking);

/*
 * Sorts the rows by id, and finds the root and each row's parent.  Returns -1 with ERROR_DATA if
 * the root is missing or ambiguous.  Other bad rows are recorded for linking_check_reached().
 */
int linking_link(struct linking *linking, struct error *err);

bool linking_is_account(const struct linking *linking, const struct association *row);
/* Returns true if a row and its parent both exist.  The parent may be a bad row. */
bool linking_is_live_child(const struct linking *linking, uint32_t i);

/*
 * Records existing rows without a node.  Call it when all rows that are reachable from the root
 * have a node; `nodes` is the number of nodes.  Returns -1 with ERROR_DATA if any row is bad and
 * bad_rows is BAD_ROWS_FAIL.
 */
int linking_check_reached(struct linking *linking, uint32_t nodes, struct error *err);

/* Adds a finding for a deleted row that has no existing ancestor. */
void linking_note_orphan(const struct linking *linking, const struct association *row);

#endif

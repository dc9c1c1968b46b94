/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_LINKING_H
#define FAIRMILL_CORE_TREE_LINKING_H

#include "core/tree/association.h"
#include "util/text.h"

struct error;

/* The rows of a source become a tree in two steps.  Here each row is checked and finds its parent's
 * row; tree.c, which alone uses this, then makes the nodes. */

/* Kinds of rows. */
enum { LIVE_USER, LIVE_ACCOUNT, GONE };

/* A loop prefetches what it will look at this many rows later.  With very many rows it would
 * otherwise spend most of its time waiting for memory. */
#define PREFETCH_DISTANCE 12

/* As a row's parent: the row repeats another one, and does not count. */
#define DUPLICATE (NO_NODE - 1)

struct linking {
    struct association *rows;
    size_t count;
    const struct names *names;
    uint32_t empty_name;
    struct findings *findings;
    struct id_index *row_of_id;
    uint32_t *account_row; /* by name: the account's own row */
    uint32_t *parent;      /* by row: the parent's row, or NO_NODE */
    uint32_t *node;        /* by row: its node, or NO_NODE */
    unsigned char *kind;   /* by row: LIVE_USER, LIVE_ACCOUNT or GONE */
    uint32_t root;
    struct text bad; /* what is wrong, for the message */
    size_t bad_count;
    enum bad_rows bad_rows;
    bool any_flaw;     /* whether any name cannot be published */
    bool linked_by_id; /* as of the associations */
};

/* The rows stay the caller's. */
struct linking linking_of(const struct associations *associations, enum bad_rows bad_rows,
                          struct findings *findings);
void linking_free(struct linking *linking);

/* Sort the rows by id, and find the root and every row's parent.  ERROR_DATA where there is no
 * root. Other bad rows are noted for linking_check_reached(). */
int linking_link(struct linking *linking, struct error *err);

bool linking_is_account(const struct linking *linking, const struct association *row);
/* Whether a row and its parent are both live.  The parent may be a bad row. */
bool linking_is_live_child(const struct linking *linking, uint32_t i);

/* Call this when all rows that can be reached from the root have their nodes, `nodes` in number: it
 * notes the live rows that have none.  ERROR_DATA where a row is bad and bad_rows is BAD_ROWS_FAIL.
 */
int linking_check_reached(struct linking *linking, uint32_t nodes, struct error *err);

/* Note a deleted row that has no living ancestor. */
void linking_note_orphan(const struct linking *linking, const struct association *row);

#endif

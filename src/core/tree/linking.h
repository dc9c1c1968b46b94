/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PLACING_H
#define FAIRMILL_CORE_PLACING_H

#include "core/tree/tree.h"
#include "util/text.h"

struct error;

/* Associations on their way into the tree: rows that are looked up, checked, and know their
 * parent's row.  For tree.c alone. */

/* Kinds of rows. */
enum { LIVE_USER, LIVE_ACCOUNT, GONE };

/* So many rows ahead what a loop will look at is fetched: with very many rows, waiting for what is
 * not in the processor's caches would be most of its time. */
#define AHEAD 12

/* As a row's parent: the row is there twice, and this one does not count. */
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
    unsigned char *kind;   /* by row: what is asked of parents, at hand */
    uint32_t root;
    struct text bad; /* what is wrong, for the message */
    size_t bad_count;
    enum bad_rows bad_rows;
    bool any_flaw; /* in any name */
};

/* Begin with the rows of a source, which are the caller's; the rest is freed in the end. */
struct linking linking_of(struct association *rows, size_t count, const struct names *names,
                          uint32_t empty_name, enum bad_rows bad_rows, struct findings *findings);
void linking_free(struct linking *linking);

/* Sort the rows by id, find the root and every row's parent.  ERROR_DATA without a root; what else
 * is bad is noted. */
int linking_link(struct linking *linking, struct error *err);

bool linking_is_account(const struct linking *linking, const struct association *row);
/* Whether a row is live and its parent too, which is a row and may be bad itself. */
bool linking_is_live_child(const struct linking *linking, uint32_t i);

/* Once all rows that can be reached from the root have their nodes, `nodes` in number: note live
 * ones that were not.  ERROR_DATA where bad rows are not to be left out and there is one. */
int linking_check_reached(struct linking *linking, uint32_t nodes, struct error *err);

/* A deleted row has no living ancestor. */
void linking_note_orphan(const struct linking *linking, const struct association *row);

#endif

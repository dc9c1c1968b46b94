/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SELECTION_H
#define FAIRMILL_REPORT_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/name_list.h"

struct names;
struct text;
struct tree;

/*
 * Selection of associations on the command line.
 *
 * A NAME is a user, an account, or `account/user[/partition]`.  The form `account/` means the
 * account and never a user.
 */

/*
 * The names of an association, UTF-8.  `user` is "" for an account; `partition` may be "".
 */
struct association_name {
    const char *account, *user, *partition;
};

/* Adds the unambiguous form: `account/`, `account/user` or `account/user/partition`. */
void association_name_add(struct text *text, const struct association_name *name);

enum name_match {
    NAME_OTHER,    /* the name means a different association */
    NAME_POSSIBLE, /* the name may mean this association or a different one */
    NAME_EXACT,    /* the name means this association only */
};
/* Compares a NAME with an association. */
enum name_match association_name_match(const struct association_name *name, const char *asked);

/*
 * The associations that a command line selects.  They meet three conditions, except that an empty
 * list is ignored:
 *
 *    - a NAME means the association or one above it;
 *    - the association is one of the accounts or below one of them;
 *    - the association is of one of the users.
 */

enum selection_kind { SELECTION_NAMES, SELECTION_ACCOUNTS, SELECTION_USERS, SELECTION_KINDS };

struct association_selection {
    struct name_list lists[SELECTION_KINDS]; /* not copied; must outlive the selection */
    bool *met[SELECTION_KINDS];              /* indexed by name: selection_note() found a match */
};

/*
 * The names of associations that the command line can mean, for lookups by key.  Each association
 * that a NAME, account or user means is among them.  The reverse is not always true, because
 * partitions are not compared.
 */
struct name_candidate {
    char *user;    /* "" for an account */
    char *account; /* NULL: any account */
};
struct name_candidates {
    struct name_candidate *list;
    size_t count;
    bool incomplete; /* a NAME has so many slashes that it was left out */
};
/* Appends the candidates of a name from the list of this kind; name_candidates_free() frees them.
 */
void name_candidates_add(struct name_candidates *candidates, enum selection_kind kind,
                         const char *asked);
void name_candidates_free(struct name_candidates *candidates);

/* Initializes a selection.  The caller frees it with selection_free(). */
void selection_begin(struct association_selection *selection,
                     const struct name_list lists[SELECTION_KINDS]);
void selection_free(struct association_selection *selection);
/* Records that an association exists, for selection_missing(). */
void selection_note(struct association_selection *selection, const struct association_name *name);
/*
 * Returns the first name that matches no recorded association, and sets `*kind` to its list.
 * Returns NULL if all names match.
 */
const char *selection_missing(const struct association_selection *selection,
                              enum selection_kind *kind);

/* Returns true if a name of this list means the association itself, or if the list is empty. */
bool selection_chooses(const struct association_selection *selection, enum selection_kind kind,
                       const struct association_name *name);
/*
 * Selects nodes of a tree.  Returns an array, indexed by node, which the caller frees.  It has 0
 * for a node that is not selected.  Otherwise, it has 1 + the depth of the association that a NAME
 * or an account of the lists means.  This is the node or an association above it; if several match,
 * the highest one.  If both lists are used, it has the larger of their two values.  An empty list
 * matches the root.
 */
uint32_t *selection_of_tree(const struct association_selection *selection, const struct tree *tree,
                            const struct names *names);
/* Appends the names of the accounts in `asked` and of all accounts below them. */
void selection_add_accounts(struct name_list *accounts, const struct name_list *asked,
                            const struct tree *tree, const struct names *names);

#endif

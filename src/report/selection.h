/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SELECTION_H
#define FAIRMILL_REPORT_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/name_list.h"

struct names;
struct text;
struct tree;

/* A NAME is a user, an account, or `account/user[/partition]`, where `account/` is the account and
 * no user. */

/* The names of an association, UTF-8; `user` is "" for an account, `partition` where it has none.
 */
struct association_name {
    const char *account, *user, *partition;
};

/* Add what tells it from all others: `account/`, `account/user`, `account/user/partition`. */
void association_name_add(struct text *text, const struct association_name *name);

enum name_match {
    NAME_OTHER,    /* another association */
    NAME_POSSIBLE, /* one of those that may be meant */
    NAME_EXACT,    /* this one and no other */
};
enum name_match association_name_match(const struct association_name *name, const char *asked);

/* The associations that a command line chooses: those that a NAME means, with all
 * below them; of these, those that are or are below one of the accounts; of these, those of the
 * users.  An empty list chooses all. */

enum selection_kind { SELECTION_NAMES, SELECTION_ACCOUNTS, SELECTION_USERS, SELECTION_KINDS };

struct association_selection {
    struct name_list lists[SELECTION_KINDS]; /* which must stay */
    bool *met[SELECTION_KINDS];              /* whether selection_note() was given such a name */
};

/* Begin to note names.  selection_free() is due. */
void selection_begin(struct association_selection *selection,
                     const struct name_list lists[SELECTION_KINDS]);
void selection_free(struct association_selection *selection);
/* Note that an association exists. */
void selection_note(struct association_selection *selection, const struct association_name *name);
/* Returns the first name of the lists that was not noted, and sets `*kind` to its list; NULL if all
 * were. */
const char *selection_missing(const struct association_selection *selection,
                              enum selection_kind *kind);

/* Returns whether a name of this list means the association itself, or the list is empty. */
bool selection_chooses(const struct association_selection *selection, enum selection_kind kind,
                       const struct association_name *name);
/* Returns what is chosen of a tree, by node; the caller frees it.  0: the node is not chosen;
 * otherwise 1 + the depth of the association that a name or an account chose, which is the node
 * itself or above it. */
uint32_t *selection_of_tree(const struct association_selection *selection, const struct tree *tree,
                            const struct names *names);
/* Append the names of these accounts, and of all accounts below them. */
void selection_add_accounts(struct name_list *accounts, const struct name_list *asked,
                            const struct tree *tree, const struct names *names);

#endif

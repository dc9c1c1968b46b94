/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARE_SET_H
#define FAIRMILL_REPORT_SHARE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* The associations of a cluster with their shares, as a file for `sacctmgr load` or the database
 * has them. */

struct share_entry {
    uint32_t id; /* in the database; 0: it is only in a file */
    /* UTF-8; an account has no user. */
    const char *account, *user, *partition;
    const char *parent;                     /* of an account; "" of the root */
    const char *default_account;            /* of the user; NULL: that is not said */
    const char *description, *organization; /* likewise, of an account */
    int32_t shares;                         /* SHARES_PARENT; 1 where they are not said */
    bool says_shares;
    uint32_t priority; /* PRIORITY_NONE: it has none of its own */
    uint32_t depth;    /* the root's is 0 */
    unsigned line;     /* of the file */
};

/* Parents come before their children, and first of all the root.  Start with share_set_create().
 */
struct share_set {
    struct arena *arena;
    const char *cluster;
    struct share_entry *entries;
    size_t count;
    struct names *keys;  /* account, user and partition: the number is the entry's */
    struct names *pairs; /* account and user; with "*", if that pair has a partition */
    struct names *users;
    size_t *first_of_user; /* by number in `users` */
};

struct share_set share_set_create(const char *cluster);
void share_set_free(struct share_set *list);

/* Append a copy, whose texts last as long as the list; false where it is there already. */
bool share_set_add(struct share_set *list, const struct share_entry *entry);
/* NULL: it is not there. */
struct share_entry *share_set_find(const struct share_set *list, const char *account,
                                   const char *user, const char *partition);
struct share_entry *share_set_account(const struct share_set *list, const char *account);
/* Any one of the user's; NULL: the user has none. */
const struct share_entry *share_set_user(const struct share_set *list, const char *user);
/* Whether the user has an association in the account, and one that has a partition. */
bool share_set_has_pair(const struct share_set *list, const char *account, const char *user);
bool share_set_has_partitions(const struct share_set *list, const char *account, const char *user);

/* Spell users who are in `like` in small letters only as they are there: sacctmgr makes all letters
 * small, where slurmdbd does not preserve users' case. */
void share_set_take_case(struct share_set *list, const struct share_set *like);

/* Add `parent`, or a number. */
void share_add(struct text *text, int32_t shares);

#endif

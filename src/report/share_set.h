/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARE_SET_H
#define FAIRMILL_REPORT_SHARE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/*
 * The associations of a cluster with their shares, from a file for `sacctmgr load` or from the
 * database.
 */

struct share_entry {
    uint32_t id; /* id in the database; 0 if the association is only in a file */
    /* UTF-8; `user` is "" for an account. */
    const char *account, *user, *partition;
    const char *parent;                     /* parent of an account; "" for the root */
    const char *default_account;            /* default account of a user; NULL if not given */
    const char *description, *organization; /* texts of an account; NULL if not given */
    int32_t shares;                         /* may be SHARES_PARENT; 1 if not given */
    bool says_shares;                       /* `shares` was given */
    uint32_t priority;                      /* PRIORITY_NONE if not given */
    uint32_t depth;                         /* 0 for the root */
    unsigned line;                          /* line number in the file */
};

/* A set of entries.  The root is first, and parents come before their children. */
struct share_set {
    struct arena *arena;
    const char *cluster;
    struct share_entry *entries;
    size_t count;
    struct names *keys;  /* account, user and partition; the number is the entry's index */
    struct names *pairs; /* account and user; a third name "*" if the pair has a partition */
    struct names *users;
    size_t *first_of_user; /* index of the user's first entry, by number in `users` */
};

/* Returns an empty set.  The caller frees it with share_set_free(). */
struct share_set share_set_create(const char *cluster);
void share_set_free(struct share_set *list);

/*
 * Appends a copy of `entry` and its texts.  Returns false, and adds nothing, if the set already has
 * this account, user and partition.
 */
bool share_set_add(struct share_set *list, const struct share_entry *entry);
/*
 * Return an entry, or NULL if the set does not have it.  The next addition invalidates the pointer.
 */
struct share_entry *share_set_find(const struct share_set *list, const char *account,
                                   const char *user, const char *partition);
struct share_entry *share_set_account(const struct share_set *list, const char *account);
/* Returns the first association of a user, or NULL if the set does not have the user. */
const struct share_entry *share_set_user(const struct share_set *list, const char *user);
/* Return true if the user has an association in the account, and one with a partition. */
bool share_set_has_pair(const struct share_set *list, const char *account, const char *user);
bool share_set_has_partitions(const struct share_set *list, const char *account, const char *user);

/*
 * Converts each user name in `list` to lower case if `like` has the name only in lower case.
 * sacctmgr converts all user names unless slurmdbd preserves their case.
 */
void share_set_take_case(struct share_set *list, const struct share_set *like);

/* Adds shares as `parent` or as a number. */
void share_add(struct text *text, int32_t shares);

#endif

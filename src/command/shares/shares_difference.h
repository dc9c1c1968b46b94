/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHARES_SHARES_DIFFERENCE_H
#define FAIRMILL_COMMAND_SHARES_SHARES_DIFFERENCE_H

#include "report/share_set.h"

struct db;
struct error;
struct settings;
struct table;
struct table_layout;

/* The kinds of differences between associations in a file and in the database. */

enum share_difference_kind {
    DIFFERS_ONLY_IN_FILE,
    DIFFERS_ONLY_IN_DATABASE,
    DIFFERS_IN_PARENT,
    DIFFERS_IN_SHARES,
};

struct share_difference {
    enum share_difference_kind kind;
    const struct share_entry *file, *database; /* NULL if the association is missing there */
};

/* Keeps pointers to the entries of both lists. */
struct share_differences {
    const struct share_set *file, *database;
    struct share_difference *rows;
    size_t count;
};

/* Compares two lists.  Differences of the file's entries are in its order, before entries that are
 * only in the database.  A file may omit the root's own user, which sacctmgr creates automatically.
 * The file may also omit shares, which are then not compared.  The caller frees the result. */
struct share_differences share_differences_find(const struct share_set *file,
                                                const struct share_set *database);
void share_differences_free(struct share_differences *differences);

/* Returns `shares`, `parent`, `only in the file` or `only in the database`. */
const char *share_difference_word(const struct share_difference *difference);

extern const struct table_layout share_differences_layout;

/* Reads a cluster's associations from the accounting database in one snapshot.  Returns -1 on
 * error, with ERROR_DATA if two associations have the same names; `list` then holds no memory.
 * Otherwise, the caller frees it with share_set_free(). */
int shares_read(struct share_set *list, const struct settings *settings, struct db *source,
                const char *cluster, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHARES_SHARES_DIFFERENCE_H
#define FAIRMILL_COMMAND_SHARES_SHARES_DIFFERENCE_H

#include "report/share_set.h"

struct db;
struct error;
struct settings;
struct table;
struct table_layout;

/* What differs between a file's associations and the database's. */

enum share_difference_kind {
    DIFFERS_ONLY_IN_FILE,
    DIFFERS_ONLY_IN_DATABASE,
    DIFFERS_IN_PARENT,
    DIFFERS_IN_SHARES,
};

struct share_difference {
    enum share_difference_kind kind;
    const struct share_entry *file, *database; /* NULL where it is not there */
};

/* The list's entries must last as long as this. */
struct share_differences {
    const struct share_set *file, *database;
    struct share_difference *rows;
    size_t count;
};

/* Those of the file come in its order.  What sacctmgr makes without being told, root's own user,
 * may be left out of a file, and so may shares, which are what they are then. */
struct share_differences share_differences_find(const struct share_set *file,
                                                const struct share_set *database);
void share_differences_free(struct share_differences *differences);

/* `shares`, `parent`, `only in the file` or `only in the database`. */
const char *share_difference_word(const struct share_difference *difference);

extern const struct table_layout share_differences_layout;

/* Read a cluster's associations from the accounting database, in a snapshot of their own.
 * ERROR_DATA where two have the same names.  The list is to be freed; -1 leaves nothing. */
int shares_read(struct share_set *list, const struct settings *settings, struct db *source,
                const char *cluster, struct error *err);

#endif

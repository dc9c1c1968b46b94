/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_USAGE_FILE_H
#define FAIRMILL_IMPORT_USAGE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"

struct error;

/* What OpenPBS's scheduler keeps of usage, sched_priv/usage: a binary file, in which numbers are a
 * processor's doubles.
 *
 * Version 2 begins with 24 bytes, the text `PBS_MAG!` and from byte 16 on the number 2, and the
 * instant of the last decay in 8; then come records of 64 bytes, a name of less than 50 and from
 * byte 56 on its usage.  Before that there were records of 24 bytes only, with a name of less than
 * 9 and from byte 16 on its usage.  Files of either order of bytes are read; the older ones tell
 * nothing of theirs, and are taken for little-endian. */

struct usage_line {
    char *name; /* UTF-8 */
    double usage;
};

struct usage_list {
    struct usage_line *lines;
    size_t count;
    int64_t last_decay; /* 0: it does not say */
    int64_t written;    /* when the file was changed last */
};

/* Fails with ERROR_DATA, the file's name and the offset of what the scheduler would pass over. */
int usage_file_read(struct usage_list *list, const char *path, struct error *err);
void usage_list_free(struct usage_list *list);

/* Bring a usage file into pbs_usage, as of when it was written, and its *count names among the
 * entities.  One of the same instant is replaced. */
int usage_import(struct db *db, const char *cluster, const char *path, uint64_t *count,
                 struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_USAGE_FILE_H
#define FAIRMILL_IMPORT_USAGE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "db/db.h"

struct error;

/*
 * OpenPBS's scheduler keeps usage in sched_priv/usage, a binary file.  The version and the usage
 * are doubles.  All numbers have the byte order of the scheduler's host.
 *
 * Version 2 begins with a header of 24 bytes, which has the text `PBS_MAG!` and, at byte 16, the
 * number 2.  The time of the last decay follows, as an integer of 8 bytes.  Records of 64 bytes
 * follow.  Each has a name of less than 50 bytes and, at byte 56, the usage.
 *
 * Version 1 has only records of 24 bytes.  Each has a name of less than 9 bytes and, at byte 16,
 * the usage.
 *
 * In version 2 both byte orders are accepted.  Version 1 does not show its byte order, so it is
 * read as little-endian.
 */

struct usage_line {
    char *name; /* UTF-8 */
    double usage;
};

struct usage_list {
    struct usage_line *lines;
    size_t count;
    int64_t last_decay; /* epoch seconds; 0 if the file does not contain it */
    int64_t written;    /* last modification of the file, in epoch seconds */
};

/* Fails with ERROR_DATA, the file's name and the offset if the scheduler would skip a record. */
int usage_file_read(struct usage_list *list, const char *path, struct error *err);
void usage_list_free(struct usage_list *list);

/*
 * Imports a usage file into pbs_usage, as of its last modification, and its names as entities.
 * Replaces a usage file that was imported for the same time.  Sets *count to the number of names.
 */
int usage_import(struct db *db, const char *cluster, const char *path, uint64_t *count,
                 struct error *err);

#endif

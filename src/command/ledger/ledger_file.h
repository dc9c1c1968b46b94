/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_FILE_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_FILE_H

#include <stdbool.h>

struct error;
struct settings;

/* The whole ledger as a file: one line of JSON for each entry, in order of its number. */

/* Writes the ledger to a file, or to standard output if `path` is NULL or "-".  Returns -1 on
 * error, and also, after the last line, if entries are lost or changed. */
int ledger_export(const struct settings *settings, const char *path, struct error *err);

/* Adds the missing entries from such a file, or from standard input: either all of them or none.  A
 * dry run adds nothing.  Returns -1 on error; ERROR_DATA names a line that is damaged or
 * contradicts the ledger. */
int ledger_import_file(const struct settings *settings, const char *path, bool dry_run,
                       struct error *err);

#endif

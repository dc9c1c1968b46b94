/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_FILE_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_FILE_H

#include <stdbool.h>

struct error;
struct settings;

/* The whole ledger as a file: a line of JSON for each entry, by its number. */

/* Write it to a file, or to standard output (NULL, "-").  It fails too, behind the last line, where
 * entries are lost or changed. */
int ledger_export(const struct settings *settings, const char *path, struct error *err);

/* Add what is not there yet from such a file, or from standard input; all of it or nothing, and
 * nothing on a dry run.  ERROR_DATA names the line that is damaged, or contradicts the ledger. */
int ledger_import_file(const struct settings *settings, const char *path, bool dry_run,
                       struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_QSTAT_H
#define FAIRMILL_IMPORT_QSTAT_H

#include "import/waiting.h"

/*
 * Reads output of qstat from a file, or from standard input if `path` is "-".  The file may have
 * one output of each kind, in any order:
 *
 *   - `qstat -f -F json` (jobs)
 *   - `qstat -Qf -F json` (queues)
 *   - `qstat -Bf -F json` (the server)
 *
 * An output without jobs, queues and servers is read as an empty list of jobs.  `waiting` must be
 * empty except for `complain`.  Fails with ERROR_DATA, the file's name and the reason.  On failure,
 * `waiting` is empty.
 */
int qstat_read(struct waiting *waiting, const char *path, struct error *err);

#endif

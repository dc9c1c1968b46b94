/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_QSTAT_H
#define FAIRMILL_IMPORT_QSTAT_H

#include "import/waiting.h"

/* What `qstat -f -F json` (jobs), `qstat -Qf -F json` (queues) and `qstat -Bf -F json` (the server)
 * printed, one of each after another in any order; "-" is standard input.  A print of none of these
 * is one of no jobs.  `waiting` is empty but for its complain().  -1 with the file's name and the
 * reason (ERROR_DATA). */
int qstat_read(struct waiting *waiting, const char *path, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SERVER_DATABASE_H
#define FAIRMILL_IMPORT_SERVER_DATABASE_H

#include "import/waiting.h"

/* What OpenPBS's server keeps in its own database: jobs, queues, and its formula, or else that of
 * the scheduler `default`.  `service` is an entry of libpq's pg_service.conf, which says where the
 * database is and how to log in.  It is read in one snapshot, and never written to. */
int server_database_read(struct waiting *waiting, const char *service, unsigned deadline_s,
                         struct error *err);

#endif

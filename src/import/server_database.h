/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_SERVER_DATABASE_H
#define FAIRMILL_IMPORT_SERVER_DATABASE_H

#include "import/waiting.h"

/*
 * Reads jobs, queues and the formula from the database of OpenPBS's server, in one snapshot and
 * without writing.  The formula is the server's or, if that is not set, that of the scheduler
 * `default`.  `service` is an entry of libpq's pg_service.conf, with the database's address and
 * login.  On failure `waiting` is empty.
 */
int server_database_read(struct waiting *waiting, const char *service, unsigned deadline_s,
                         struct error *err);

#endif

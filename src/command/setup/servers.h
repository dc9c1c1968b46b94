/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SETUP_SERVERS_H
#define FAIRMILL_COMMAND_SETUP_SERVERS_H

#include <stdbool.h>

/*
 * Finds out which database servers answer, without a login.  Each function waits at most a few
 * seconds.
 */

#define SERVER_VERSION 64

/*
 * Reads the greeting of MariaDB or MySQL from a Unix socket, or from a host and port.  Sets
 * `version` to the version in the greeting.  Returns false if no such server answers.
 */
bool server_greets_at(const char *path, char version[SERVER_VERSION]);
bool server_greets_on(const char *host, const char *port, char version[SERVER_VERSION]);
/* Returns true if the version in a greeting is MariaDB's. */
bool server_is_mariadb(const char *version);

/* Returns true if PostgreSQL answers on this Unix socket. */
bool server_is_postgres(const char *path);

/* Returns true if the name or address belongs to this host. */
bool server_host_is_here(const char *host);

#endif

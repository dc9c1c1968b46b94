/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SETUP_SERVERS_H
#define FAIRMILL_COMMAND_SETUP_SERVERS_H

#include <stdbool.h>

/*
 * Finds out which database servers answer, without a login.  Each function waits at most a few
 * seconds.
 */

/* The greeting of a server. */
struct greeting {
    char version[64];
    bool is_mariadb;
    bool has_tls; /* offers encrypted connections */
};

/*
 * Read the greeting of MariaDB or MySQL from a Unix socket, or from a host and port, into
 * `greeting`. Return false if no such server answers.
 */
bool server_greets_at(const char *path, struct greeting *greeting);
bool server_greets_on(const char *host, const char *port, struct greeting *greeting);

/* Returns true if PostgreSQL answers on this Unix socket. */
bool server_is_postgres(const char *path);

/* Returns true if the name or address belongs to this host. */
bool server_host_is_here(const char *host);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SETUP_MACHINE_H
#define FAIRMILL_COMMAND_SETUP_MACHINE_H

struct script;

/*
 * Looks at this host.  Each function adds findings, and sets the facts that its comment lists.
 * Without a finding, a fact has no value.
 */

/*
 * Reads slurm.conf and the slurmdbd.conf next to it, but no password.
 * Facts: slurm, cluster, host, port, database.
 */
void machine_find_slurm(struct script *script);

/*
 * Asks the servers.  Facts: socket and client for a server of MariaDB or MySQL on this host; remote
 * if only a host and port lead to slurmdbd's server; pgsocket and pgport for PostgreSQL on this
 * host.
 */
void machine_find_servers(struct script *script);

/*
 * Looks for programs that fairmill works with.  Facts: systemd; apache, nginx and metrics, which
 * are directories; a2enconf, metrics_group, web.
 */
void machine_find_services(struct script *script);

#endif

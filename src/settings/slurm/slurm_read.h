/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_READ_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_READ_H

struct error;
struct slurm_conf;

/*
 * Returns the path of the slurm.conf that Slurm's commands use on this host: $SLURM_CONF, else
 * /etc/slurm/slurm.conf, else /run/slurm/conf/slurm.conf.  slurmd or sackd maintains the last of
 * these files in "configless" mode.  Returns NULL and fails with ERROR_SETTINGS if there is no such
 * file.
 */
const char *slurm_conf_find(struct error *err);

/*
 * Reads a slurm.conf with all files that it includes.  The caller frees `*conf` with
 * slurm_conf_destroy().  Fails with ERROR_SETTINGS; the message names the file and the line.
 */
int slurm_conf_read(struct slurm_conf **conf, const char *path, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_READ_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_READ_H

struct error;
struct slurm_conf;

/* The path of this machine's slurm.conf, looked for as Slurm's commands do: $SLURM_CONF, else
 * /etc/slurm/slurm.conf, else /run/slurm/conf/slurm.conf, which a slurmd or sackd without a file of
 * its own keeps.  NULL, and ERROR_SETTINGS, where there is none. */
const char *slurm_conf_find(struct error *err);

/* Read a slurm.conf with all that it includes.  ERROR_SETTINGS names file and line. */
int slurm_conf_read(struct slurm_conf **conf, const char *path, struct error *err);

#endif

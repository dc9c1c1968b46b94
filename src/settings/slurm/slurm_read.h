/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_READ_H
#define FAIRMILL_SETTINGS_SLURM_READ_H

struct error;
struct slurm_conf;

/* Read a slurm.conf with all that it includes.  ERROR_SETTINGS names file and line. */
int slurm_conf_read(struct slurm_conf **conf, const char *path, struct error *err);

#endif

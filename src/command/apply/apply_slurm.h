/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_APPLY_APPLY_SLURM_H
#define FAIRMILL_COMMAND_APPLY_APPLY_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct present_job;
struct site_update;

/* The questions to slurmctld, and the updates, through sprio and scontrol. */

struct slurm_access {
    const char *conf;    /* value of SLURM_CONF if that is not set; "": none */
    int64_t deadline_ms; /* clock_milliseconds() */
};

/* The configuration of slurmctld, as `scontrol show config` prints it. */
struct slurm_config {
    char *cluster;
    char *priority_type;      /* such as `priority/multifactor` */
    char *site_factor_plugin; /* "" if not set */
    uint64_t weight_fairshare;
    bool limits_rate; /* SlurmctldParameters has rl_enable */
};

/*
 * Reads the configuration of slurmctld.  Fails with ERROR_GONE if slurmctld does not answer, and
 * with ERROR_SETTINGS if scontrol cannot be executed or finds no valid slurm.conf.  The caller
 * frees it with slurm_config_free(), also after an error.
 */
int slurm_config_read(struct slurm_config *config, const struct slurm_access *access,
                      struct error *err);
void slurm_config_free(struct slurm_config *config);

/*
 * Reads the pending jobs and their site factors.  sprio omits jobs that are held, that depend on
 * others or whose begin time is in the future.  Fails like slurm_config_read().  The caller frees
 * `*jobs`.
 */
int slurm_jobs_read(struct present_job **jobs, size_t *count, const struct slurm_access *access,
                    struct error *err);

/* The result of updates. */
struct slurm_updated {
    size_t ended; /* jobs that have ended, started or were unknown to slurmctld */
};

/*
 * Executes the updates with one scontrol process.  Stops at the first sign that slurmctld is away
 * (ERROR_GONE), or that it rejects updates from this user (ERROR_DENIED).  If updates fail for
 * other reasons, executes the others, and then fails with ERROR_OTHER and the first message.  Jobs
 * that have ended are not an error.
 */
int slurm_update(const struct site_update *updates, size_t count, const struct slurm_access *access,
                 struct slurm_updated *updated, struct error *err);

#endif

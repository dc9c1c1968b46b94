/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_TRES_MINUTES_H
#define FAIRMILL_SOURCE_TRES_MINUTES_H

#include <stddef.h>
#include <stdint.h>

struct accounting;
struct error;
struct source;
struct tree;

/*
 * The columns GrpTRESMins and TRESRunMins of sshare, for example `cpu=100,gres/gpu=5`.  Few
 * associations have such values.
 */
struct tres_minutes;

/*
 * Reads both columns.  TRESRunMins is known only if slurm.conf enforces limits, because slurmctld
 * does not compute it otherwise.  If slurm.conf does not enforce limits, no association has a limit
 * and no TRES is kept (source->kept), sets `*minutes` to NULL.  Call this in the source's snapshot;
 * the layout must have a queue.  Returns -1 on error.
 */
int tres_minutes_read(struct tres_minutes **minutes, const struct source *source,
                      const struct accounting *accounting, const struct tree *tree, uint64_t now,
                      struct error *err);
void tres_minutes_destroy(struct tres_minutes *minutes);

/*
 * A member is NULL if the node lacks this value.  With enforced limits, the root always has all of
 * the cluster's TRES in `running`, even if they are 0.
 */
struct tres_minutes_texts {
    const char *group_limit, *running;
};
struct tres_minutes_texts tres_minutes_of(const struct tres_minutes *minutes, uint32_t node);

/* Loads the values of a node into the processor's cache.  `minutes` may be NULL. */
void tres_minutes_fetch(const struct tres_minutes *minutes, uint32_t node);

/*
 * Return the TRES-seconds that running jobs may still use until their time limits, of the kept TRES
 * with index `tres`: the jobs of a node and everything below it, or the jobs of a QOS.
 */
uint64_t tres_minutes_running(const struct tres_minutes *minutes, uint32_t node, size_t tres);
uint64_t tres_minutes_running_in_qos(const struct tres_minutes *minutes, uint64_t qos, size_t tres);

#endif

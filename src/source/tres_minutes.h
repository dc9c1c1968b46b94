/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_TRES_MINUTES_H
#define FAIRMILL_SOURCE_TRES_MINUTES_H

#include <stdint.h>

struct accounting;
struct error;
struct source;
struct tree;

/* sshare's columns GrpTRESMins and TRESRunMins, of the few associations that have something
 * there: `cpu=100,gres/gpu=5`. */
struct tres_minutes;

/* Inside the source's snapshot, for a layout that has limits; NULL where there are none.  What jobs
 * may still use is known only where slurmctld counts it: where a slurm.conf says that limits are
 * enforced. */
int tres_minutes_read(struct tres_minutes **minutes, const struct source *source,
                      const struct accounting *accounting, const struct tree *tree, uint64_t now,
                      struct error *err);
void tres_minutes_destroy(struct tres_minutes *minutes);

/* Both are NULL where the node has none.  The root has what all running jobs may still use, also
 * where that is nothing: every TRES of the cluster is there. */
struct tres_minutes_texts {
    const char *group_limit, *running;
};
struct tres_minutes_texts tres_minutes_of(const struct tres_minutes *minutes, uint32_t node);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CHARGE_JOBS_H
#define FAIRMILL_CHARGE_JOBS_H

#include <stdint.h>

struct charge_term;
struct computation;
struct db;
struct error;
struct job_row;
struct sealing;
struct settings;
struct suspension;

/* What the job rows of a cluster told besides usage.  UINT64_MAX where there was none. */
struct jobs_seen {
    uint64_t count;
    uint64_t newest;       /* instant up to now in a row; 0 */
    uint64_t oldest_end;   /* likewise below */
    uint64_t first_charge; /* the first second that counts */
};
extern const struct jobs_seen jobs_seen_none;

/* Somebody who looks at each charge of a job row; `suspension` is NULL, or the time for which the
 * term is taken back: these come before the row's own charge. */
struct charge_watcher {
    void (*see)(void *context, const struct job_row *row, const struct charge_term *term,
                const struct suspension *suspension);
    void *context;
};

/* Read the rollups that stand for jobs, and the job rows that the sealing asks for, which ended
 * after `cutoff` or are open, and charge each to its association: those below the seal in the
 * sealing's sums, the others in the tree. *seen may know an older end. */
int charge_jobs(struct computation *computation, struct sealing *sealing,
                const struct settings *settings, struct db *source, const char *cluster,
                uint64_t cutoff, struct jobs_seen *seen, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_BATCHES_H
#define FAIRMILL_RUN_BATCHES_H

#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct batch;
struct batch_records;
struct settings;

/* Compute all instants of a replay, again from the last one that was taken where a database lets go
 * of us for a while.  *source is the replay's session, and may be another one then.  *readings is
 * how often the jobs were read. */
int batch_run(struct batch *batch, const struct settings *settings, struct db **source,
              size_t *readings, struct error *err);

/* Read what runs noted, and people entered, of a cluster from results that may not be there yet. */
int batch_records_find(const struct settings *settings, const char *cluster,
                       struct batch_records *records, struct error *err);

struct times;

/* Which instants of the past a command is about. */

struct past_times_request {
    const int64_t *since; /* NULL: as far as jobs and history_days go back */
    const int64_t *until; /* NULL: now */
    uint64_t every_s;     /* not 0; whole days begin at midnight, of the settings' zone */
};

/* Add those of a cluster, ascending, all of them over.  `source' is read in a snapshot of its own.
 */
int past_times_find(const struct past_times_request *asked, const struct settings *settings,
                    struct db *source, const char *cluster, struct times *times, struct error *err);

#endif

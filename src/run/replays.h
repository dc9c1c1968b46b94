/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_REPLAYS_H
#define FAIRMILL_RUN_REPLAYS_H

#include <stddef.h>

struct db;
struct error;
struct replay;
struct replay_notes;
struct settings;

/* Compute all instants of a replay, again from the last one that was taken where a database lets go
 * of us for a while.  *source is the replay's session, and may be another one then.  *readings is
 * how often the jobs were read. */
int replay_run(struct replay *replay, const struct settings *settings, struct db **source,
               size_t *readings, struct error *err);

/* Read what runs noted, and people entered, of a cluster from results that may not be there yet. */
int replay_notes_find(const struct settings *settings, const char *cluster,
                      struct replay_notes *notes, struct error *err);

#endif

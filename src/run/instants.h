/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_INSTANTS_H
#define FAIRMILL_RUN_INSTANTS_H

#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct instants;
struct settings;

/* Which instants of the past a command is about. */

struct instants_asked {
    const int64_t *since; /* NULL: as far as jobs and history_days go back */
    const int64_t *until; /* NULL: now */
    uint64_t every_s;     /* not 0; whole days begin at midnight, of the settings' zone */
};

/* Add those of a cluster, ascending, all of them over.  `source' is read in a snapshot of its own.
 */
int instants_find(const struct instants_asked *asked, const struct settings *settings,
                  struct db *source, const char *cluster, struct instants *instants,
                  struct error *err);

#endif

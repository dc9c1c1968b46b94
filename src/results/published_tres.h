/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_TRES_H
#define FAIRMILL_RESULTS_PUBLISHED_TRES_H

#include <stdint.h>

struct error;
struct published;
struct published_cluster;

/* Takes the used minutes of an association by TRES, such as `cpu=100,gres/gpu=5`, or NULL. */
typedef void published_tres_taker(void *context, int64_t id, const char *minutes);

/*
 * Calls `take` for each published association of a cluster, in ascending order of id.  The text is
 * valid during the call.  Returns -1 on error.
 */
int published_tres_read(const struct published *published, const struct published_cluster *cluster,
                        published_tres_taker *take, void *context, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_TRES_H
#define FAIRMILL_RESULTS_PUBLISHED_TRES_H

#include <stdint.h>

#include "core/usage/kept_tres.h"

struct error;
struct published;
struct published_cluster;
struct row_ids;

/* Takes the used minutes of an association by TRES, such as `cpu=100,gres/gpu=5`, or NULL. */
typedef void published_tres_taker(void *context, int64_t id, const char *minutes);

/*
 * Calls `take` for each published association of a cluster with one of these ids (NULL: for all),
 * in ascending order of id.  The text is valid during the call.  Returns -1 on error.
 */
int published_tres_read(const struct published *published, const struct published_cluster *cluster,
                        const struct row_ids *ids, published_tres_taker *take, void *context,
                        struct error *err);

/*
 * The usage of an association by TRES, with everything below it, in TRES-seconds.  Number 1 of
 * struct tres_numbers is [0]; free numbers have the value 0.
 */
struct published_seconds {
    double used[KEPT_TRES_LIMIT]; /* decayed */
    int64_t
        running[KEPT_TRES_LIMIT]; /* may still be used by running jobs until their time limits */
};
typedef void published_seconds_taker(void *context, int64_t id,
                                     const struct published_seconds *seconds);

/*
 * Calls `take` for each published association of a cluster with one of these ids (NULL: for all),
 * in ascending order of id.  `seconds` is valid during the call.  tres_names_read() returns the
 * names of the TRES.  Returns -1 on error.
 */
int published_seconds_read(const struct published *published,
                           const struct published_cluster *cluster, const struct row_ids *ids,
                           published_seconds_taker *take, void *context, struct error *err);

#endif

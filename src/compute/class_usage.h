/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_CLASS_USAGE_H
#define FAIRMILL_COMPUTE_CLASS_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct settings;

/* What the jobs of a cluster have used, decayed as of an instant, by the partition in which they
 * ran, and by their QOS.  What credits, debits and rollups add belongs to no job. */

struct class_usage {
    char *name;   /* UTF-8; "" where a job has none */
    double usage; /* in the unit of the cluster's usage */
};
struct class_usages {
    struct class_usage *list; /* the largest first */
    size_t count;
};
struct usage_by_class {
    struct class_usages partitions, qos;
};

/* Whether the settings' layout has partitions and QOS. */
bool class_usage_is_there(const struct settings *settings);
/* Read all jobs, as a full run does; to be freed also where this fails. */
int class_usage_read(struct usage_by_class *usage, const struct settings *settings,
                     struct db *source, const char *cluster, int64_t as_of, struct error *err);
void class_usage_free(struct usage_by_class *usage);

#endif

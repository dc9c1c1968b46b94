/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_HASHES_H
#define FAIRMILL_RESULTS_DAY_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct day_sum;
struct days;
struct db;
struct db_value;
struct error;

/* A hash of the rows that fairmill_usage_day has of each day, kept in fairmill_usage_hash.  A full
 * run that comes to the same sums need not read those that are stored, which are more than the
 * associations by the number of days. */
struct day_hashes;

/* Read those of the cluster, for these days; `as_of` is that of the run that wrote rows last, 0:
 * none did. */
int day_hashes_read(struct db *db, const struct db_value *cluster, const struct days *days,
                    uint64_t as_of, struct day_hashes **hashes, struct error *err);
void day_hashes_destroy(struct day_hashes *hashes);

/* Whether these sums, all that the day has, are what is stored.  One day in 32 always counts as
 * different, so that rows which somebody else has changed are found in time. */
bool day_hashes_agree(const struct day_hashes *hashes, uint32_t day, const struct day_sum *sums,
                      size_t count);
/* These sums are stored now. */
void day_hashes_set(struct day_hashes *hashes, uint32_t day, const struct day_sum *sums,
                    size_t count);
/* A row is removed, and one is added; either may be NULL. */
void day_hashes_replace(struct day_hashes *hashes, uint32_t day, const struct day_sum *old,
                        const struct day_sum *new);

/* Whether a sum has a row in the tables: it is above 0.  NULL has none. */
bool day_sum_has_row(const struct day_sum *sum);

/* Write those that have changed. */
int day_hashes_write(struct day_hashes *hashes, struct error *err);

#endif

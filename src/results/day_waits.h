/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_WAITS_H
#define FAIRMILL_RESULTS_DAY_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct days;
struct error;
struct key_counts;
struct qos_row;
struct row_hash;

/*
 * The number of jobs that started on each day, by association, partition, QOS and the time for
 * which they had waited.  A run counts jobs while it reads them, and wait_rows_write() writes the
 * counts.  A key of a struct key_spool stands for the day, the association, the names and the
 * waiting time.
 */
struct day_waits;

/* A job that has started.  Times are in epoch seconds. */
struct started_job {
    uint64_t association, qos; /* ids */
    const char *partition;     /* bytes as in the accounting database */
    size_t partition_length;
    uint64_t since; /* the job could start from this time on */
    uint64_t start;
};

/* What a count stands for. */
struct wait_key {
    uint64_t association;
    const char *partition, *qos; /* in UTF-8, not NUL-terminated; empty if the QOS is unknown */
    size_t partition_length, qos_length;
    int64_t bucket_s; /* upper bound of the waiting time in seconds, or -1 */
};

/*
 * Creates an empty collection.  `days` and the names of `qos` must outlive it.  The caller frees it
 * with day_waits_destroy(), which accepts NULL.
 */
struct day_waits *day_waits_create(const struct days *days, const struct qos_row *qos,
                                   size_t qos_count);
void day_waits_destroy(struct day_waits *waits);

/*
 * Counts a job.  Ignores a job that starts after days->now.  If days->anew is set, also ignores
 * checkpointed jobs that started before the first of the days, because a run that reads all jobs
 * does not read all jobs of earlier days.  Returns -1 if the disk is full, or if there are too many
 * different pairs of partition and QOS.
 */
int day_waits_add(struct day_waits *waits, bool checkpointed, const struct started_job *job,
                  struct error *err);

/* Calls key_spool_spill_rest() for all counts. */
int day_waits_spill_rest(struct day_waits *waits, struct error *err);

/*
 * Returns the number of days with an index: those of struct days, and other days on which counted
 * jobs started.  day_waits_start() returns the start of a day in epoch seconds.
 */
size_t day_waits_count(const struct day_waits *waits);
uint64_t day_waits_start(const struct day_waits *waits, size_t day);
/* Returns the index of the day that begins at `start`; adds the day if it has none. */
size_t day_waits_day(struct day_waits *waits, uint64_t start);

/*
 * Sets `*counts` to the counts of a day.  The caller frees counts->list, even after an error.  Days
 * must be taken in ascending order of their index; day_waits_rewind() begins again.  Returns -1 if
 * the temporary file cannot be read.
 */
int day_waits_take(struct day_waits *waits, bool checkpointed, size_t day,
                   struct key_counts *counts, struct error *err);
void day_waits_rewind(struct day_waits *waits);

/* Returns the meaning of a key, and the index of its day. */
struct wait_key day_waits_key(const struct day_waits *waits, uint64_t key);
size_t day_waits_key_day(uint64_t key);

/* Sets `*key` to the key for the day with index `day`.  Returns false if a part is out of range. */
bool day_waits_find(struct day_waits *waits, size_t day, const struct wait_key *parts,
                    uint64_t *key);

/*
 * Adds `jobs` jobs with a key to a row hash.  `rows` becomes a number of jobs, and the hash is a
 * sum over jobs.  So the hash of two counts is the sum of their hashes, and an incremental run can
 * add to stored counts without reading all of them.
 */
void wait_key_add_hash(struct row_hash *hash, const struct wait_key *key, uint64_t jobs);

#endif

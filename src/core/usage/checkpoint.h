/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHECKPOINT_H
#define FAIRMILL_CORE_USAGE_CHECKPOINT_H

#include <stddef.h>

#include "core/number/wide.h"

/*
 * The checkpoint: stored usage sums of jobs that ended long ago.  With them, the next run does not
 * need to read these jobs.
 *
 * Usage sums are integers that do not depend on `now` until the decay epoch advances
 * (decay_table.h).  So the sum over the jobs that ended before a given time does not change: it is
 * not aged and not rounded.  A run adds the jobs that ended later or are still open.  The result is
 * exactly the sum over all jobs.
 */

/* The usage sum of all job rows with one association id, even if no such association exists. */
struct usage_sum {
    uint64_t id;
    struct wide sum;
};
struct usage_sums {
    struct usage_sum *rows;
    /* `tres_count` sums by TRES for each row, in the order of the rows; see compute/tres_usage.h */
    int128 *tres;
    size_t tres_count;
    size_t count, room;
    struct id_index *places;
};
struct usage_sums *usage_sums_create(size_t tres_count);
void usage_sums_destroy(struct usage_sums *sums);
/* The sums of one id: the charge and, if there are any, the sums by TRES. */
struct usage_place {
    struct wide *sum;
    int128 *tres;
};
/* Like usage_sums_of(), for all sums of an id. */
struct usage_place usage_sums_place(struct usage_sums *sums, uint64_t id);
/* Returns the sums by TRES of a row. */
static inline int128 *usage_sums_tres(const struct usage_sums *sums, size_t row)
{
    return sums->tres + row * sums->tres_count;
}
/*
 * Returns the sum of an id.  If the id is missing, first adds it with the sum 0.  The pointer is
 * valid until another id is added.
 */
struct wide *usage_sums_of(struct usage_sums *sums, uint64_t id);
/* Returns the row of an id, or NULL. */
struct usage_sum *usage_sums_find(const struct usage_sums *sums, uint64_t id);
/* Returns pointers to all rows in ascending order of id.  The caller frees the array. */
const struct usage_sum **usage_sums_by_id(const struct usage_sums *sums);
/*
 * Returns the hash of the sums of one id.  `tres` is the text that is stored for the sums by TRES,
 * of `length` bytes, which may be 0.  The hash of all sums is the total of their single hashes, so
 * it does not depend on the order of the sums.
 */
uint64_t usage_sum_hash(uint64_t id, const struct wide *sum, const char *tres, size_t length);

/* The sums of one id as they are stored; `tres` has the sums by TRES (compute/tres_usage.h). */
struct stored_sum {
    uint64_t id;
    struct wide sum;
    const char *tres;
    size_t tres_length;
};

/* A set of keys of job rows. */
struct job_keys {
    uint64_t *keys;
    size_t count;
};
void job_keys_add(struct job_keys *keys, uint64_t key);
/* Sorts the keys and removes duplicates.  The functions below require sorted keys. */
void job_keys_sort(struct job_keys *keys);
/* Returns the keys that are not in `others`; free them with job_keys_free(). */
struct job_keys job_keys_without(const struct job_keys *keys, const struct job_keys *others);
uint64_t job_keys_hash(const struct job_keys *keys);
void job_keys_free(struct job_keys *keys);

/*
 * The number and the hash sum of the checkpointed job rows, by the day (UTC) in which they ended.
 * A run that reads the rows of a day again can detect that they have changed.
 */
#define CHECKPOINT_SLICE_S 86400u
struct day_hash {
    uint64_t rows, hash;
};
struct day_hashes {
    struct day_hash *of_day;
    size_t count;            /* number of days from 1970 on */
    struct day_hash rollups; /* for the rollups that replace purged jobs in the sums */
};
/* Adds the hash of a row, or subtracts it if `negative`. */
void day_hash_add(struct day_hash *slice, uint64_t hash, bool negative);
void day_hashes_add(struct day_hashes *hashes, uint64_t time_end, uint64_t hash, bool negative);
/* Replaces the number and hash sum of the rows of a day.  `day` is the number of days since
 * 1970-01-01. */
void day_hashes_set(struct day_hashes *hashes, uint64_t day, struct day_hash hash);
/* Returns the number and hash sum of the rows of a day, or zeros for a day without rows. */
struct day_hash day_hash_of(const struct day_hashes *hashes, uint64_t day);
bool day_hash_same(struct day_hash one, struct day_hash other);
void day_hashes_free(struct day_hashes *hashes);

/*
 * The description of the sums; one row per cluster.  Times are in epoch seconds; 0 means none or
 * unknown.
 */
struct checkpoint {
    bool kept;                /* a checkpoint exists */
    uint64_t as_of;           /* time of the run that stored the checkpoint */
    uint64_t full_as_of;      /* time of the last full run */
    uint64_t cutoff;          /* the sums exclude rows with a time_end at or before this time */
    uint64_t checkpointed_to; /* the checkpoint time: the sums include rows that ended before it */
    uint64_t start;           /* start of the decay table: the sums exclude earlier usage */
    uint64_t jobs_from;       /* before this time, the sums include rollups instead of jobs */
    uint64_t oldest_end;      /* oldest time_end of the included rows, or UINT64_MAX */
    uint64_t first_charge;    /* first second with usage in the sums, or UINT64_MAX */
    uint64_t newest_end;      /* newest time_end of all ended rows */
    uint64_t sums_hash, open_hash;
    uint64_t checked_to; /* the current round of checks has read rows that ended before this time */
    char *source;        /* identity of the accounting database */
    char *basis;         /* everything else that the sums depend on; lines of `name value` */
};
void checkpoint_free(struct checkpoint *checkpoint);
/* Returns the end of the period that the sums cover.  All their usage is before this time. */
uint64_t checkpoint_reach(const struct checkpoint *checkpoint);
/* Returns a hash of all fields.  The hash is stored with the checkpoint to detect damage. */
uint64_t checkpoint_hash(const struct checkpoint *checkpoint);
/*
 * Returns the name of the first line in which two bases differ, or NULL if they are equal.  The
 * caller frees the name.
 */
char *checkpoint_basis_difference(const char *one, const char *other);

#endif

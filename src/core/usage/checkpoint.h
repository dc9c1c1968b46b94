/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHECKPOINT_H
#define FAIRMILL_CORE_USAGE_CHECKPOINT_H

#include <stddef.h>

#include "core/number/wide.h"

/* The seal: what is kept of jobs that ended long ago, so that the next run need not read them.
 *
 * Usage sums are integers on a grid that does not depend on `now` (decay_table.h), so the sum over
 * the jobs that ended before an instant stays as it is: it is never aged and never rounded.  A run
 * that adds the jobs which ended since, or are open, gets the bits that reading all of them
 * gives. */

/* Sums by the association id that job rows have, whether or not there is such an association. */
struct usage_sum {
    uint64_t id;
    struct wide sum;
};
struct usage_sums {
    struct usage_sum *rows;
    size_t count, room;
    struct id_index *places;
};
struct usage_sums *usage_sums_create(void);
void usage_sums_destroy(struct usage_sums *sums);
/* The sum of an id, made as 0 where there is none; it holds until the next is made. */
struct wide *usage_sums_of(struct usage_sums *sums, uint64_t id);
/* NULL where there is none. */
struct usage_sum *usage_sums_find(const struct usage_sums *sums, uint64_t id);
/* All of them by ascending id, to be freed. */
const struct usage_sum **usage_sums_by_id(const struct usage_sums *sums);
/* What a sum adds to the hash of all sums, which does not depend on their order. */
uint64_t usage_sum_hash(uint64_t id, const struct wide *sum);

/* Keys of job rows. */
struct job_keys {
    uint64_t *keys;
    size_t count;
};
void job_keys_add(struct job_keys *keys, uint64_t key);
/* Put them in order, each once; the functions below want that. */
void job_keys_sort(struct job_keys *keys);
/* Those of `keys` that `others` lacks. */
struct job_keys job_keys_without(const struct job_keys *keys, const struct job_keys *others);
uint64_t job_keys_hash(const struct job_keys *keys);
void job_keys_free(struct job_keys *keys);

/* What the job rows in the sums were: by the day of UTC in which they ended their number, and the
 * sum of their hashes.  By it a run that reads the rows of a day again knows whether they have
 * changed. */
#define CHECKPOINT_SLICE_S 86400u
struct day_hash {
    uint64_t rows, hash;
};
struct day_hashes {
    struct day_hash *of_day;
    size_t count;            /* days, from 1970 on */
    struct day_hash rollups; /* which replace purged jobs in the sums */
};
/* Add a row to a slice, or take it off. */
void day_hash_add(struct day_hash *slice, uint64_t hash, bool negative);
void day_hashes_add(struct day_hashes *hashes, uint64_t time_end, uint64_t hash, bool negative);
/* Set that of a day. */
void day_hashes_set(struct day_hashes *hashes, uint64_t day, struct day_hash hash);
/* That of a day; of one without rows it is 0. */
struct day_hash day_hash_of(const struct day_hashes *hashes, uint64_t day);
bool day_hash_same(struct day_hash one, struct day_hash other);
void day_hashes_free(struct day_hashes *hashes);

/* What is known of the sums, a row for each cluster.  Times are epoch seconds, 0 for none. */
struct checkpoint {
    bool kept;                /* there is one */
    uint64_t as_of;           /* of the run that kept it */
    uint64_t full_as_of;      /* of the last run that read all */
    uint64_t cutoff;          /* the sums are over rows with a time_end behind this ... */
    uint64_t checkpointed_to; /* ... and before this */
    uint64_t start;           /* what they charged before this instant did not count */
    uint64_t jobs_from;       /* what jobs did before this instant is in the sums by rollups */
    uint64_t oldest_end;      /* of these rows, UINT64_MAX where there is none; likewise below */
    uint64_t first_charge;    /* the first second that counts in the sums */
    uint64_t newest_end;      /* of all rows that had ended */
    uint64_t sums_hash, open_hash;
    uint64_t checked_to; /* rows that ended before this were read again, in this round */
    char *source;        /* the identity of the database they are from */
    char *basis;         /* all else that they depend on, a line each: `name value` */
};
void checkpoint_free(struct checkpoint *checkpoint);
/* The instant before which all lies that the sums may have in them. */
uint64_t checkpoint_reach(const struct checkpoint *checkpoint);
/* A hash of everything in it.  It is stored beside the seal, to find damage. */
uint64_t checkpoint_hash(const struct checkpoint *checkpoint);
/* The name that the first line has in which two bases differ, to be freed; NULL where they are
 * the same. */
char *checkpoint_basis_difference(const char *one, const char *other);

#endif

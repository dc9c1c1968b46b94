/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_KEY_SPOOL_H
#define FAIRMILL_RESULTS_KEY_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct key_spool;

/*
 * Counts keys, which are numbers of 64 bits.  Callers add keys in any order, and take the counts in
 * ascending order of the keys.  Keys that exceed the memory limit go to a temporary file.
 */

struct key_count {
    uint64_t key, count;
};
/* Counts in ascending order of the keys. */
struct key_counts {
    struct key_count *list;
    size_t count;
};

/* The caller frees the spool with key_spool_destroy(), which accepts NULL. */
struct key_spool *key_spool_create(void);
void key_spool_destroy(struct key_spool *spool);

/* Adds a key.  Returns -1 if the disk is full. */
int key_spool_add(struct key_spool *spool, uint64_t key, struct error *err);

/*
 * If a temporary file is in use, writes all keys to it and frees their memory.  Returns -1 if the
 * disk is full.
 */
int key_spool_spill_rest(struct key_spool *spool, struct error *err);

/*
 * Sets `*counts` to the counts of all keys up to `last` that were not taken yet.  The caller frees
 * counts->list, even after an error.  Returns -1 if the file cannot be read.
 */
int key_spool_take(struct key_spool *spool, uint64_t last, struct key_counts *counts,
                   struct error *err);

/* Makes key_spool_take() begin again with the lowest key. */
void key_spool_rewind(struct key_spool *spool);

#endif

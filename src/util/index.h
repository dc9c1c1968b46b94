/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_INDEX_H
#define FAIRMILL_UTIL_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Lookups by number and by name. */

#define INDEX_NONE UINT32_MAX

/*
 * A map from a 64-bit id to a place in an array.  A run looks up an id for each job row.  A plain
 * array holds the small ids, which slurmdbd assigns without gaps.  A hash table holds the large
 * ids, such as OpenPBS's unlisted entities (core/usage/entity.h) and the ids of damaged rows.
 */
struct id_index *id_index_create(void);
/*
 * Maps `id` to `place` and returns INDEX_NONE.  If the id already has a place, keeps and returns
 * that place.
 */
uint32_t id_index_add(struct id_index *index, uint64_t id, uint32_t place);
/* Returns the place of `id`, or INDEX_NONE if the id was not added. */
uint32_t id_index_find(const struct id_index *index, uint64_t id);
void id_index_destroy(struct id_index *index);

/*
 * A set of names that numbers each distinct name from 0 in the order in which they were added.  A
 * million associations share few account names, and numbers are compared faster than strings.
 */
struct names *names_create(void);
/* Returns the number of the name.  If the name is new, copies and adds it. */
uint32_t names_add(struct names *names, const char *bytes, size_t length);
/* Returns the number of the name, or INDEX_NONE if it was not added. */
uint32_t names_find(const struct names *names, const char *bytes, size_t length);
/* Returns the NUL-terminated name, which is valid until names_destroy(). */
const char *names_text(const struct names *names, uint32_t number);
/* Returns the length in bytes.  The length exceeds strlen() if the name contains a NUL. */
size_t names_length(const struct names *names, uint32_t number);
uint32_t names_count(const struct names *names);
void names_destroy(struct names *names);

/*
 * Returns the hash of `count` numbers for storing in a database.  The hash does not depend on the
 * byte order of the processor, so that stored hashes remain valid if fairmill moves to another
 * machine.
 */
uint64_t hash_words(const uint64_t *words, size_t count);

#endif

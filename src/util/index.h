/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_INDEX_H
#define FAIRMILL_UTIL_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* The two look-ups of a run: by number, and by name. */

#define INDEX_NONE UINT32_MAX

/* From a 64-bit id to where it stands.  Every id is met again for each job row, so this is a
 * plain array where ids are dense, as slurmdbd makes them, and an open-addressed table where a
 * row lies about its id. */
struct id_index *id_index_create(void);
/* Store id -> place; INDEX_NONE, or the place that the id had already (which it keeps). */
uint32_t id_index_add(struct id_index *index, uint64_t id, uint32_t place);
uint32_t id_index_find(const struct id_index *index, uint64_t id);
void id_index_destroy(struct id_index *index);

/* Names, each kept once and numbered from 0 in order of arrival: a million associations share
 * few account names, and numbers compare faster than bytes. */
struct names *names_create(void);
/* The number of these bytes; the bytes are copied when they are new. */
uint32_t names_add(struct names *names, const char *bytes, size_t length);
/* The number of bytes that were added before; INDEX_NONE where they were not. */
uint32_t names_find(const struct names *names, const char *bytes, size_t length);
/* The NUL-terminated bytes of a number; they hold until names_destroy(). */
const char *names_text(const struct names *names, uint32_t number);
/* How many bytes these are: more than strlen() says where one of them is NUL. */
size_t names_length(const struct names *names, uint32_t number);
uint32_t names_count(const struct names *names);
void names_destroy(struct names *names);

/* The hash of numbers that is kept in a database: the same on processors of either order of bytes,
 * so that a run on another machine finds what is kept unchanged. */
uint64_t hash_words(const uint64_t *words, size_t count);

#endif

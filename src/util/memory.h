/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_MEMORY_H
#define FAIRMILL_UTIL_MEMORY_H

#include <stddef.h>

/* Memory that is there or ends the program.
 *
 * Nothing is half done when memory runs out: what was not committed does not exist, and the
 * next run computes the same.  So these never return NULL; they say `out of memory` on stderr
 * and exit with status 1, the one exception to "only main.c exits". */

void *memory_zeroed(size_t count, size_t size);
void *memory_resized(void *old, size_t count, size_t size);
/* An array of `count` elements with room for one more.  It has only ever grown by this, one element
 * at a time, and its size doubles, so nobody keeps its room. */
void *memory_grown(void *array, size_t count, size_t size);
/* The place of one more element at the end of such an array: what `array` and `count` point to
 * grows.  Each of the two must be free of side effects. */
#define memory_append(array, count) \
    (*(array) = memory_grown(*(array), *(count), sizeof **(array)), &(*(array))[(*(count))++])
char *memory_text(const char *text);
/* A NUL-terminated copy of bytes, up to the first NUL among them. */
char *memory_bytes(const char *bytes, size_t length);

/* What to do first, in the place of saying that: once, with memory that is kept for it.  It returns
 * the exit status.  It may be called wherever memory is asked for, so what is at work then is left
 * as it stands.  NULL: nothing any more. */
void memory_before_end(int (*act)(void *context), void *context);

/* From now on an array of a megabyte or more goes back to the system as soon as it is freed.  The
 * GNU library would keep it once it has seen one come and go, and a run would need a tenth more. */
void memory_give_back(void);

/* What lives as long as a run: taken from an arena piece by piece, given back all at once. */
struct arena *arena_create(void);
void *arena_take(struct arena *arena, size_t size);
/* A NUL-terminated copy. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
void arena_destroy(struct arena *arena);

#endif

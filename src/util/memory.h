/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_MEMORY_H
#define FAIRMILL_UTIL_MEMORY_H

#include <stddef.h>

/*
 * Memory allocation that ends the program on failure.
 *
 * These functions never return NULL.  If memory runs out, they print `out of memory` on standard
 * error and exit with status 1.  This is safe because uncommitted results do not exist for other
 * programs, and the next run computes the same values.  This is the only exception to the rule that
 * only main.c exits.
 */

void *memory_zeroed(size_t count, size_t size);
void *memory_resized(void *old, size_t count, size_t size);
/*
 * Makes room for one more element in an array of `count` elements and returns the array.  The array
 * must have been grown only by this function, one element at a time.  Its capacity doubles and
 * follows from `count`, so that callers need not store it.
 */
void *memory_grown(void *array, size_t count, size_t size);
/*
 * Appends an uninitialized element and evaluates to its address.  `array` and `count` point to the
 * array and its count, which grow.  Both arguments are evaluated several times and must have no
 * side effects.
 */
#define memory_append(array, count) \
    (*(array) = memory_grown(*(array), *(count), sizeof **(array)), &(*(array))[(*(count))++])
char *memory_text(const char *text);
/* Returns a NUL-terminated copy that ends at the first NUL within `length` bytes. */
char *memory_bytes(const char *bytes, size_t length);

/*
 * Sets a function that is called once if memory runs out, in place of the message.  The function's
 * return value is the exit status.  8 MB are reserved for the function and freed before the call.
 * Any allocation may call the function, so data structures may be in an intermediate state.  NULL
 * removes the function.  The function is set for the calling thread only.
 */
void memory_before_end(int (*act)(void *context), void *context);

/*
 * From now on, arrays of 1 MB or more are returned to the system when they are freed.  By default,
 * the GNU library raises this limit after the first such free(), so that a run needs a tenth more
 * memory.  Smaller arrays are not returned: a full run, which allocates some for each day, would
 * have twice as many page faults.
 */
void memory_give_back(void);

/*
 * An arena is memory that is allocated in pieces and freed all at once by arena_destroy(), which
 * accepts NULL.
 */
struct arena *arena_create(void);
void *arena_take(struct arena *arena, size_t size);
/* Returns a NUL-terminated copy in the arena. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
void arena_destroy(struct arena *arena);

#endif

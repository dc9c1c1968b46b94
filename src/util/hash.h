/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_HASH_H
#define FAIRMILL_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of numbers that is kept in a database: the same on processors of either order of bytes,
 * so that a run on another machine finds what is kept unchanged. */
uint64_t hash_words(const uint64_t *words, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TURNED_H
#define FAIRMILL_CORE_TURNED_H

#include <stddef.h>
#include <stdint.h>

/* Who changes places with whom between two orders of the same members.  Places begin at 1, equal
 * ones have the same, and 0 is no place.  Two members are turned where one is ahead of the other in
 * one order and behind it in the other: who is equal in either is not. */

/* turned[i] is with how many others member i is turned.  Takes count x log(count). */
void places_turned(const uint32_t *before, const uint32_t *after, size_t count, uint32_t *turned);

#endif

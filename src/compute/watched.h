/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_WATCHED_H
#define FAIRMILL_WATCHED_H

struct computation;

/* List the associations, also removed ones, whose use may be charged to the computation's watched
 * one or below it.  The tree and the rows of associations must be there. */
void watched_find(struct computation *computation);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_ASSOCIATIONS_H
#define FAIRMILL_COMPUTE_ASSOCIATIONS_H

struct computation;
struct error;
struct association_history;

/* The associations of a computation: inside the source's snapshot. */

/* Read the source's small tables, and into `past` (NULL: the instant is now) what it tells of the
 * past of associations. */
int associations_read(struct computation *computation, struct association_history *history,
                      struct error *err);
/* Between the two: sets computation->times to the states of all associations in a time that no run
 * saw, `unseen`. */
int associations_read_times(struct computation *computation, struct association_history *unseen,
                            struct error *err);
/* Then make the computation's tree of them, as they were at the instant of `past`, and its owners.
 * The accounting's rows are used up. */
int associations_place(struct computation *computation, const struct association_history *history,
                       struct error *err);

#endif

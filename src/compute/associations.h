/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_ASSOCIATIONS_H
#define FAIRMILL_COMPUTE_ASSOCIATIONS_H

struct computation;
struct error;
struct association_history;

/*
 * The associations of a computation.  Call these functions in the source's snapshot, in this order.
 */

/*
 * Reads the source's small tables.  For a past time, also reads the changes of associations into
 * `history`.  `history` is NULL if the time is now.  Returns -1 on error.
 */
int associations_read(struct computation *computation, struct association_history *history,
                      struct error *err);
/*
 * Optional: sets computation->times to the states of all associations in `unseen`, a period in
 * which there was no run.  Returns -1 on error.
 */
int associations_read_times(struct computation *computation, struct association_history *unseen,
                            struct error *err);
/*
 * Builds the computation's tree from the associations as they were at the time of `history`, and
 * finds the usage owners.  Frees the accounting's rows.  Returns -1 on error.
 */
int associations_place(struct computation *computation, const struct association_history *history,
                       struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_CAUSES_H
#define FAIRMILL_COMMAND_DIFF_DIFF_CAUSES_H

struct diff_case;
struct differences;
struct error;

/*
 * Finds the causes of the differences between the published values of a cluster and sshare's
 * output.
 *
 * Causes are not guessed.  Each cause is removed by computing the cluster again without it, from
 * the same jobs and for the time of the output.  After all causes are removed, the values should
 * equal the printed values.  These computations need the accounting database.  Without the
 * accounting database, only causes that the published usage shows can be found.
 */

/* Fills `differences`; the caller frees them with diff_causes_free().  The names of associations
 * are copies; `cluster` and `login` are still owned by `asked`.  Returns -1 on error; `differences`
 * then hold no memory. */
int diff_causes_find(const struct diff_case *asked, struct differences *differences,
                     struct error *err);
void diff_causes_free(struct differences *differences);

#endif

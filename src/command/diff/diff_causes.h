/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_CAUSES_H
#define FAIRMILL_COMMAND_DIFF_DIFF_CAUSES_H

struct diff_case;
struct differences;
struct error;

/* What explains the differences between what is published of a cluster and a print of sshare.
 *
 * Nothing is guessed: each cause is taken away by computing the cluster again without it, from the
 * same jobs as of the instant of the print, until there is what slurmctld should have printed.  The
 * accounting database is needed for that; without it there are only the causes that published
 * usage shows. */

/* The answer is to be freed with diff_causes_free(); its names are the cluster's and the print's.
 */
int diff_causes_find(const struct diff_case *asked, struct differences *differences,
                     struct error *err);
void diff_causes_free(struct differences *differences);

#endif

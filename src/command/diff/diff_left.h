/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_LEFT_H
#define FAIRMILL_COMMAND_DIFF_LEFT_H

struct error;
struct finder;

/* The last step of the search: take the printed shares, and then the printed usage.  What the
 * causes pass and second can explain is theirs; the rest of each difference is left. */
int finder_apply_print(struct finder *finder, struct error *err);

#endif

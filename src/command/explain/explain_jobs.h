/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_JOBS_H
#define FAIRMILL_COMMAND_EXPLAIN_JOBS_H

struct error;
struct explained;
struct settings;
struct weights;

/* The heaviest job records of what is explained that may be shown, read from the accounting
 * database as of the instant that is published.  Free them also when this fails. */
int weights_read(struct weights *weights, const struct settings *settings,
                 const struct explained *explained, struct error *err);
void weights_free(struct weights *weights);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_H
#define FAIRMILL_COMMAND_EXPLAIN_H

struct error;
struct explained;
struct job_weights;
struct settings;
struct weights;

/* The heaviest job records of what is explained, read from the accounting database as of the
 * instant that is published; NULL and the reason where that fails. */
struct job_weights *job_weights_read(const struct settings *settings,
                                     const struct explained *explained, struct error *err);
const struct weights *job_weights_told(const struct job_weights *weights);
void job_weights_free(struct job_weights *weights);

#endif

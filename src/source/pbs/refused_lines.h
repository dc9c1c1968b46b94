/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_REFUSED_LINES_H
#define FAIRMILL_SOURCE_PBS_REFUSED_LINES_H

struct error;
struct findings;
struct source;

/* Add a finding if lines of accounting logs could not be read. */
int pbs_refused_find(const struct source *source, struct findings *findings, struct error *err);

#endif

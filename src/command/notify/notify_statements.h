/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NOTIFY_NOTIFY_STATEMENTS_H
#define FAIRMILL_COMMAND_NOTIFY_NOTIFY_STATEMENTS_H

struct error;
struct notify_cluster;

/* Sends the statements of the last month that ended before the last run.  Returns -1 on error. */
int notify_statements(struct notify_cluster *of, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_NOTIFY_NOTIFY_THRESHOLDS_H
#define FAIRMILL_COMMAND_NOTIFY_NOTIFY_THRESHOLDS_H

struct error;
struct notify_cluster;

/* Sends messages about values that are not below their thresholds, and removes the notices of
 * values that are.  Returns -1 on error. */
int notify_thresholds(struct notify_cluster *of, struct error *err);

#endif

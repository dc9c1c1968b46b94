/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FORGET_H
#define FAIRMILL_RESULTS_FORGET_H

struct db;
struct error;
struct publisher;

/* Removing what is known of a cluster that was retired. */

/* ERROR_USAGE where there is no such cluster, or it is not retired. */
int forget_check(struct db *db, const char *cluster, struct error *err);

/* Remove it, in transactions that are short, the fence last: what broke off can be begun again. */
int forget_cluster(const struct publisher *publisher, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_DEPTH_OBLIVIOUS_H
#define FAIRMILL_CORE_DEPTH_OBLIVIOUS_H

struct fairshare;
struct node;

/* rl and k of seed 000; both parents' ratio and rl must be above 0 for k. */
double depth_oblivious_local(const struct fairshare *fairshare, const struct node *node);
double depth_oblivious_k(double parents, double local);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_TRES_H
#define FAIRMILL_RESULTS_PUBLISHED_TRES_H

struct error;
struct published;

/*
 * Checks the name of a TRES that the user asked for; the case of letters does not matter.  Fails
 * with ERROR_USAGE if none of the clusters keeps usage of this TRES; the message lists the TRES
 * that they keep.
 */
int published_check_tres(const struct published *published, const char *asked, struct error *err);

#endif

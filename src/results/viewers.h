/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VIEWERS_H
#define FAIRMILL_RESULTS_VIEWERS_H

#include "report/viewer.h"

struct db;
struct settings;

/* Who asks: the user over the socket, else who runs this.  Everybody is shown to root, to the owner
 * of the settings file, and to the user whose process answers.  What is private is what these
 * settings say. */
struct viewer viewer_of(const struct settings *settings);

/* Add what is private on each cluster that was ever published, by what its last run recorded or
 * these settings, and what the viewer may see there all the same (fairmill_privilege). */
int viewer_read_scopes(struct viewer *viewer, struct db *results, struct error *err);

#endif

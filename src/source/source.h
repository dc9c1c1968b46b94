/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_SOURCE_H
#define FAIRMILL_SOURCE_SOURCE_H

#include "source/layout.h"

/* The layouts that there are. */

/* The layout that the settings name. */
const struct layout *layout_of(const struct settings *settings);

/* A cluster of the database as of now, ordered where the settings' conformance wants it. */
struct source source_of(const struct settings *settings, struct db *db, const char *cluster);

#endif

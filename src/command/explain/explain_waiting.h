/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_EXPLAIN_WAITING_H
#define FAIRMILL_EXPLAIN_WAITING_H

#include <stdbool.h>

struct error;
struct name_list;
struct settings;
struct text;

/* Add in words why a job of OpenPBS that waits has its place.  *found: there is one of this id. */
int explain_waiting(struct text *text, const struct settings *settings,
                    const struct name_list *clusters, const char *job_id, bool *found,
                    struct error *err);

#endif

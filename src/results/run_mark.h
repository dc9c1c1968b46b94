/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_RUN_MARK_H
#define FAIRMILL_RESULTS_RUN_MARK_H

#include <stdint.h>

/* A run that cannot leave its row in fairmill_run (bad settings, a wrong password, a full disk)
 * leaves a file instead, in a directory of util/state_folder.h.  The file's name has a hash of the
 * settings' path, its time is the run's, and it holds the exit status and nothing else, since other
 * users may read it.  A full disk leaves it empty. */

struct run_mark {
    int64_t at; /* epoch seconds; 0: there is none */
    int status; /* the exit status; 0: unknown */
};

/* Leaves the file of the settings at this path; does nothing if no directory takes it. */
void run_mark_leave(const char *settings_path, int status);
/* Removes it from all directories. */
void run_mark_remove(const char *settings_path);
/* Returns the newest.  reader.conf also finds that of fairmill.conf beside it. */
struct run_mark run_mark_find(const char *settings_path);

#endif

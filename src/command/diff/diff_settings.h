/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_SETTINGS_H
#define FAIRMILL_COMMAND_DIFF_SETTINGS_H

#include "report/differences.h"
#include "settings/settings.h"

/* Settings without some causes: each one that is left out brings them nearer to what slurmctld
 * does. */
struct reduced_settings {
    struct settings settings; /* a copy */
    struct pricing whole;     /* what slurm.conf says of billing, once it is needed */
};

/* Leave a cause out of the settings; false where it is not in them.  `findings` are those of the
 * computation that was made with the settings as they are. */
bool settings_without(struct reduced_settings *reduced, enum cause cause,
                      const struct findings *findings);

/* Note what cannot be known, with these settings and maybe without the accounting database. */
void diff_note_unknown(struct differences *differences, const struct settings *settings,
                       bool has_source, double unattributed_usage);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_FOREIGN_OPTIONS_H
#define FAIRMILL_COMMAND_FOREIGN_OPTIONS_H

#include <stdbool.h>

/*
 * Options of Slurm's and OpenPBS's commands.  If a command of fairmill lacks such an option, the
 * error explains its meaning in the other tool.
 */
struct foreign_option {
    const char *tool; /* the command of Slurm or OpenPBS */
    /* the command of fairmill that resembles `tool`; NULL: all commands but `prio` */
    const char *command;
    const char *name;    /* its long option, or NULL */
    char letter;         /* its short option, or 0 */
    const char *meaning; /* its meaning, as a noun phrase */
    const char *instead; /* the replacement in fairmill, or NULL */
};

/*
 * Returns the option with this letter or, if `letter` is 0, with this long name, in the tool that
 * the command resembles.  `like_sprio` is true if the command has sprio's short options.  Returns
 * NULL if there is no such option.
 */
const struct foreign_option *foreign_option_find(const char *command, bool like_sprio,
                                                 const char *name, char letter);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHOW_COMPUTED_SHARES_H
#define FAIRMILL_COMMAND_SHOW_COMPUTED_SHARES_H

struct computation;
struct settings;

/* The tree of a run that has just been computed, sorted, ready to be printed. */
struct share_list *computed_shares(const struct settings *settings, const char *cluster,
                                   const struct computation *computation);

#endif

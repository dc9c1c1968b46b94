/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHOW_COMPUTED_SHARES_H
#define FAIRMILL_COMMAND_SHOW_COMPUTED_SHARES_H

struct computation;
struct settings;

/* Returns the sorted tree of a computation for output.  The caller frees it with
 * share_list_destroy(). */
struct share_list *computed_shares(const struct settings *settings, const char *cluster,
                                   const struct computation *computation);

#endif

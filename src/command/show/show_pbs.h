/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHOW_PBS_H
#define FAIRMILL_COMMAND_SHOW_PBS_H

struct error;
struct name_list;
struct settings;

/* Print one entity as pbsfs does, or with a second name who of both is more deserving. */
int show_pbs(const struct settings *settings, const struct name_list *clusters,
             const char *const names[2], struct error *err);

#endif

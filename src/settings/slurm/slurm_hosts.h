/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_HOSTS_H
#define FAIRMILL_SETTINGS_SLURM_HOSTS_H

#include <stddef.h>

/* Lists of hosts, such as `login,n[1-4,7],rack[0-1]n[00-15]`. */

struct slurm_hosts {
    void (*take)(void *context, const char *name, size_t length);
    void *context;
    size_t *left; /* how many more names there may be; it is counted down */
};

/* Call `take` for every name of a list, in its order.  Returns NULL, or what is wrong with the
 * list; names before the mistake were taken by then. */
const char *slurm_hosts_expand(struct slurm_hosts *hosts, const char *list);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PATH_H
#define FAIRMILL_CORE_PATH_H

#include <stdbool.h>
#include <stdint.h>

struct tree;

/* The nodes from the root to one, along fairshare parents (`parent` accounts are skipped) or along
 * the parents that usage sums along. */
struct path {
    uint32_t *nodes; /* nodes[0] is the root */
    uint32_t count;
};
struct path path_to(const struct tree *tree, uint32_t node, bool fairshare);
void path_free(struct path *path);

#endif

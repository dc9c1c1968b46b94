/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIR_TREE_H
#define FAIRMILL_CORE_FAIR_TREE_H

#include "core/fairshare/algorithm.h"

extern const struct algorithm fair_tree;

#endif

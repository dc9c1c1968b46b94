/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_REAL_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_REAL_FUNCTIONS_H

#include "core/formula/function.h"

/* Functions whose arguments count as doubles, and those of numbers of either kind. */
extern const struct function real_functions[];

#endif

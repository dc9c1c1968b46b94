/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_WHOLE_FUNCTIONS_H
#define FAIRMILL_CORE_FORMULA_WHOLE_FUNCTIONS_H

#include "core/formula/function.h"

/* Functions of integers, and those whose answers are integers of any size. */
extern const struct function whole_functions[];

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_BUDGETS_H
#define FAIRMILL_COMPUTE_BUDGETS_H

#include <stddef.h>

#include "core/insight/budget.h"

struct computation;

/*
 * Returns the GrpTRESMins limits of kept TRES with their usage, of associations and QOS.  Sets
 * `*count`.  The computation must have its values and must outlive the result; free the array.
 */
struct budget *budgets_of(const struct computation *computation, size_t *count);

#endif

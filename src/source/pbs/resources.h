/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_RESOURCES_H
#define FAIRMILL_SOURCE_PBS_RESOURCES_H

#include "core/formula/formula.h"
#include "source/pbs/fields.h"

/* A resource's value as a formula of OpenPBS's has it: a number as it is, a span of time in
 * seconds, a size in kilobytes (words of 8 bytes), True as 1 and False as 0; 0 where it is none of
 * these, or not there. */
struct formula_value resource_value(struct part text);

#endif

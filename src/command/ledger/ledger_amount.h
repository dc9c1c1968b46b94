/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_AMOUNT_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What credits and debits may be: a decimal that comes to a whole number of TRES-seconds above 0,
 * so that an entry is an integer. */
bool amount_parse(const char *text, size_t length, uint64_t unit_s, uint64_t *seconds);

#endif

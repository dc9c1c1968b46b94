/* SPDX-License-Identifier: MIT */
#include "command/ledger/ledger_amount.h"

#include "core/number/wide.h"
#include "util/number.h"

bool amount_parse(const char *text, size_t length, uint64_t unit_s, uint64_t *seconds)
{
    struct decimal decimal;
    if (!decimal_parse(text, length, &decimal))
        return false;
    uint128 amount = (uint128)decimal.digits * unit_s;
    for (; decimal.power < 0 && amount; decimal.power++) {
        if (amount % 10)
            return false;
        amount /= 10;
    }
    for (; decimal.power > 0 && amount && amount < INT64_MAX; decimal.power--)
        amount *= 10;
    *seconds = (uint64_t)amount;
    return amount && amount < INT64_MAX;
}

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_BACKTEST_VARIANTS_H
#define FAIRMILL_COMMAND_BACKTEST_VARIANTS_H

#include "settings/settings.h"
#include "settings/table.h"
#include "util/name_list.h"

/* A backtest computes history under several choices of settings.  Each choice is a variant. */

struct backtest_settings {
    char *label;              /* what is other than now: `14-0, classic`; number 0 is `now` */
    struct settings settings; /* texts and lists belong to those of now */
};
struct backtest_variants {
    struct backtest_settings *list;
    size_t count;
};

/* Those of now, and one for each choice of one value for each setting that has any.  ERROR_USAGE
 * where a value is none, or there are too many. */
int backtest_variants_make(struct backtest_variants *variants, const struct settings *settings,
                           const struct name_list values[TRIED_SETTINGS], struct error *err);
void backtest_variants_free(struct backtest_variants *variants);

#endif

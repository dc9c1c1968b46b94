/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_BACKTEST_TABLE_H
#define FAIRMILL_REPORT_BACKTEST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct backtest;
struct table_layout;

/*
 * The results of a backtest: one row for each association and variant.  Text output also has one
 * sentence for each variant.
 */
struct backtest_print {
    const char *cluster;
    const struct backtest *backtest; /* a finished backtest */
    const char *const *labels;       /* labels of the variants */
    size_t variants;
    const int64_t *times;
    size_t time_count;
    uint64_t top; /* at most this many users, most discordant first; 0: all users and accounts */
    bool has_sentences; /* add sentences to text output */
};
extern const struct table_layout backtest_layout;
void backtest_answer(const struct backtest_print *print, struct answer *answer);

/* A row of `backtest --points`: an association's values in one variant at one history point. */
struct backtest_value {
    const char *variant;
    int64_t as_of; /* epoch seconds */
    uint32_t id;
    const char *account, *user, *partition;
    double fairshare, usage_raw, level_fs;
};
extern const struct table_layout backtest_points_layout;

#endif

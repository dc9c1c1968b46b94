/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_BACKTEST_TABLE_H
#define FAIRMILL_REPORT_BACKTEST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct backtest;
struct table_layout;

/* What a backtest comes to: a row for each association under each variant; and for people a
 * sentence for each variant. */
struct backtest_print {
    const char *cluster;
    const struct backtest *backtest; /* finished */
    const char *const *labels;       /* of the variants */
    size_t variants;
    const int64_t *times;
    size_t time_count;
    uint64_t top; /* only so many users, those who are turned most; 0: all, and accounts */
    bool has_sentences;
};
extern const struct table_layout backtest_layout;
void backtest_answer(const struct backtest_print *print, struct answer *answer);

/* Or each value at each point. */
struct backtest_value {
    const char *variant;
    int64_t as_of;
    uint32_t id;
    const char *account, *user, *partition;
    double fairshare, usage_raw, level_fs;
};
extern const struct table_layout backtest_points_layout;

#endif

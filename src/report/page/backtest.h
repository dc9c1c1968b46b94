/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_BACKTEST_H
#define FAIRMILL_REPORT_PAGE_BACKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct error;

/* What `fairmill backtest --json` printed, for a part of the page.  core/insight/backtest.h says
 * what the numbers mean; NAN is null. */

struct page_variant {
    const char *settings;
    int64_t points;
    double distance, turned;
};
/* An association under a variant. */
struct page_tried {
    bool there; /* the file tells of it */
    double use, place, turned;
    const char *with_account, *with_user; /* with whom it is turned most often; NULL: with none, or
                                             nobody counted */
};
struct page_backtest_row {
    int64_t id;
    double due;
    struct page_tried *tried; /* by variant */
};
struct page_backtest {
    struct page_variant *variants; /* what the others are compared with is number 0 */
    size_t variant_count;
    struct page_backtest_row *rows; /* by id */
    size_t row_count;
    int64_t since, until; /* the first and the last instant; 0: there is none */
};

/* The row of an association; NULL: there is none. */
const struct page_backtest_row *page_backtest_row(const struct page_backtest *backtest, int64_t id);
/* The most users with whom it is turned on average, under any variant. */
double page_backtest_turned(const struct page_backtest *backtest,
                            const struct page_backtest_row *row);

/* A file of it, with any number of clusters; texts stay there as long as the file. */
struct backtest_file {
    const char *path;
    json_t *all;
};
/* `-` is standard input.  ERROR_DATA names the file, and what in it is none. */
int backtest_file_read(struct backtest_file *file, const char *path, struct error *err);
/* What it has of a cluster: 1, or 0 where it has none; -1 and ERROR_DATA where that is not what
 * backtest prints.  Free it also then. */
int backtest_file_find(const struct backtest_file *file, const char *cluster,
                       struct page_backtest *backtest, struct error *err);
void page_backtest_free(struct page_backtest *backtest);
void backtest_file_free(struct backtest_file *file);

#endif

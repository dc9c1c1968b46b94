/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_BACKTEST_H
#define FAIRMILL_REPORT_PAGE_BACKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct error;

/*
 * Reads the output of `fairmill backtest --json`, which the page shows.  For the meaning of the
 * numbers see core/insight/backtest.h; null is read as NAN.
 */

struct page_variant {
    const char *settings;
    double distance, turned;
};
/* The results of an association in one variant. */
struct page_tried {
    bool there; /* the file has these results */
    double use, place, turned;
};
struct page_backtest_row {
    double due;
    struct page_tried *tried; /* results, indexed by variant */
};
struct page_backtest {
    struct page_variant *variants; /* variant 0 is the one with which the others are compared */
    size_t variant_count;
    struct page_backtest_row *rows;
    size_t row_count;
    struct id_index *ids; /* rows by id of the association */
    int64_t since, until; /* first and last time, epoch seconds; 0: none */
};

/* Returns the row of an association, or NULL if it has no row. */
const struct page_backtest_row *page_backtest_row(const struct page_backtest *backtest, int64_t id);

/* An open file, with any number of clusters.  It owns the texts in struct page_backtest. */
struct backtest_file {
    const char *path;
    json_t *all;
};
/*
 * Reads a file; `-` is standard input.  Returns -1 on error.  ERROR_DATA means that it is not the
 * output of `backtest --json`; the message names the file and the fault.  The caller frees `file`
 * with backtest_file_free(), even on error.
 */
int backtest_file_read(struct backtest_file *file, const char *path, struct error *err);
/*
 * Fills `backtest` with the results of a cluster.  Returns 1 if the file has the cluster, or 0 if
 * it does not.  Returns -1 with ERROR_DATA if the results are invalid.  The caller frees `backtest`
 * with page_backtest_free(), even on error.
 */
int backtest_file_find(const struct backtest_file *file, const char *cluster,
                       struct page_backtest *backtest, struct error *err);
void page_backtest_free(struct page_backtest *backtest);
void backtest_file_free(struct backtest_file *file);

#endif

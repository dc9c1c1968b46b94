/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_TRES_H
#define FAIRMILL_COMMAND_REPORT_REPORT_TRES_H

#include <stddef.h>
#include <stdint.h>

struct db;
struct db_value;
struct error;
struct page_cluster;
struct page_point;

/* Sums the daily usage of a page's accounts by TRES. */
struct report_tres {
    double *sums; /* TRES-seconds of the current day: [row * cluster->tres_count + tres] */
};
/* Reads the TRES whose usage is kept into cluster->tres, and chooses the one that is named
 * `chosen`, which may be NULL.  The rows must have been added.  Returns -1 on error.  The caller
 * frees `tres` with report_tres_free() even on error. */
int report_tres_begin(struct report_tres *tres, struct db *db, struct page_cluster *cluster,
                      const char *chosen, struct error *err);
/* Adds the usage of one association and day to the account that shows it.  `place` is the row that
 * shows the association, and `columns` are tres_1 to tres_16. */
void report_tres_add(struct report_tres *tres, const struct page_cluster *cluster, uint32_t place,
                     const struct db_value *columns);
/* Adds the usage of the day to all ancestors, stores it in `day`, and begins the next day. */
void report_tres_end_day(struct report_tres *tres, const struct page_cluster *cluster,
                         struct page_point *day);
void report_tres_free(struct report_tres *tres);

#endif

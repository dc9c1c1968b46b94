/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SPRIO_PRINT_H
#define FAIRMILL_REPORT_SPRIO_PRINT_H

#include "report/printed.h"
#include "report/priorities.h"

/*
 * Reads the output of sprio: a table, or fields separated by bars (sprio -o '%i|%u|...').
 *
 * Headings identify the columns.  Without headings, there must be bars.  The fields are then
 * %i|%u|%r|%Y|%A|%B|%F|%J|%P|%Q|%S|%T|%N or %i|%u|%r|%y|%a|%b|%f|%j|%p|%q|%t; %n may follow %r or
 * be last.  A number with a decimal point is a factor (sprio -n); other numbers are weighted.
 */

/* A job, in one partition and with one QOS. */
struct printed_job {
    unsigned line;
    int64_t id;
    const char *user, *account, *partition, *qos; /* NULL: not printed; a table may cut them */
    struct printed_number priority;               /* truncated to an integer */
    struct printed_number norm, site, nice;
    struct printed_number factor[PRIO_PARTS], weighted[PRIO_PARTS];
    const char *tres, *tres_factors; /* weighted values and factors; NULL: not printed */
    bool tres_cut;                   /* the list may be incomplete */
};

struct sprio_print {
    bool is_table;                     /* names may be cut */
    size_t partition_width, qos_width; /* lower bounds of widths; shorter names are not cut */
    struct arena *arena;
    struct printed_job *rows;
    size_t count;
};

/*
 * Reads `text` into `print`.  If it has several clusters, reads only `cluster`.  The caller frees
 * `print` with sprio_print_free().  On error, or if there are no jobs, returns -1 with ERROR_DATA,
 * which names the line; `print` then holds no memory.
 */
int sprio_print_read(struct sprio_print *print, struct span text, const char *cluster,
                     struct error *err);
void sprio_print_free(struct sprio_print *print);

#endif

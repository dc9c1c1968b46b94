/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SSHARE_PRINT_H
#define FAIRMILL_REPORT_SSHARE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* What sshare printed: with -P or -p, where bars divide the fields, or as a table, where a line of
 * dashes below the headings says how wide they are.  Headings say what is what; of each line
 * account, user and RawUsage must be there. */

/* A number as it stands there; NAN where nothing does. */
struct printed_number {
    double value, error; /* it may be more or less by so much, as digits are left out */
};

struct printed_row {
    const char *account, *user, *partition;
    bool account_cut, user_cut; /* a name that was too long: only its beginning is there */
    int64_t id;                 /* 0 where it is not there */
    bool has_shares, parent_shares;
    int64_t shares;
    struct printed_number raw_usage; /* an integer is cut, and so up to 1 more */
    struct printed_number norm_usage, fairshare, level_fs;
};

struct sshare_print {
    struct arena *arena; /* of the names */
    struct printed_row *rows;
    size_t count;
};

/* Read a print; of one with several clusters (`CLUSTER: name`, or a column of that name), only what
 * is of this one.  ERROR_DATA says which line is wrong. */
int sshare_print_read(struct sshare_print *print, const char *bytes, size_t length,
                      const char *cluster, struct error *err);
void sshare_print_free(struct sshare_print *print);

#endif

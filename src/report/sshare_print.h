/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SSHARE_PRINT_H
#define FAIRMILL_REPORT_SSHARE_PRINT_H

#include <math.h>
#include <stdint.h>

#include "report/printed.h"

/*
 * Reads associations from the output of sshare or `scontrol show assoc_mgr`.
 *
 * sshare prints fields separated by bars (-P or -p), JSON (--json), or a table.  In a table, a line
 * of dashes below the headings shows the widths.  Headings identify the columns.  The output must
 * have the names or the id of each association, and RawUsage or FairShare.
 */

struct printed_row {
    const char *account, *user;
    const char *partition;      /* NULL if there is no such column */
    bool account_cut, user_cut; /* the name was too long and has been cut */
    int64_t id;                 /* 0 if not printed */
    bool has_shares, parent_shares;
    int64_t shares;
    struct printed_number raw_usage; /* truncated by sshare; two decimals in assoc_mgr */
    struct printed_number norm_shares, norm_usage, effective_usage, fairshare, level_fs;
};
#define PRINTED_ROW                                        \
    ((struct printed_row){ .account = "",                  \
                           .user = "",                     \
                           .raw_usage = NOT_PRINTED,       \
                           .norm_shares = NOT_PRINTED,     \
                           .norm_usage = NOT_PRINTED,      \
                           .effective_usage = NOT_PRINTED, \
                           .fairshare = NOT_PRINTED,       \
                           .level_fs = NOT_PRINTED })

struct sshare_print {
    struct arena *arena; /* owns the names */
    struct printed_row *rows;
    size_t count;
};

/*
 * Reads the output of sshare, except JSON, into `print`.  If it has several clusters (a line
 * `CLUSTER: name` or a column of that name), reads only `cluster`.  The caller frees `print` with
 * sshare_print_free().  On error, or if there are no associations, returns -1 with ERROR_DATA,
 * which names the line; `print` then holds no memory.
 */
int sshare_print_read(struct sshare_print *print, struct span text, const char *cluster,
                      struct error *err);
/*
 * Called at the end of each function in this file that reads an output; `result` is its result so
 * far.  Returns -1, and frees `print`, if `result` is not 0 or if there are no associations.
 */
int sshare_print_end(struct sshare_print *print, int result, const char *cluster,
                     struct error *err);
void sshare_print_free(struct sshare_print *print);

/*
 * Like sshare_print_read(), but reads `scontrol show assoc_mgr`, with or without -o.  Its records
 * of users and QOS are skipped.
 */
int assoc_mgr_print_read(struct sshare_print *print, struct span text, const char *cluster,
                         struct error *err);

/*
 * Like sshare_print_read(), but reads `sshare --json`, which has all digits of all values except
 * usage.  Also returns -1 with ERROR_DATA if the text is YAML or any other text.
 */
int sshare_json_read(struct sshare_print *print, struct span text, const char *cluster,
                     struct error *err);

#endif

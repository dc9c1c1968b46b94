/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SSHARE_PRINT_H
#define FAIRMILL_REPORT_SSHARE_PRINT_H

#include <math.h>
#include <stdint.h>

#include "report/printed.h"

/* What was printed of associations: by sshare with -P or -p, where bars divide the fields, or as a
 * table, where a line of dashes below the headings says how wide they are; or by `scontrol show
 * assoc_mgr`.  sshare's headings say what is what: the names or the id of each association must be
 * there, and RawUsage or FairShare. */

struct printed_row {
    const char *account, *user;
    const char *partition;      /* NULL where the print has no such column */
    bool account_cut, user_cut; /* a name that was too long: only its beginning is there */
    int64_t id;                 /* 0 where it is not there */
    bool has_shares, parent_shares;
    int64_t shares;
    struct printed_number raw_usage; /* sshare cuts it to an integer, assoc_mgr has two decimals */
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
    struct arena *arena; /* of the names */
    struct printed_row *rows;
    size_t count;
};

/* Read a print of sshare; of one with several clusters (`CLUSTER: name`, or a column of that name),
 * only what is of this one.  ERROR_DATA says which line is wrong. */
int sshare_print_read(struct sshare_print *print, struct span text, const char *cluster,
                      struct error *err);
/* What ends each reader: without any association it fails, too, and then nothing is left of it. */
int sshare_print_end(struct sshare_print *print, int result, const char *cluster,
                     struct error *err);
void sshare_print_free(struct sshare_print *print);

/* The associations of `scontrol show assoc_mgr`, with or without -o: usage with two decimals,
 * shares, and ids.  Users and QOS that may stand there too are left out.  As with
 * sshare_print_read(). */
int assoc_mgr_print_read(struct sshare_print *print, struct span text, const char *cluster,
                         struct error *err);

/* The associations of `sshare --json`, which has all digits except those of usage.  ERROR_DATA if
 * the text is other JSON, YAML or none.  As with sshare_print_read(). */
int sshare_json_read(struct sshare_print *print, struct span text, const char *cluster,
                     struct error *err);

#endif

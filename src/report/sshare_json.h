/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SSHARE_JSON_H
#define FAIRMILL_REPORT_SSHARE_JSON_H

#include "report/sshare_print.h"

/* Reads the associations of one cluster from the output of `sshare --json`, which has all digits
 * except those of usage.  Returns -1 with ERROR_DATA if the text is other JSON, YAML or none.
 * Ownership is as with sshare_print_read(). */
int sshare_json_read(struct sshare_print *print, struct span text, const char *cluster,
                     struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_ASSOC_MGR_PRINT_H
#define FAIRMILL_REPORT_ASSOC_MGR_PRINT_H

#include "report/sshare_print.h"

/* The associations of `scontrol show assoc_mgr`, with or without -o: usage with two decimals,
 * shares, and ids.  Users and QOS that may stand there too are left out.  As with
 * sshare_print_read(). */
int assoc_mgr_print_read(struct sshare_print *print, struct span text, const char *cluster,
                         struct error *err);

#endif

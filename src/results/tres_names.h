/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_TRES_NAMES_H
#define FAIRMILL_RESULTS_TRES_NAMES_H

#include "core/usage/kept_tres.h"

struct db;
struct error;
struct publisher;

/* The table fairmill_tres_name: the numbers of the TRES whose usage is kept. */

/* Adds the numbers of a cluster to `numbers`.  Returns -1 on error. */
int tres_names_read(struct db *db, const char *cluster, struct tres_numbers *numbers,
                    struct error *err);

/*
 * Writes the numbers of a cluster if they differ from the table.  Must run inside the transaction
 * that publisher_publish() opened.  Returns -1 on error.
 */
int tres_names_write(const struct publisher *publisher, const struct tres_numbers *numbers,
                     struct error *err);

#endif

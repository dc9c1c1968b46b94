/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_STORE_H
#define FAIRMILL_IMPORT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "import/entities.h"
#include "import/logs.h"
#include "import/runs.h"
#include "source/pbs/fields.h"

struct settings;

/* OpenPBS's tables in the accounting database: sql/schema/pbs.sql. */

/* Open [source] for writing and make the tables that are missing.  A database with slurmdbd's
 * tables is refused (ERROR_SETTINGS), and one into which another import is at work (ERROR_LOCKED).
 * The lock that keeps others away goes into `lock`. */
int store_open(struct db **db, char lock[DB_LOCK_NAME], const struct settings *settings,
               struct error *err);
/* Give the lock back, then close: a server may hear late that a session is over, and would refuse
 * the next import until then. */
void store_close(struct db *db, const char *lock);
/* Remove all that logs told of a cluster. */
int store_forget(struct db *db, const char *cluster, struct error *err);

/* Say of each log in the list how far it was read. */
int store_read_logs(struct db *db, const char *cluster, struct log_list *list, struct error *err);
int store_write_log(struct db *db, const char *cluster, const struct log_file *log,
                    struct error *err);

/* The first key that no run and no waiting job has. */
int store_next_key(struct db *db, const char *cluster, uint64_t *key, struct error *err);
/* Enter the runs that are open. */
int store_read_open(struct db *db, const char *cluster, struct runs *runs, struct error *err);

/* Remove each run from a key on that is recorded twice, by its job and its start or end: one of the
 * two stays.  It is in the caller's transaction, after all runs are sent. */
int store_remove_twins(struct db *db, const char *cluster, uint64_t key, struct runs *runs,
                       struct error *err);

/* Runs, suspensions and entities on their way in, in the caller's transactions; to be freed with
 * free().  The cluster's name and `entities` stay. */
struct store_writer;
struct store_writer *store_writer_create(struct db *db, const char *cluster,
                                         struct entities *entities);
struct run_taker store_writer_taker(struct store_writer *writer);
/* Send what is left, where `result` is 0, before the transaction ends; 0 or -1. */
int store_writer_flush(struct store_writer *writer, int result, struct error *err);

struct db;
struct error;

/* Lines of accounting logs that cannot be read: pbs_refused.  Each import tries them again, since a
 * later release may read them. */

struct refused_line {
    char *name; /* of the log */
    uint64_t row;
    char *text;
    bool is_read; /* now */
};

struct refused_list {
    struct refused_line *lines;
    size_t count, bytes;
};

/* Add a line, unless the list has a thousand already. */
void refused_list_add(struct refused_list *list, const char *name, uint64_t row, struct part line);
/* Empty the list, and free its memory. */
void refused_list_free(struct refused_list *list);

/* All lines of a cluster, in the order of the logs. */
int refused_read(struct db *db, const char *cluster, struct refused_list *list, struct error *err);
/* Store the lines, or remove the lines that are read now.  In the caller's transaction. */
int refused_store(struct db *db, const char *cluster, const struct refused_list *list,
                  struct error *err);
int refused_remove(struct db *db, const char *cluster, const struct refused_list *list,
                   struct error *err);

#endif

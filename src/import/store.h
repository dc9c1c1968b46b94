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

/* OpenPBS's tables in the accounting database (sql/schema/pbs.sql). */

/*
 * Opens [source] for writing and creates missing tables.  Takes the lock against concurrent imports
 * and sets `lock` to its name.  Fails with ERROR_SETTINGS if the database has slurmdbd's tables,
 * and with ERROR_LOCKED if another import is running.
 */
int store_open(struct db **db, char lock[DB_LOCK_NAME], const struct settings *settings,
               struct error *err);
/*
 * Releases the lock and closes the session.  Without the explicit release, the lock would block the
 * next import until the server notices that the session has ended.
 */
void store_close(struct db *db, const char *lock);
/* Deletes all rows of a cluster that came from logs. */
int store_forget(struct db *db, const char *cluster, struct error *err);

/*
 * The first sets, for each log in the list, how much of it was read.  The second stores this for
 * one log.
 */
int store_read_logs(struct db *db, const char *cluster, struct log_list *list, struct error *err);
int store_write_log(struct db *db, const char *cluster, const struct log_file *log,
                    struct error *err);

/* Sets *key to the first key that is larger than the keys of all job executions and waiting jobs.
 */
int store_next_key(struct db *db, const char *cluster, uint64_t *key, struct error *err);
/* Adds the stored job executions that have not ended to `runs`. */
int store_read_open(struct db *db, const char *cluster, struct runs *runs, struct error *err);

/*
 * Finds job executions with a key of at least `key` that duplicate an execution with a smaller key.
 * Duplicates have the same job, and the same start or end.  Removes one execution of each pair.
 * Must be called after all executions are sent, in the caller's transaction.
 */
int store_remove_twins(struct db *db, const char *cluster, uint64_t key, struct runs *runs,
                       struct error *err);

/*
 * Writes job executions, suspensions and entities in the caller's transactions.  The caller frees
 * the writer with free(); `cluster` and `entities` must outlive the writer.
 */
struct store_writer;
struct store_writer *store_writer_create(struct db *db, const char *cluster,
                                         struct entities *entities);
struct run_taker store_writer_taker(struct store_writer *writer);
/*
 * Sends the remaining rows before the transaction ends, if `result` is 0; otherwise discards them.
 * Returns 0 or -1.
 */
int store_writer_flush(struct store_writer *writer, int result, struct error *err);

struct db;
struct error;

/*
 * Lines of accounting logs that cannot be read, in table pbs_refused.  Each import tries them
 * again, because a later release may be able to read them.
 */

struct refused_line {
    char *name; /* name of the log */
    uint64_t row;
    char *text;
    bool is_read; /* this import could read it */
};

struct refused_list {
    struct refused_line *lines;
    size_t count, bytes;
};

/* Adds a line, unless the list already has a thousand lines or 8 MB. */
void refused_list_add(struct refused_list *list, const char *name, uint64_t row, struct part line);
/* Empties the list and frees its memory. */
void refused_list_free(struct refused_list *list);

/* Reads all lines of a cluster, in the order of the logs. */
int refused_read(struct db *db, const char *cluster, struct refused_list *list, struct error *err);
/*
 * The first stores the lines.  The second removes the lines with `is_read` from the table.  Both
 * run in the caller's transaction.
 */
int refused_store(struct db *db, const char *cluster, const struct refused_list *list,
                  struct error *err);
int refused_remove(struct db *db, const char *cluster, const struct refused_list *list,
                   struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_NOTICE_ROWS_H
#define FAIRMILL_RESULTS_NOTICE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"

struct settings;

/*
 * The messages that were sent (fairmill_notice).  A notice is a message about an association to a
 * recipient.  Functions that return int return -1 on error.
 */

#define NOTICE_STATEMENT "statement"
#define NOTICE_BUDGET "budget"
#define NOTICE_SHARE "share"

struct notice {
    const char *kind; /* NOTICE_... */
    int64_t association;
    const char *subject;   /* month of a statement, TRES of a budget, or "" */
    const char *recipient; /* login */
};

/* The notices of a cluster. */
struct notices {
    struct notice *list; /* owns its texts */
    size_t count;
};
int notices_read(struct notices *notices, struct db *db, const char *cluster, struct error *err);
void notices_free(struct notices *notices);
bool notices_have(const struct notices *notices, const struct notice *notice);

/* The session that writes notices.  While it holds the lock, no other process sends messages. */
struct notice_writer {
    const struct settings *settings;
    struct db *db; /* NULL while it is not open */
    char lock[DB_LOCK_NAME];
};
/* Opens the results and takes the lock.  Fails with ERROR_LOCKED if another process holds it. */
int notice_writer_open(struct notice_writer *writer, struct error *err);
/* Releases the lock and closes the session.  Accepts a writer that is not open. */
void notice_writer_close(struct notice_writer *writer);

/* Records a message that was sent.  Each write is a transaction. */
int notice_add(struct notice_writer *writer, const char *cluster, const struct notice *notice,
               int64_t sent_at, struct error *err);
/* Removes the notices of all recipients about a threshold. */
int notice_end(struct notice_writer *writer, const char *cluster, const struct notice *notice,
               struct error *err);
#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_LOCKED_WRITE_H
#define FAIRMILL_RUN_LOCKED_WRITE_H

struct db;
struct error;
struct publisher;
struct settings;

/*
 * Small writes into the results of a cluster while its runs are active.  Each write is a
 * transaction under the lock of the cluster's runs.
 */
struct locked_writer {
    const struct settings *settings;
    const char *cluster;
    struct db *results; /* NULL while it is not open; the caller closes it */
};

/* Opens the results if they are not open.  Returns -1 on error. */
int locked_writer_open(struct locked_writer *writer, struct error *err);

/*
 * Takes the lock, calls `write` in a transaction and commits it.  Retries until the deadline if the
 * lock is held, or if a session breaks; `write` is then called again.  Returns -1 on error.
 */
int locked_write(struct locked_writer *writer,
                 int (*write)(void *context, const struct publisher *publisher, struct error *err),
                 void *context, struct error *err);

#endif

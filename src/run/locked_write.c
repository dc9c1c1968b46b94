/* SPDX-License-Identifier: MIT */
#include "run/locked_write.h"

#include <unistd.h>

#include "results/publish.h"
#include "results/rows.h"
#include "run/retry.h"
#include "util/error.h"
#include "util/log.h"
#include "util/times.h"

/* pause in microseconds before another attempt to lock the cluster */
#define LOCK_PAUSE_US 200000

int locked_writer_open(struct locked_writer *writer, struct error *err)
{
    return writer->results ? 0
                           : open_results(&writer->results, writer->settings,
                                          starting_deadline_of(writer->settings), err);
}

static int locked_writer_lock(const struct locked_writer *writer, struct publisher *publisher,
                              struct error *err)
{
    int64_t deadline = deadline_of(writer->settings);
    while (publisher_lock(publisher, writer->results, writer->settings, writer->cluster, err)) {
        if (err->class != ERROR_LOCKED || clock_milliseconds() > deadline)
            return -1;
        usleep(LOCK_PAUSE_US);
    }
    return 0;
}

/* Makes one attempt, with a new session if the old one broke. */
static int write_once(struct locked_writer *writer,
                      int (*write)(void *context, const struct publisher *publisher,
                                   struct error *err),
                      void *context, struct error *err)
{
    struct publisher publisher;
    if (locked_writer_open(writer, err) || locked_writer_lock(writer, &publisher, err))
        return -1;
    int result = db_begin(writer->results, err);
    if (!result)
        result = rows_commit(writer->results, write(context, &publisher, err), err);
    publisher_end(&publisher);
    return result;
}

int locked_write(struct locked_writer *writer,
                 int (*write)(void *context, const struct publisher *publisher, struct error *err),
                 void *context, struct error *err)
{
    struct retry retry = { deadline_of(writer->settings), 0 };
    while (write_once(writer, write, context, err)) {
        if (err->class == ERROR_GONE) {
            db_close(writer->results);
            writer->results = NULL;
        }
        if (!try_again(&retry, err))
            return -1;
    }
    return 0;
}

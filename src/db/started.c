/* SPDX-License-Identifier: MIT */
#include "db/started.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

struct db_started {
    struct db *db;
    pthread_t thread;
    bool has_thread, was_begun;
    int result;
    struct error err;
    const char *sql;
    size_t argument_count;
    struct db_value arguments[];
};

bool db_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return false;
    bool started = !pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* A thread must not end the program, because the other thread may be in the middle of any
 * operation. */
static int started_leave(void *context)
{
    longjmp(*(jmp_buf *)context, 1);
}

static void started_execute(struct db_started *started)
{
    started->result = started->db->functions->execute(started->db, started->sql, started->arguments,
                                                      started->argument_count, NULL, &started->err);
}

static void *started_run(void *context)
{
    struct db_started *started = context;
    const struct db_functions *functions = started->db->functions;
    jmp_buf end;
    if (!setjmp(end)) {
        memory_before_end(started_leave, &end);
        started->was_begun = !functions->enter_thread || functions->enter_thread();
        if (started->was_begun)
            started_execute(started);
    }
    memory_before_end(NULL, NULL);
    if (functions->leave_thread)
        functions->leave_thread();
    return NULL;
}

void db_started_begin(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t argument_count)
{
    size_t bytes = argument_count * sizeof *arguments;
    struct db_started *started = memory_zeroed(1, sizeof *started + bytes);
    *started = (struct db_started){ .db = db, .sql = sql, .argument_count = argument_count };
    if (bytes)
        memcpy(started->arguments, arguments, bytes);
    started->result = fail(&started->err, ERROR_OTHER, "out of memory");
    db->started = started;
    started->has_thread = db_thread_start(&started->thread, started_run, started);
}

static void started_wait(struct db_started *started)
{
    if (started->has_thread)
        pthread_join(started->thread, NULL);
    started->has_thread = false;
}

int db_started_finish(struct db *db, struct error *err)
{
    struct db_started *started = db->started;
    if (!started)
        return 0;
    started_wait(started);
    if (!started->was_begun)
        started_execute(started);
    int result = started->result;
    if (result)
        *err = started->err;
    db_started_abandon(db);
    return result;
}

void db_started_abandon(struct db *db)
{
    struct db_started *started = db->started;
    if (!started)
        return;
    started_wait(started);
    db->started = NULL;
    free(started);
}

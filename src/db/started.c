/* SPDX-License-Identifier: MIT */
#include "db/started.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"

struct db_started {
    struct db *db;
    const char *sql;
    struct db_value *arguments;
    size_t argument_count;
    pthread_t thread;
    bool has_thread, was_run;
    int result;
    struct error err;
};

static void started_run(struct db_started *started)
{
    started->result = started->db->functions->execute(started->db, started->sql, started->arguments,
                                                      started->argument_count, NULL, &started->err);
    started->was_run = true;
}

static void *started_run_in_thread(void *context)
{
    struct db_started *started = context;
    const struct db_functions *functions = started->db->functions;
    if (!functions->enter_thread || functions->enter_thread())
        started_run(started);
    if (functions->leave_thread)
        functions->leave_thread();
    return NULL;
}

struct db_started *started_begin(struct db *db, const char *sql, const struct db_value *arguments,
                                 size_t argument_count)
{
    struct db_started *started = memory_zeroed(1, sizeof *started);
    sigset_t all, before;
    started->db = db;
    started->sql = sql;
    started->arguments = memory_zeroed(argument_count, sizeof *arguments);
    memcpy(started->arguments, arguments, argument_count * sizeof *arguments);
    started->argument_count = argument_count;
    /* Blocks all signals in the new thread, so that the caller's thread handles them. */
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return started;
    started->has_thread = !pthread_create(&started->thread, NULL, started_run_in_thread, started);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void started_wait(struct db_started *started)
{
    if (started->has_thread)
        pthread_join(started->thread, NULL);
    started->has_thread = false;
}

int started_finish(struct db_started *started, struct error *err)
{
    started_wait(started);
    if (!started->was_run)
        started_run(started);
    int result = started->result;
    if (result)
        *err = started->err;
    started_abandon(started);
    return result;
}

void started_abandon(struct db_started *started)
{
    if (!started)
        return;
    started_wait(started);
    free(started->arguments);
    free(started);
}

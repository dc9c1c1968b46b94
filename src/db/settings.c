/* SPDX-License-Identifier: MIT */
#include "db/settings.h"

#include <string.h>

bool db_role_writes(enum db_role role)
{
    return role == DB_RESULTS || role == DB_OWNER;
}

const char *const db_tls_names[] = {
    "default", "off", "required", "verify_ca", "verify_full", NULL
};

#define LOCK_WAIT_S 5u
#define CONNECT_WAIT_S 10u
#define ANSWER_GRACE_S 5u
#define RESULTS_IDLE_S 60u

static unsigned shorter(unsigned seconds, unsigned deadline_s)
{
    return deadline_s && deadline_s < seconds ? deadline_s : seconds;
}

unsigned db_connect_wait(const struct db_settings *settings)
{
    return shorter(CONNECT_WAIT_S, settings->deadline_s);
}

unsigned db_answer_wait(const struct db_settings *settings)
{
    unsigned deadline_s = settings->deadline_s;
    return deadline_s ? deadline_s + shorter(ANSWER_GRACE_S, deadline_s) : 0;
}

unsigned db_results_idle(const struct db_settings *settings)
{
    return RESULTS_IDLE_S + 2 * settings->deadline_s;
}

unsigned db_lock_wait(const struct db_settings *settings)
{
    unsigned deadline_s = settings->deadline_s;
    if (!deadline_s || deadline_s > LOCK_WAIT_S)
        return LOCK_WAIT_S;
    /* Stay below the statement's limit if possible, so that the database can report which lock
     * caused the wait. */
    return deadline_s > 1 ? deadline_s - 1 : 1;
}

bool db_given(const char *text)
{
    return text && *text;
}

bool db_is_here(const struct db_settings *settings)
{
    const char *host = db_given(settings->host) ? settings->host : "localhost";
    return *host == '/' || !strcmp(host, "localhost") || !strcmp(host, "127.0.0.1") ||
           !strcmp(host, "::1");
}

bool db_logs_in_by_socket(const struct db_settings *settings)
{
    bool by_socket =
        !db_given(settings->host) || !strcmp(settings->host, "localhost") || *settings->host == '/';
    return by_socket && !db_given(settings->option_file) && !db_given(settings->service);
}

/* SPDX-License-Identifier: MIT */
#include "db/mysql/mysql_session.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

static const char *or_null(const char *text)
{
    return db_given(text) ? text : NULL;
}

/* Without a user in the settings or an option file it is the one that this process runs as.  The
 * library would take the name of who logged in on the terminal, which under sudo is another. */
static const char *login(const struct db_settings *settings)
{
    if (db_given(settings->user) || db_given(settings->option_file))
        return or_null(settings->user);
    const struct passwd *own = getpwuid(geteuid());
    return own ? own->pw_name : NULL;
}

static int prepare_connection(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    unsigned connect_timeout_s = db_connect_wait(settings);
    unsigned network_timeout_s = db_answer_wait(settings);
    unsigned local_files = 0;

    session->mysql = mysql_init(NULL);
    if (!session->mysql)
        return fail(err, ERROR_OTHER, "out of memory");
    mysql_options(session->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout_s);
    mysql_options(session->mysql, MYSQL_OPT_READ_TIMEOUT, &network_timeout_s);
    mysql_options(session->mysql, MYSQL_OPT_WRITE_TIMEOUT, &network_timeout_s);
    /* Or a server could ask for any file that this process can read. */
    mysql_options(session->mysql, MYSQL_OPT_LOCAL_INFILE, &local_files);
    mysql_options(session->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");

    if (session_set_tls(session, err))
        return -1;

    /* Without an option file of ours none is read, not even those in /etc. */
    if (!db_given(settings->option_file))
        return 0;
    /* The library takes a file that is not there for an empty one. */
    if (access(settings->option_file, R_OK))
        return fail(err, ERROR_SETTINGS, "cannot read option file '%s': %s", settings->option_file,
                    strerror(errno));
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_FILE, settings->option_file);
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_GROUP, "fairmill");
    return 0;
}

/* MariaDB's library lets the whole of a login take as long as a connection may.  MySQL's waits for
 * what it answers to a login as long as for an answer to a statement; so there it is us who wait.
 */
#ifdef HAVE_MYSQL_REAL_CONNECT_NONBLOCKING
#define GO_ON mysql_real_connect_nonblocking
#else
enum { NET_ASYNC_COMPLETE, NET_ASYNC_NOT_READY };
#define GO_ON(...) (mysql_real_connect(__VA_ARGS__) ? NET_ASYNC_COMPLETE : -1)
#endif

/* The password comes from the option file, else the library takes MYSQL_PWD.  FOUND_ROWS: an UPDATE
 * counts the rows that it found, as in other databases. */
#define LOGIN(settings)                                                              \
    or_null((settings)->host), login(settings), NULL, or_null((settings)->database), \
        (settings)->port, or_null((settings)->socket), CLIENT_FOUND_ROWS

/* The library does not tell when it wants to write, or has read more than it used; so this is never
 * long. */
#define PAUSE_MS 10

/* What MySQL's library says where it has nothing to say. */
#define UNKNOWN_ERROR 2000u

/* MySQL's library ends a nonblocking login by sending nothing once more.  If the server has refused
 * the login by then and closed its end, that fails, and the library forgets what the server said. A
 * blocking login reads it.  The server has answered at once, so this waits for a few seconds at
 * most, and is for the reason only. */
static int ask_for_the_reason(struct mysql_session *session, struct error *err)
{
    unsigned second = 1;
    mysql_close(session->mysql);
    if (prepare_connection(session, err))
        return -1;
    mysql_options(session->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &second);
    mysql_options(session->mysql, MYSQL_OPT_READ_TIMEOUT, &second);
    if (!mysql_real_connect(session->mysql, LOGIN(session->base.settings)))
        return session_fail_connection(session, err);
    return fail(err, ERROR_GONE, "%s: the server broke the login off", session->base.name);
}

static int log_in(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    MYSQL *mysql = session->mysql;
    unsigned wait_s = db_connect_wait(settings);
    int64_t until_ms = clock_milliseconds() + (int64_t)wait_s * 1000;
    int status;
    while ((status = GO_ON(mysql, LOGIN(settings))) == NET_ASYNC_NOT_READY) {
        if (clock_milliseconds() >= until_ms)
            return fail(err, ERROR_GONE, "%s: no answer to the login within %u s",
                        session->base.name, wait_s);
        poll(&(struct pollfd){ .fd = mysql->net.fd, .events = POLLIN }, 1, PAUSE_MS);
    }
    if (status == NET_ASYNC_COMPLETE)
        return 0;
    return mysql_errno(mysql) == UNKNOWN_ERROR ? ask_for_the_reason(session, err)
                                               : session_fail_connection(session, err);
}

static int connect_session(struct mysql_session *session, struct error *err)
{
    if (prepare_connection(session, err))
        return -1;
    if (log_in(session, err)) {
        session_judge_handshake(session, err);
        return fail_in(err, "cannot connect");
    }
    return session_check_tls(session, err) ? fail_in(err, "cannot connect") : 0;
}

struct mysql_session *session_connect(const struct db_settings *settings, enum db_role role,
                                      struct error *err)
{
    struct mysql_session *session = memory_zeroed(1, sizeof *session);
    session->base = db_session(settings, role);
    if (!connect_session(session, err))
        return session;
    session_close(&session->base);
    return NULL;
}

void session_close(struct db *db)
{
    struct mysql_session *session = (struct mysql_session *)db;
    mysql_close(session->mysql);
    free(session->base.name);
    free(session);
}

void session_cancel(struct mysql_session *session)
{
    struct error ignored;
    struct mysql_session *second = session_connect(session->base.settings, DB_READER, &ignored);
    if (!second)
        return;
    /* MySQL takes a parameter only in statements that read or write rows. */
    struct text sql = { 0 };
    text_format(&sql, "KILL QUERY %lu", mysql_thread_id(session->mysql));
    session_run(second, sql.bytes, &ignored);
    text_free(&sql);
    session_close(&second->base);
}

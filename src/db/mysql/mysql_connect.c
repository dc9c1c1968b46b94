/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/mysql/mysql_session.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

/* TLS with either client library.  MySQL's has a mode for each of ours.  MariaDB's has two
 * switches: one that encrypts if the server can, and says nothing if it cannot; and one that checks
 * certificate and name together, before anybody logs in. */

#define HANDSHAKE_FAILED 2026u
#define PLUGIN_FAILED 2061u

static const char *mode_name(const struct mysql_session *session)
{
    return db_tls_names[session->base.settings->tls_mode];
}

/* Whether the connection is a unix socket.  Without a host it is, unless the option file names one.
 */
static bool goes_by_socket(const struct db_settings *settings)
{
    if (!db_given(settings->host))
        return !db_given(settings->option_file);
    return !strcmp(settings->host, "localhost");
}

#if HAVE_DECL_MYSQL_OPT_SSL_MODE

static const char *library_objection(const struct db_settings *settings)
{
    (void)settings;
    return NULL;
}

static unsigned library_mode(const struct mysql_session *session)
{
    switch (session->base.settings->tls_mode) {
    case DB_TLS_OFF:
        return SSL_MODE_DISABLED;
    case DB_TLS_VERIFY_CA:
        return SSL_MODE_VERIFY_CA;
    case DB_TLS_VERIFY_FULL:
        return SSL_MODE_VERIFY_IDENTITY;
    case DB_TLS_DEFAULT:
    case DB_TLS_REQUIRED:
        break;
    }
    return SSL_MODE_REQUIRED;
}

static void set_mode(struct mysql_session *session)
{
    unsigned mode = library_mode(session);
    mysql_options(session->mysql, MYSQL_OPT_SSL_MODE, &mode);
}

static bool mode_was_kept(const struct mysql_session *session)
{
    unsigned mode = SSL_MODE_DISABLED;
    return !mysql_get_option(session->mysql, MYSQL_OPT_SSL_MODE, &mode) &&
           mode >= library_mode(session);
}

#else

static const char *library_objection(const struct db_settings *settings)
{
    if (settings->tls_mode == DB_TLS_VERIFY_CA)
        return "MariaDB's client library, which this build has, checks a certificate with its "
               "name or not at all: verify_full or required";
    /* From its release 3.4.2 on. */
    if (settings->tls_mode == DB_TLS_VERIFY_FULL && db_given(settings->host) &&
        (!strcmp(settings->host, "127.0.0.1") || !strcmp(settings->host, "::1")))
        return "MariaDB's client library, which this build has, does not check the name of a "
               "server at 127.0.0.1 or ::1";
    return NULL;
}

static void set_mode(struct mysql_session *session)
{
    mysql_flag encrypt = session->base.settings->tls_mode >= DB_TLS_REQUIRED;
    mysql_flag verify = session->base.settings->tls_mode == DB_TLS_VERIFY_FULL;
    mysql_options(session->mysql, MYSQL_OPT_SSL_ENFORCE, &encrypt);
    mysql_options(session->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}

static bool mode_was_kept(const struct mysql_session *session)
{
    mysql_flag verified = 0;
    return session->base.settings->tls_mode != DB_TLS_VERIFY_FULL ||
           (!mysql_get_option(session->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified) &&
            verified);
}

#endif

const char *session_tls_objection(const struct db_settings *settings)
{
    if (settings->tls_mode >= DB_TLS_REQUIRED && goes_by_socket(settings))
        return "a unix socket, which it is without a host or with 'localhost', needs no TLS";
    return library_objection(settings);
}

static int session_set_tls(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    if (settings->tls_mode == DB_TLS_DEFAULT)
        return 0;
    set_mode(session);
    if (!db_given(settings->tls_ca))
        return 0;
    if (access(settings->tls_ca, R_OK))
        return fail(err, ERROR_SETTINGS, "cannot read tls_ca '%s': %s", settings->tls_ca,
                    strerror(errno));
    mysql_options(session->mysql, MYSQL_OPT_SSL_CA, settings->tls_ca);
    return 0;
}

/* Whether the authorities are those of the settings, and no others. */
static bool authorities_were_kept(const struct mysql_session *session)
{
    const char *wanted = session->base.settings->tls_ca, *file = NULL, *directory = NULL;
    if (!db_given(wanted))
        return true;
    return !mysql_get_option(session->mysql, MYSQL_OPT_SSL_CA, &file) &&
           !mysql_get_option(session->mysql, MYSQL_OPT_SSL_CAPATH, &directory) && db_given(file) &&
           !strcmp(file, wanted) && !db_given(directory);
}

static int fail_unencrypted(const struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    const char *way = mysql_get_host_info(session->mysql);
    if (way && strstr(way, "UNIX socket"))
        return fail(err, ERROR_SETTINGS,
                    "%s: tls_mode = '%s', but the way is a unix socket, without TLS",
                    session->base.name, mode_name(session));
    bool file = db_given(settings->option_file);
    return fail(err, ERROR_SETTINGS, "%s: tls_mode = '%s', but the server offers no TLS%s%s%s",
                session->base.name, mode_name(session), file ? ", or option file '" : "",
                file ? settings->option_file : "", file ? "' turns it off" : "");
}

static int session_check_tls(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    bool encrypted = mysql_get_ssl_cipher(session->mysql) != NULL;
    if (settings->tls_mode == DB_TLS_DEFAULT)
        return 0;
    if (!encrypted && settings->tls_mode != DB_TLS_OFF)
        return fail_unencrypted(session, err);
    bool kept = settings->tls_mode == DB_TLS_OFF
                    ? !encrypted
                    : mode_was_kept(session) && authorities_were_kept(session);
    if (kept)
        return 0;
    bool file = db_given(settings->option_file);
    return fail(err, ERROR_SETTINGS, "%s: tls_mode = '%s', but %s%s%s says otherwise",
                session->base.name, mode_name(session), file ? "option file '" : "the environment",
                file ? settings->option_file : "", file ? "'" : "");
}

/* Whether it was the network that ended the handshake.  The libraries have one number for that and
 * for certificates that are not good; the first comes with the system's own number behind it. */
static bool network_failed(const char *message)
{
    size_t length = strlen(message);
    if (strstr(message, "eof") || strstr(message, "EOF"))
        return true;
    return length > 2 && message[length - 1] == ')' && isdigit((unsigned char)message[length - 2]);
}

/* MySQL's library says this of caching_sha2_password, MySQL's default. */
static bool password_needs_tls(const struct mysql_session *session)
{
    return session->last_error == PLUGIN_FAILED &&
           strstr(mysql_error(session->mysql), "requires secure connection");
}

static void session_judge_handshake(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    if (password_needs_tls(session)) {
        /* No privilege would help. */
        fail(err, ERROR_SETTINGS,
             "%s: %s (%u): with tls_mode = '%s' the password is not encrypted; 'required' and a "
             "server with TLS, or a unix socket, take it",
             session->base.name, mysql_error(session->mysql), session->last_error,
             mode_name(session));
        return;
    }
    if (session->last_error != HANDSHAKE_FAILED || network_failed(mysql_error(session->mysql)))
        return;
    struct text how = { 0 };
    text_format(&how, "with tls_mode = '%s'", mode_name(session));
    if (db_given(settings->tls_ca))
        text_format(&how, " and tls_ca = '%s'", settings->tls_ca);
    if (db_given(settings->option_file))
        text_format(&how, ", if option file '%s' leaves it so", settings->option_file);
    fail(err, ERROR_SETTINGS, "%s: %s (%u), %s", session->base.name, mysql_error(session->mysql),
         session->last_error, how.bytes);
    text_free(&how);
}

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

/* MySQL's library ends a nonblocking login by sending nothing once more.  If the server has rejected
 * the login by then and closed its end, that write fails, and the library reports one of these instead
 * of the server's reason: no error, a server that went away, or a lost connection. */
static bool lost_the_reason(unsigned number)
{
    return number == 2000 || number == 2006 || number == 2013;
}

/* Log in again, blocking, because a blocking login reads the server's reason.  Each read may take
 * until `until_ms`, the time at which the login must have ended, but at least a second. */
static int ask_for_the_reason(struct mysql_session *session, int64_t until_ms, struct error *err)
{
    int64_t left_ms = until_ms - clock_milliseconds();
    unsigned wait_s = left_ms > 1000 ? (unsigned)(left_ms / 1000) : 1;
    mysql_close(session->mysql);
    if (prepare_connection(session, err))
        return -1;
    mysql_options(session->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &wait_s);
    mysql_options(session->mysql, MYSQL_OPT_READ_TIMEOUT, &wait_s);
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
    return lost_the_reason(mysql_errno(mysql)) ? ask_for_the_reason(session, until_ms, err)
                                               : session_fail_connection(session, err);
}

static int mysql_connect_session(struct mysql_session *session, struct error *err)
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
    if (!mysql_connect_session(session, err))
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

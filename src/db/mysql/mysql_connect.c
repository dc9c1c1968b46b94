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

/*
 * TLS with either client library.  MySQL's library has a mode for each tls_mode.  MariaDB's library
 * has two switches.  The first requests encryption, but the library silently continues without
 * encryption if the server cannot provide it.  The second makes the library check the certificate
 * together with the host name, before the login.
 *
 * A library may fall back to weaker encryption, and the option file, which it reads last, may
 * override the settings.  Therefore session_check_tls() checks the session after it is connected.
 */

#define HANDSHAKE_FAILED 2026u
#define PLUGIN_FAILED 2061u

static const char *mode_name(const struct mysql_session *session)
{
    return db_tls_names[session->base.settings->tls_mode];
}

#if HAVE_DECL_MYSQL_OPT_SSL_MODE

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

/* Returns true if the library uses the CA file of the settings and no other CAs. */
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
                    "%s: tls_mode = '%s', but the connection is a unix socket, without TLS",
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
    return fail(err, ERROR_SETTINGS, "%s: tls_mode = '%s', but %s%s%s overrides it",
                session->base.name, mode_name(session), file ? "option file '" : "the environment",
                file ? settings->option_file : "", file ? "'" : "");
}

/*
 * Returns true if a network failure ended the handshake.  The libraries use the same error number
 * for a network failure and for an invalid certificate.  Only the message of a network failure
 * mentions the end of the data, or ends with the system's error number.
 */
static bool network_failed(const char *message)
{
    size_t length = strlen(message);
    if (strstr(message, "eof") || strstr(message, "EOF"))
        return true;
    return length > 2 && message[length - 1] == ')' && isdigit((unsigned char)message[length - 2]);
}

/*
 * Returns true if the login's plugin accepts a password only through an encrypted connection.
 * MySQL's library reports this for caching_sha2_password, MySQL's default plugin.
 */
static bool password_needs_tls(const struct mysql_session *session)
{
    return session->last_error == PLUGIN_FAILED &&
           strstr(mysql_error(session->mysql), "requires secure connection");
}

static void session_judge_handshake(struct mysql_session *session, struct error *err)
{
    const struct db_settings *settings = session->base.settings;
    if (password_needs_tls(session)) {
        /* Use neither ERROR_LOGIN nor ERROR_DENIED, because no other password or privilege would
         * help. */
        fail(err, ERROR_SETTINGS,
             "%s: %s (%u): tls_mode = '%s' would not encrypt the password; use 'required' with a "
             "server that has TLS, or use a unix socket",
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
        text_format(&how, ", unless option file '%s' overrides it", settings->option_file);
    fail(err, ERROR_SETTINGS, "%s: %s (%u), %s", session->base.name, mysql_error(session->mysql),
         session->last_error, how.bytes);
    text_free(&how);
}

static const char *or_null(const char *text)
{
    return db_given(text) ? text : NULL;
}

/*
 * Returns the user to log in as, or NULL if the option file names the user.  If the settings have
 * neither a user nor an option file, returns the user that this process runs as.  The library would
 * use the user who logged in at the terminal, who is a different user under sudo.
 */
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
    /* Otherwise a server could request any file that this process can read. */
    mysql_options(session->mysql, MYSQL_OPT_LOCAL_INFILE, &local_files);
    mysql_options(session->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");

    if (session_set_tls(session, err))
        return -1;

    /* Without this option the library reads no option files, not even the files in /etc. */
    if (!db_given(settings->option_file))
        return 0;
    /* The library silently treats a missing file as empty. */
    if (access(settings->option_file, R_OK))
        return fail(err, ERROR_SETTINGS, "cannot read option file '%s': %s", settings->option_file,
                    strerror(errno));
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_FILE, settings->option_file);
    mysql_options(session->mysql, MYSQL_READ_DEFAULT_GROUP, "fairmill");
    return 0;
}

/*
 * MariaDB's library applies the connect timeout to the whole login.  MySQL's library applies it
 * only to the connection, and waits for the reply to the login as long as for the reply to a
 * statement.  With MySQL's library, log in without blocking and limit the wait here.
 */
#ifdef HAVE_MYSQL_REAL_CONNECT_NONBLOCKING
#define GO_ON mysql_real_connect_nonblocking
#else
enum { NET_ASYNC_COMPLETE, NET_ASYNC_NOT_READY };
#define GO_ON(...) (mysql_real_connect(__VA_ARGS__) ? NET_ASYNC_COMPLETE : -1)
#endif

/*
 * The library reads the password from the option file or from MYSQL_PWD.  With FOUND_ROWS, an
 * UPDATE returns the number of rows that it found, as in other database systems.
 */
#define LOGIN(settings)                                                              \
    or_null((settings)->host), login(settings), NULL, or_null((settings)->database), \
        (settings)->port, or_null((settings)->socket), CLIENT_FOUND_ROWS

/*
 * Maximum time, in milliseconds, between two calls of the library.  The library does not show
 * whether it wants to write or still has unprocessed input, so a longer wait for the socket could
 * be useless.
 */
#define PAUSE_MS 10

/*
 * Returns true if the library lost the server's reason for rejecting a login.  MySQL's library ends
 * a nonblocking login with one more, empty write.  If the server has already rejected the login and
 * closed its end, that write fails.  The library then reports one of three errors instead of the
 * reason: unknown, server gone away, or connection lost.
 */
static bool lost_the_reason(unsigned number)
{
    return number == 2000 || number == 2006 || number == 2013;
}

/*
 * Logs in again with a blocking call, because such a call reads the server's reason.  Each read may
 * wait until `until_ms`, the end of the time for the login, and always for at least a second.
 */
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
    return fail(err, ERROR_GONE, "%s: the server ended the login", session->base.name);
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
    /* MySQL accepts parameters only in statements that read or write rows. */
    struct text sql = { 0 };
    text_format(&sql, "KILL QUERY %lu", mysql_thread_id(session->mysql));
    session_run(second, sql.bytes, &ignored);
    text_free(&sql);
    session_close(&second->base);
}

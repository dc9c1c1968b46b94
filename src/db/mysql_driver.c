/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "db/driver.h"
#include "util/memory.h"
#include "util/text.h"

/* The description of MariaDB and MySQL, which needs no client library. */

static char *mysql_driver_login_file(const struct db_settings *settings)
{
    return db_given(settings->option_file) ? memory_text(settings->option_file) : NULL;
}

/*
 * Returns true if the connection will use a unix socket.  The library uses one if the host is
 * 'localhost', or if the settings have no host and no option file that could name a host.
 */
static bool goes_by_socket(const struct db_settings *settings)
{
    if (!db_given(settings->host))
        return !db_given(settings->option_file);
    return !strcmp(settings->host, "localhost");
}

static const char *mysql_tls_objection(const struct db_settings *settings)
{
    if (settings->tls_mode >= DB_TLS_REQUIRED && goes_by_socket(settings))
        return "the connection is a unix socket, which needs no TLS; for TCP, set host to a name "
               "other than 'localhost'";
#if !HAVE_DECL_MYSQL_OPT_SSL_MODE
    if (settings->tls_mode == DB_TLS_VERIFY_CA)
        return "MariaDB's client library, which this build uses, cannot check a certificate "
               "without its name; use verify_full or required";
    /* Applies to release 3.4.2 and later of the library. */
    if (settings->tls_mode == DB_TLS_VERIFY_FULL && db_given(settings->host) &&
        (!strcmp(settings->host, "127.0.0.1") || !strcmp(settings->host, "::1")))
        return "MariaDB's client library, which this build uses, does not check the name of a "
               "server at 127.0.0.1 or ::1; use the server's host name";
#endif
    return NULL;
}

const char mysql_definer[] = " SQL SECURITY DEFINER ";

void mysql_add_defined(struct text *text, const char *sql, const char *definer)
{
    for (const char *at; (at = strstr(sql, mysql_definer)); sql = at + strlen(mysql_definer)) {
        text_add_bytes(text, sql, (size_t)(at - sql));
        text_add(text, definer);
    }
    text_add(text, sql);
}

/* Make the role the definer, because an administrator's account may be removed later. */
static char *mysql_fit(const char *sql)
{
    struct text fitted = { 0 };
    mysql_add_defined(&fitted, sql, " DEFINER = fairmill_owner SQL SECURITY DEFINER ");
    return fitted.bytes;
}

const struct db_driver mysql_driver = {
    .name = "mysql",
    .comes_back = true,
    .has_replicas = true,
    .scan_hint = "USE INDEX (PRIMARY)",
    .columns_query = "SELECT column_name FROM information_schema.columns "
                     "WHERE table_schema = DATABASE() AND table_name = ? "
                     "ORDER BY ordinal_position",
    .name_characters = 64,
    .name_is_basic = true,
    .identity_query = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir, DATABASE())",
    .login_query = "SELECT CURRENT_USER()",
    /* On by default since MariaDB 11.6.2. */
    .doubt_query = "SHOW GLOBAL VARIABLES WHERE \"Variable_name\" = 'innodb_snapshot_isolation' "
                   "AND \"Value\" = 'ON'",
    .privileges = &mysql_privileges,
    .login_file = mysql_driver_login_file,
    .tls_objection = mysql_tls_objection,
    .fit = mysql_fit,
};

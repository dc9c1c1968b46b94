/* SPDX-License-Identifier: MIT */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "db/driver.h"
#include "util/memory.h"
#include "util/text.h"

/* The description of PostgreSQL, which needs no client library. */

/*
 * Returns the file in which libpq looks for a service first.  If the service is not in it, libpq
 * looks in a directory that only libpq knows.
 */
static char *pgsql_driver_login_file(const struct db_settings *settings)
{
    const char *named = getenv("PGSERVICEFILE"), *home = getenv("HOME");
    if (!db_given(settings->service))
        return NULL;
    if (db_given(named))
        return memory_text(named);
    const struct passwd *own = db_given(home) ? NULL : getpwuid(geteuid());
    struct text path = { 0 };
    text_format(&path, "%s/.pg_service.conf", own ? own->pw_dir : db_given(home) ? home : "");
    return path.bytes;
}

/*
 * With a unix socket, libpq would silently ignore the TLS mode.  If a service is set, it may name a
 * host, so the connection may use TCP.
 */
static const char *pgsql_tls_objection(const struct db_settings *settings)
{
    bool by_socket =
        db_given(settings->host) ? *settings->host == '/' : !db_given(settings->service);
    return by_socket && settings->tls_mode >= DB_TLS_REQUIRED
               ? "the connection is a unix socket, which has no TLS; set host, or remove tls_mode"
               : NULL;
}

const struct db_driver pgsql_driver = {
    .name = "pgsql",
    .comes_back = true,
    .has_replicas = true,
    .scan_hint = "",
    .updates_in_place = true,
    /* Compares texts, because a conversion to type `name` would cut the argument to 63 bytes. */
    .columns_query = "SELECT a.attname FROM pg_catalog.pg_class c "
                     "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
                     "WHERE c.relname = CAST(? AS text) AND pg_catalog.pg_table_is_visible(c.oid) "
                     "AND a.attnum > 0 AND NOT a.attisdropped "
                     "AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') "
                     "ORDER BY a.attnum",
    .name_bytes = 63,
    /* A replica has the same identifier, and is treated as the same database. */
    .identity_query = "SELECT system_identifier || ' ' || current_database() "
                      "FROM pg_catalog.pg_control_system()",
    .login_query = "SELECT CAST(current_user AS text)",
    /* Up to PostgreSQL 14 every user may create tables in the schema `public`, so the server would
       not reject a login that lacks the owner's role. */
    .owner_query = "SELECT CAST(pg_catalog.pg_get_userbyid(relowner) AS text) "
                   "FROM pg_catalog.pg_class "
                   "WHERE oid = pg_catalog.to_regclass('fairmill_schema') "
                   "AND NOT pg_catalog.pg_has_role(relowner, 'MEMBER')",
    .privileges = &pgsql_privileges,
    .login_file = pgsql_driver_login_file,
    .tls_objection = pgsql_tls_objection,
};

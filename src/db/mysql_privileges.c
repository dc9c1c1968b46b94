/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "db/common.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Privileges in MariaDB and MySQL.  Comments that begin with M! are SQL for MariaDB, and comments
 * that begin with !80000 are SQL for MySQL.
 */

/*
 * In a GRANT on all tables of a database, the database's name is a pattern in which _ matches any
 * character and % any text.  Escape these two characters.
 */
static void add_all_tables(struct text *text, const char *database)
{
    text_add(text, "`");
    for (; *database; database++) {
        text_add(text, *database == '_' || *database == '%' ? "\\" : "");
        text_add_bytes(text, *database == '`' ? "``" : database, *database == '`' ? 2 : 1);
    }
    text_add(text, "`.*");
}

/* A server that does not resolve names identifies a client on the loopback interface by address. */
static void mysql_privilege_add_account(struct text *text, const struct db_settings *settings)
{
    const char *at = db_given(settings->login) ? strrchr(settings->login, '@') : NULL;
    if (at) { /* the login as the server reported it */
        char *user = memory_bytes(settings->login, (size_t)(at - settings->login));
        text_add_quoted(text, '\'', user);
        text_add(text, "@");
        text_add_quoted(text, '\'', at + 1);
        free(user);
        return;
    }
    bool by_address = db_given(settings->host) &&
                      (!strcmp(settings->host, "127.0.0.1") || !strcmp(settings->host, "::1"));
    text_add_quoted(text, '\'', db_given(settings->user) ? settings->user : "fairmill");
    text_format(text, "@'%s'",
                by_address             ? settings->host
                : db_is_here(settings) ? "localhost"
                                       : "%");
}

static void mysql_privilege_add_grant(struct text *text, const struct db_settings *settings,
                                      const char *privileges, const char *const *columns,
                                      const char *table)
{
    text_format(text, "GRANT %s", privileges);
    for (size_t i = 0; columns && columns[i]; i++) {
        text_add(text, i ? ", " : " (");
        text_add_quoted(text, '`', columns[i]);
    }
    text_add(text, columns ? ") ON " : " ON ");
    text_add_quoted(text, '`', settings->database);
    text_add(text, ".");
    text_add_quoted(text, '`', table);
    text_add(text, " TO ");
    mysql_privilege_add_account(text, settings);
}

/* A granted role has no effect until it is also a default role. */
static void mysql_privilege_add_role_grant(struct text *text, const struct db_settings *settings,
                                           const char *role)
{
    text_format(text, "GRANT %s TO ", role);
    mysql_privilege_add_account(text, settings);
    text_format(text, "; SET DEFAULT ROLE %s /*M! FOR */ /*!80000 TO */ ", role);
    mysql_privilege_add_account(text, settings);
}

/*
 * A login through the unix socket needs no password, so this SQL can create it.  The administrator
 * must create any other login.
 */
static void mysql_privilege_add_login(struct text *text, const struct db_settings *settings)
{
    struct text account = { 0 };
    mysql_privilege_add_account(&account, settings);
    if (db_logs_in_by_socket(settings))
        text_format(
            text,
            "/*M! CREATE USER IF NOT EXISTS %s IDENTIFIED VIA unix_socket */;\n"
            "-- If MySQL lacks the plugin: INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';\n"
            "/*!80000 CREATE USER IF NOT EXISTS %s IDENTIFIED WITH auth_socket */;\n",
            account.bytes, account.bytes);
    else
        text_format(text, "-- First: CREATE USER %s IDENTIFIED BY '...'%s\n", account.bytes,
                    settings->tls_mode >= DB_TLS_REQUIRED ? " REQUIRE SSL" : "");
    text_free(&account);
}

void mysql_add_monitor_grant(struct text *text, const struct db_settings *settings, bool mariadb)
{
    text_format(text, "GRANT %s ON *.* TO ", mariadb ? "SLAVE MONITOR" : "REPLICATION CLIENT");
    mysql_privilege_add_account(text, settings);
}

static void add_lag_grant(struct text *text, const struct db_settings *source)
{
    text_add(text, "/*M! ");
    mysql_add_monitor_grant(text, source, true);
    text_add(text, " */;\n/*!80000 ");
    mysql_add_monitor_grant(text, source, false);
    text_add(text, " */;\n");
}

static void mysql_privilege_add_role(struct text *text, const struct db_settings *results,
                                     const char *role, const char *privileges, const char *comment)
{
    text_format(text, "CREATE ROLE IF NOT EXISTS %s; -- %s\nGRANT %s ON ", role, comment,
                privileges);
    add_all_tables(text, results->database);
    text_format(text, " TO %s;\n", role);
}

/*
 * The owner's role must exist before the tables are created, because it is the definer of the
 * views.
 */
static void mysql_privilege_add_before_tables(struct text *text, const struct db_settings *results)
{
    struct text database = { 0 };
    text_add_quoted(&database, '`', results->database);
    text_format(text,
                "CREATE DATABASE IF NOT EXISTS %s DEFAULT CHARACTER SET utf8mb4 COLLATE "
                "utf8mb4_bin;\nUSE %s;\n"
                "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES');\n",
                database.bytes, database.bytes);
    text_free(&database);
    mysql_privilege_add_role(
        text, results, "fairmill_owner",
        "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW",
        "runs `fairmill init`");
}

/*
 * Grants the writer's privileges other than reading, table by table: a privilege on all tables of a
 * database cannot be revoked for one table.  An earlier release granted these privileges on the
 * whole database, so they are revoked there.  MariaDB accepts this REVOKE even if they were never
 * granted, because the role has SELECT on the database.  Without any privilege there, MariaDB would
 * fail with error 1141.
 */
static void add_writing(struct text *text, const struct db_settings *results,
                        const struct db_table *tables, size_t table_count)
{
    for (size_t i = 0; i < table_count; i++) {
        text_format(text, "GRANT INSERT%s ON ", tables[i].only_grows ? "" : ", UPDATE, DELETE");
        text_add_quoted(text, '`', results->database);
        text_add(text, ".");
        text_add_quoted(text, '`', tables[i].name);
        text_add(text, " TO fairmill_writer;\n");
    }
    text_add(text, "REVOKE /*!80030 IF EXISTS */ INSERT, UPDATE, DELETE ON ");
    add_all_tables(text, results->database);
    text_add(text, " FROM fairmill_writer;\n");
}

static void add_dashboard(struct text *text, const struct db_settings *results,
                          const char *const *nameless)
{
    text_add(text,
             "CREATE ROLE IF NOT EXISTS fairmill_dashboard; -- reads data without user names\n");
    for (size_t i = 0; nameless[i]; i++) {
        text_add(text, "GRANT SELECT ON ");
        text_add_quoted(text, '`', results->database);
        text_format(text, ".`%s` TO fairmill_dashboard;\n", nameless[i]);
    }
}

static void mysql_privilege_add_after_tables(struct text *text, const struct db_settings *results,
                                             const struct db_table *tables, size_t table_count,
                                             const char *const *nameless)
{
    text_add(text, "\n-- Roles of the results.\n");
    mysql_privilege_add_role(text, results, "fairmill_writer", "SELECT", "runs `fairmill run`");
    mysql_privilege_add_role(text, results, "fairmill_reader", "SELECT", "reads results");
    add_writing(text, results, tables, table_count);
    add_dashboard(text, results, nameless);
    mysql_privilege_add_login(text, results);
    mysql_privilege_add_role_grant(text, results, "fairmill_writer");
    text_add(text, ";\n");
}

const struct db_privileges mysql_privileges = {
    .add_grant = mysql_privilege_add_grant,
    .add_role_grant = mysql_privilege_add_role_grant,
    .add_before_tables = mysql_privilege_add_before_tables,
    .add_after_tables = mysql_privilege_add_after_tables,
    .add_before_grants = mysql_privilege_add_login,
    .add_lag_grant = add_lag_grant,
};
